// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// An accelerator's loads and stores: each accesses one line of memory, bypassing the caches.
///
/// An accelerator reads data that threads have flushed; threads read its stores if their cache holds no older copy of
/// the line. A store fetches the line, modifies it and writes it back; the response is sent when memory acknowledges
/// the write-back. Addresses are those of programs, without the scratchpad. An access to an unmapped address or a
/// misaligned one gets a response with flags[0] = 1, and is reported to the host: a header flit of the loader's layout
/// with op = fault, tag = the cause, status = address, and in `reply` the accelerator's address.
///
///     Idle --request--> Read --requested--> Collect --load: word, store: line--> Answer
///       |                                      +--store--> Write --line sent--> Settle --acknowledged--> Answer
///       +--fault--> Fault --reported--> Answer
module gs_acc_memory
  import gs_tile_pkg::*;
  import gossamer_pkg::*;
(
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  address_accelerator_t here_i,
  input  logic [31:0]          host_i,
  input  logic [4:0]           job_i,
  // at most one request in flight; its thread field is ignored
  input  logic                 request_valid_i,
  output logic                 request_ready_o,
  input  request_t             request_i,
  output logic                 answer_valid_o,
  output answer_t              answer_o,
  // memory; responses are always accepted
  output logic                 mem_req_valid_o,
  input  logic                 mem_req_ready_i,
  output mem_req_t             mem_req_o,
  input  logic                 mem_rsp_valid_i,
  input  mem_rsp_t             mem_rsp_i,
  // faults, to the host
  output logic                 fault_valid_o,
  input  logic                 fault_ready_i,
  output flit_t                fault_o
);
  localparam int unsigned Beats = CacheLineBytes / DramPortBytes;
  localparam int unsigned BeatW = (Beats > 1) ? $clog2(Beats) : 1;
  localparam int unsigned LogPort = $clog2(DramPortBytes);
  localparam int unsigned Words = DramPortBytes / 4;

  typedef enum logic [2:0] {Idle, Read, Collect, Write, Settle, Fault, Answer} state_e;
  state_e state_q, state_d;
  request_t req_q;
  logic [31:0] word_q;
  logic [BeatW-1:0] beat_q, beat_d, word_beat;
  logic [Beats-1:0][8*DramPortBytes-1:0] line_q;
  logic is_store, misaligned, bad, bad_q, in_beat;
  logic [8*DramPortBytes-1:0] merged;
  logic [3:0] strobe;
  logic [31:0] store_word, beat_word;
  logic [31:0] lane;

  assign request_ready_o = state_q == Idle;
  assign is_store        = req_q.op == XStore;
  assign misaligned      = (request_i.funct3[1:0] == 2'd1 && request_i.addr[0])
                        || (request_i.funct3[1:0] >= 2'd2 && request_i.addr[1:0] != '0);
  assign bad        = misaligned || !is_mapped(request_i.addr) || request_i.op[1];
  assign word_beat  = BeatW'((req_q.addr & 32'(CacheLineBytes - 1)) >> LogPort);
  assign in_beat    = word_beat == beat_q;
  assign lane       = (req_q.addr >> 2) & 32'(Words - 1);
  assign strobe     = gs_word_pkg::store_strobe(req_q.funct3[1:0], req_q.addr[1:0]);
  assign store_word = gs_word_pkg::store_data(req_q.data, req_q.funct3[1:0]);
  assign beat_word  = mem_rsp_i.data[32*lane+:32];

  always_comb begin
    merged = mem_rsp_i.data;
    for (int unsigned b = 0; b < 4; b++) begin
      if (is_store && in_beat && strobe[b]) merged[32*lane+8*b+:8] = store_word[8*b+:8];
    end
  end

  always_comb begin
    state_d = state_q;
    beat_d  = beat_q;
    unique case (state_q)
      Idle: begin
        beat_d = '0;
        if (request_valid_i) state_d = bad ? Fault : Read;
      end
      Read: if (mem_req_ready_i) state_d = Collect;
      Collect: if (mem_rsp_valid_i) begin
        beat_d = beat_q + BeatW'(1);
        if (mem_rsp_i.last) begin
          beat_d  = '0;
          state_d = is_store ? Write : Answer;
        end
      end
      Write: if (mem_req_ready_i) begin
        beat_d = beat_q + BeatW'(1);
        if (mem_req_o.last) state_d = Settle;
      end
      Settle: if (mem_rsp_valid_i) state_d = Answer;
      Fault: if (fault_ready_i) state_d = Answer;
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Idle;
    else state_q <= state_d;
    beat_q <= beat_d;
    if (state_q == Idle) begin
      req_q <= request_i;
      bad_q <= bad;
    end
    if (state_q == Collect && mem_rsp_valid_i) begin
      line_q[beat_q] <= merged;
      if (in_beat) word_q <= beat_word;
    end
  end

  assign mem_req_valid_o = state_q == Read || state_q == Write;
  assign mem_req_o       = '{
    write: state_q == Write, last: state_q == Read || beat_q == BeatW'(Beats - 1), space: is_sram(req_q.addr[31:30]),
    id: AcceleratorId, addr: physical(req_q.addr) & ~32'(CacheLineBytes - 1), data: line_q[beat_q]
  };

  assign answer_valid_o = state_q == Answer;
  assign answer_o       = '{
    thread: '0, flags: 5'(bad_q),
    data: (bad_q || is_store) ? 32'd0 : gs_word_pkg::load_value(word_q, req_q.funct3, req_q.addr[1:0])
  };

  // A fault report is a packet of one flit.
  logic misaligned_q;
  always_ff @(posedge clk_i) if (state_q == Idle) misaligned_q <= misaligned;
  assign fault_valid_o = state_q == Fault;
  always_comb begin
    automatic load_header_t header;
    header = '{reply: here_i, address: req_q.addr, status: RejectionAddress, op: LoadOpFault, default: '0};
    header.tag = is_store ? (misaligned_q ? 8'(TrapStoreMisaligned) : 8'(TrapStoreFault))
                          : (misaligned_q ? 8'(TrapLoadMisaligned) : 8'(TrapLoadFault));
    fault_o = '{kind: FlitKindHeader, last: 1'b1, vnet: VnetReply, job: job_i, epoch: '0, wave: '0, dest: host_i,
                payload: header};
  end

  logic unused;
  assign unused = ^{mem_rsp_i.id, mem_rsp_i.ack, req_q.thread};

  `GS_ASSERT_NOW(response_only_after_a_request, !mem_rsp_valid_i || state_q == Collect || state_q == Settle)
endmodule
