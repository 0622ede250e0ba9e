// SPDX-License-Identifier: Apache-2.0

/// Example of an accelerator: adds up words of memory and sends the sum to the thread named in the request.
///
/// An accelerator has an input and an output for flits, and a request port to the tile's memory (gs_acc_memory; at most
/// one request in flight, one response for each). This one uses all three.
///
///     request, one flit:   word 0  address of the first word
///                          word 1  number of words
///                          word 2  address of the thread that receives the sum
///                          word 3  any value: returned in the answer
///     answer, one flit:    word 0  sum, modulo 2^32
///                          word 1  number of words
///                          word 2  0, or 1 if a word could not be read: the sum is that of the words before it
///                          word 3  the request's word 3
///
/// The next request is accepted when the answer has been sent. Addresses are those of programs.
module gs_acc_sum
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic     clk_i,
  input  logic     rst_ni,
  input  logic     in_valid_i,
  output logic     in_ready_o,
  input  flit_t    in_i,
  output logic     out_valid_o,
  input  logic     out_ready_i,
  output flit_t    out_o,
  output logic     request_valid_o,
  input  logic     request_ready_i,
  output request_t request_o,
  input  logic     answer_valid_i,
  input  answer_t  answer_i,
  /// a request is in progress: an answer will be sent
  output logic     busy_o
);
  typedef enum logic [1:0] {Idle, Ask, Wait, Send} state_e;
  state_e state_q, state_d;
  logic first_q, bad_q;
  logic [31:0] address_q, left_q, count_q, reply_q, mark_q, sum_q;
  logic begins, loads;

  assign in_ready_o      = state_q == Idle;
  // This accelerator ignores further flits of a longer message.
  assign begins          = in_valid_i && in_ready_o && first_q && in_i.kind == FlitKindBody;
  assign loads           = state_q == Wait && answer_valid_i;
  assign request_valid_o = state_q == Ask;
  assign request_o       = '{op: XLoad, funct3: 3'b010, addr: address_q, default: '0};
  assign out_valid_o     = state_q == Send;
  // The switch sets virtual network, job and epoch.
  assign out_o           = '{
    kind: FlitKindBody, last: 1'b1, vnet: VnetMailbox, job: '0, epoch: '0, wave: '0,
    dest: gs_address_pkg::gs_wire_address(reply_q, Log2ThreadsPerTile, Log2MeshWidth, Log2MeshHeight),
    payload: {mark_q, 31'd0, bad_q, count_q, sum_q}
  };
  assign busy_o          = state_q != Idle;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: if (begins) state_d = (in_i.payload[63:32] == '0) ? Send : Ask;
      Ask: if (request_ready_i) state_d = Wait;
      Wait: if (answer_valid_i) state_d = (left_q == 32'd1 || answer_i.flags[0]) ? Send : Ask;
      Send: if (out_ready_i) state_d = Idle;
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      first_q <= 1'b1;
    end else begin
      state_q <= state_d;
      if (in_valid_i && in_ready_o) first_q <= in_i.last;
    end
    if (begins) begin
      {mark_q, reply_q, count_q, address_q} <= in_i.payload;
      left_q <= in_i.payload[63:32];
      sum_q  <= '0;
      bad_q  <= 1'b0;
    end else if (loads) begin
      address_q <= address_q + 32'd4;
      left_q    <= left_q - 32'd1;
      sum_q     <= sum_q + answer_i.data;
      bad_q     <= answer_i.flags[0];
    end
  end

  logic unused;
  assign unused = ^{in_i.vnet, in_i.dest, in_i.job, in_i.epoch, in_i.wave, answer_i.thread, answer_i.flags};
endmodule
