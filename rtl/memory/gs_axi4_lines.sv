// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Bridge from AXI4 with 64 bits, as the Ethernet shell has it, to a memory stream of lines in another clock.
///
///     AW, W ->[ a line is gathered ]--+->[ requests ]-> stream     clk_i | mem_clk_i
///     AR ---->[ its lines ]-----------+
///     B <--[ writes of the line ]<--- acknowledgements --+
///     R <--[ two words a beat ]<----- words -------------+--[ responses ]<- stream
///
/// A write is one beat. Writes to one line are gathered until it is full, a write to another line comes, or `Linger`
/// cycles pass; each gets its response when the memory has acknowledged the line, so whoever reads after it sees it.
/// A read burst crosses lines freely; one is served at a time. Both sides are in reset together, as gs_fifo_async
/// requires.
module gs_axi4_lines #(
  /// bytes of a line, and of a beat of the stream
  parameter int unsigned LineBytes = 32,
  parameter int unsigned PortBytes = 4,
  /// bits of an AXI address that select a byte of the memory, and the address of the first one in the stream
  parameter int unsigned AddrW     = 22,
  parameter logic [31:0] Base      = '0,
  parameter int unsigned Linger    = 8,
  /// writes without a response, at most
  parameter int unsigned Writes    = 16,
  /// payloads: GS_MEM_TYPES(PortBytes, any, 32); all requests have the identifier 0
  parameter type         mem_req_t = logic,
  parameter type         mem_rsp_t = logic
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 aw_valid_i,
  output logic                 aw_ready_o,
  input  logic [31:0]          aw_addr_i,
  input  logic                 w_valid_i,
  output logic                 w_ready_o,
  input  logic [63:0]          w_data_i,
  input  logic [7:0]           w_strb_i,
  output logic                 b_valid_o,
  input  logic                 ar_valid_i,
  output logic                 ar_ready_o,
  input  logic [31:0]          ar_addr_i,
  /// beats less one
  input  logic [7:0]           ar_len_i,
  output logic                 r_valid_o,
  input  logic                 r_ready_i,
  output logic [63:0]          r_data_o,
  // Stream of lines, with the bytes of a beat to be written
  input  logic                 mem_clk_i,
  input  logic                 mem_rst_ni,
  output logic                 req_valid_o,
  input  logic                 req_ready_i,
  output mem_req_t             req_o,
  output logic [PortBytes-1:0] req_strb_o,
  input  logic                 rsp_valid_i,
  output logic                 rsp_ready_o,
  input  mem_rsp_t             rsp_i
);
  if (PortBytes != 4 || LineBytes < 16 || (LineBytes & (LineBytes - 1)) != 0) begin : gen_illegal_line
    $fatal(1, "gs_axi4_lines: beats of %0d bytes (4), lines of %0d (a power of two, 16 or more)", PortBytes, LineBytes);
  end

  localparam int unsigned Beats = LineBytes / 8;
  localparam int unsigned Words = LineBytes / PortBytes;
  localparam int unsigned WordW = $clog2(Words);
  localparam int unsigned LineW = $clog2(LineBytes);
  localparam int unsigned CountW = $clog2(Writes + 1);
  typedef logic [AddrW-LineW-1:0] line_t;
  typedef logic [CountW-1:0] count_t;
  typedef struct packed {
    logic                   write;
    logic                   last;
    line_t                  line;
    logic [PortBytes-1:0]   strb;
    logic [8*PortBytes-1:0] data;
  } request_t;
  typedef struct packed {
    logic                   ack;
    logic                   last;
    logic [8*PortBytes-1:0] data;
  } response_t;
  typedef enum logic [1:0] {Gather, Send, Ask} state_e;

  // ----------------------------------------------------------------- writes
  state_e state_q, state_d;
  logic [Beats-1:0][63:0] data_q;
  logic [Beats-1:0][7:0] strb_q;
  line_t line_q, line;
  count_t gathered_q;
  logic [$clog2(Linger+1)-1:0] idle_q;
  logic [WordW-1:0] at_q;
  logic [WordW-2:0] beat;
  logic offered, takes, same, full, flushes, asks, sent, counts_ready;
  request_t request;
  logic request_ready, request_valid;
  assign line    = aw_addr_i[AddrW-1:LineW];
  assign beat    = aw_addr_i[LineW-1:3];
  assign offered = aw_valid_i && w_valid_i;
  assign same    = gathered_q == '0 || line == line_q;
  assign full    = strb_q == '1 || 32'(gathered_q) == Writes;
  assign takes   = state_q == Gather && offered && same && !full;
  assign flushes = state_q == Gather && gathered_q != '0 && counts_ready && !takes && (full || 32'(idle_q) == Linger
                   || (offered && !same));
  assign aw_ready_o = takes;
  assign w_ready_o  = takes;

  // ------------------------------------------------------------------ reads
  logic reading_q;
  line_t next_q;
  logic [8:0] left_q;        // beats that have not been delivered
  logic [6:0] lines_q;       // lines that have not been requested
  logic [$clog2(Beats)-1:0] skip_q;  // beats before the first one
  logic [8:0] span;
  assign span       = 9'(ar_len_i) + 9'(ar_addr_i[LineW-1:3]);
  assign ar_ready_o = state_q == Gather && !reading_q && !flushes;
  assign asks       = ar_valid_i && ar_ready_o;

  assign sent = request_valid && request_ready;
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Gather: if (flushes) state_d = Send;
      else if (asks) state_d = Ask;
      Send: if (sent && request.last) state_d = Gather;
      default: if (sent && lines_q == 7'd1) state_d = Gather;
    endcase
  end
  assign request_valid = state_q != Gather;
  assign request = (state_q == Send)
      ? '{write: 1'b1, last: at_q == WordW'(Words - 1), line: line_q, strb: strb_q[at_q[WordW-1:1]][4*at_q[0]+:4],
          data: data_q[at_q[WordW-1:1]][32*at_q[0]+:32]}
      : '{write: 1'b0, last: 1'b1, line: next_q, default: '0};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q    <= Gather;
      gathered_q <= '0;
      strb_q     <= '0;
      at_q       <= '0;
    end else begin
      state_q <= state_d;
      if (takes) begin
        gathered_q   <= gathered_q + count_t'(1);
        strb_q[beat] <= strb_q[beat] | w_strb_i;
      end
      if (state_q == Send && sent) begin
        at_q <= at_q + WordW'(1);
        if (request.last) begin
          gathered_q <= '0;
          strb_q     <= '0;
        end
      end
    end
    if (takes) begin
      line_q <= line;
      for (int unsigned b = 0; b < 8; b++) if (w_strb_i[b]) data_q[beat][8*b+:8] <= w_data_i[8*b+:8];
    end
    if (takes || gathered_q == '0) idle_q <= '0;
    else if (32'(idle_q) != Linger) idle_q <= idle_q + ($bits(idle_q))'(1);
    if (asks) begin
      next_q  <= ar_addr_i[AddrW-1:LineW];
      lines_q <= 7'(span >> $clog2(Beats)) + 7'd1;
    end else if (state_q == Ask && sent) begin
      next_q  <= next_q + line_t'(1);
      lines_q <= lines_q - 7'd1;
    end
  end

  // ------------------------------------------------------------- responses
  response_t response;
  logic response_valid, response_take, delivers, odd, r_free, counts_valid;
  logic [WordW-1:0] word_q;
  logic [8:0] owed_q;
  logic [6:0] await_q;       // lines that have not arrived
  logic [31:0] low_q;
  count_t acknowledged;
  gs_fifo #(.data_t(count_t), .Depth(4)) u_counts (
    .clk_i,
    .rst_ni,
    .in_valid_i (flushes),
    .in_ready_o (counts_ready),
    .in_data_i  (gathered_q),
    .out_valid_o(counts_valid),
    .out_ready_i(response_valid && response.ack),
    .out_data_o (acknowledged),
    .count_o    ()
  );
  assign b_valid_o = owed_q != '0;

  // Two words are a beat; beats before the first and after the last one of the burst are dropped.
  assign odd      = word_q[0];
  assign delivers = odd && skip_q == '0 && left_q != '0;
  assign r_free   = !r_valid_o || r_ready_i;
  assign response_take = response.ack || !delivers || r_free;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      owed_q    <= '0;
      reading_q <= 1'b0;
      r_valid_o <= 1'b0;
      word_q    <= '0;
      left_q    <= '0;
    end else begin
      owed_q <= owed_q + ((response_valid && response.ack) ? 9'(acknowledged) : '0) - 9'(b_valid_o);
      if (r_ready_i) r_valid_o <= 1'b0;
      if (asks) begin
        reading_q <= 1'b1;
        left_q    <= 9'(ar_len_i) + 9'd1;
        skip_q    <= ($bits(skip_q))'(ar_addr_i[LineW-1:3]);
        await_q   <= 7'(span >> $clog2(Beats)) + 7'd1;
      end
      if (response_valid && !response.ack && response_take) begin
        word_q <= word_q + WordW'(1);
        if (odd && skip_q != '0) skip_q <= skip_q - ($bits(skip_q))'(1);
        if (delivers) begin
          r_valid_o <= 1'b1;
          left_q    <= left_q - 9'd1;
        end
        if (response.last) begin
          await_q <= await_q - 7'd1;
          if (await_q == 7'd1) reading_q <= 1'b0;
        end
      end
    end
    if (response_valid && !response.ack && response_take) begin
      if (!odd) low_q <= response.data;
      if (delivers) r_data_o <= {response.data, low_q};
    end
  end

  // -------------------------------------------------------------- crossings
  request_t crossed;
  gs_fifo_async #(.data_t(request_t), .DepthLog2(4)) u_requests (
    .wclk_i     (clk_i),
    .wrst_ni    (rst_ni),
    .in_valid_i (request_valid),
    .in_ready_o (request_ready),
    .in_data_i  (request),
    .rclk_i     (mem_clk_i),
    .rrst_ni    (mem_rst_ni),
    .out_valid_o(req_valid_o),
    .out_ready_i(req_ready_i),
    .out_data_o (crossed)
  );
  always_comb begin
    req_o       = '0;
    req_o.write = crossed.write;
    req_o.last  = crossed.last;
    req_o.addr  = Base | 32'({crossed.line, LineW'(0)});
    req_o.data  = crossed.data;
  end
  assign req_strb_o = crossed.strb;
  gs_fifo_async #(.data_t(response_t), .DepthLog2(4)) u_responses (
    .wclk_i     (mem_clk_i),
    .wrst_ni    (mem_rst_ni),
    .in_valid_i (rsp_valid_i),
    .in_ready_o (rsp_ready_o),
    .in_data_i  ('{ack: rsp_i.ack, last: rsp_i.last, data: rsp_i.data}),
    .rclk_i     (clk_i),
    .rrst_ni    (rst_ni),
    .out_valid_o(response_valid),
    .out_ready_i(response_take),
    .out_data_o (response)
  );

  logic unused;
  assign unused = ^{aw_addr_i, ar_addr_i, rsp_i, counts_valid};

  `GS_ASSERT_NOW(an_acknowledged_line_was_written, !(response_valid && response.ack) || counts_valid)
  `GS_ASSERT_NOW(words_arrive_for_a_read, !(response_valid && !response.ack) || reading_q)
endmodule
