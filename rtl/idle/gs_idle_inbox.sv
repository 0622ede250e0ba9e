// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Inbox of a node for idle-detection packets. Reports and answers are always accepted, so the control network never
/// waits for a node.
///
///     reports -> [ a slot per child: the last one counts ] -+-> [ packet ] -> node
///     answers, tree settings -> [ queue ] ------------------+
///
/// A node does not accept packets while it sends. A report supersedes the previous one of the same board
/// (gs_idle_verdict), so the last report of each child suffices. At most two answers are in flight, and a tree setting
/// (idle_tree) is accepted only while there is space for these. Answers have priority over reports: a report that is
/// two waves old would look like a new one.
module gs_idle_inbox
  import gossamer_pkg::*;
#(
  /// children of a node, at most, 2 to 8
  parameter int unsigned Children = 8
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  /// a packet: its first flit, and its second if it has two
  input  logic         valid_i,
  input  logic         two_i,
  input  logic [127:0] head_i,
  input  logic [127:0] words_i,
  /// a tree setting would be accepted; the packet was dropped, one cycle later
  output logic         tree_ready_o,
  output logic         dropped_o,
  // to the node
  output logic         out_valid_o,
  input  logic         out_ready_i,
  output flit_t        out_o
);
  localparam int unsigned Answers = 4;
  localparam int unsigned CountW = $clog2(Answers + 1);
  localparam int unsigned AnswerW = $clog2(Answers);
  localparam int unsigned SlotW = $clog2(Children);

  typedef struct packed {
    logic         two;
    logic [127:0] head;
    logic [127:0] words;
  } packet_t;

  packet_t in, answer, report, out_q;
  idle_report_t head;
  logic is_report, stores, pushes, full;
  assign in        = '{two: two_i, head: head_i, words: words_i};
  assign head      = head_i;
  assign is_report = head.op_code == ControlOpIdleReport;

  // ---- Answers and tree settings ----
  logic [CountW-1:0] count_q;
  logic [AnswerW-1:0] put_q, get_q;
  logic pops;
  assign full         = count_q == CountW'(Answers);
  assign tree_ready_o = count_q < CountW'(Answers - 2);
  assign pushes       = valid_i && !is_report && !full;
  gs_ram_sdp #(
    .Width  ($bits(packet_t)),
    .Depth  (Answers),
    .Latency(0),
    .Style  ("distributed")
  ) u_answers (
    .clk_i,
    .we_i   (pushes),
    .wstrb_i(1'b1),
    .waddr_i(put_q),
    .wdata_i(in),
    .re_i   (1'b1),
    .raddr_i(get_q),
    .rdata_o(answer)
  );

  // ---- Reports ----
  logic [Children-1:0] used_q, same, unused, slot, next;
  logic [SlotW-1:0] slot_at, next_at;
  logic [11:0] board_q[Children];
  logic pop_report;
  always_comb begin
    for (int unsigned i = 0; i < Children; i++) same[i] = used_q[i] && board_q[i] == head.board;
    unused  = ~used_q & (used_q + Children'(1));
    slot    = (same != '0) ? same : unused;
    slot_at = '0;
    for (int unsigned i = 0; i < Children; i++) if (slot[i]) slot_at |= SlotW'(i);
  end
  assign stores = valid_i && is_report && slot != '0;
  gs_arbiter #(.N(Children)) u_next (
    .clk_i,
    .rst_ni,
    .req_i    (used_q),
    .gnt_o    (next),
    .idx_o    (next_at),
    .advance_i(pop_report)
  );
  gs_ram_sdp #(
    .Width  ($bits(packet_t)),
    .Depth  (8),
    .Latency(0),
    .Style  ("distributed")
  ) u_reports (
    .clk_i,
    .we_i   (stores),
    .wstrb_i(1'b1),
    .waddr_i(3'(slot_at)),
    .wdata_i(in),
    .re_i   (1'b1),
    .raddr_i(3'(next_at)),
    .rdata_o(report)
  );

  // ---- To the node ----
  logic valid_q, second_q, sent, free;
  assign sent        = valid_q && out_ready_i;
  assign free        = !valid_q || (sent && out_o.last);
  assign pops        = free && count_q != '0;
  assign pop_report  = free && count_q == '0 && used_q != '0;
  assign out_valid_o = valid_q;
  always_comb begin
    out_o         = '{kind: FlitKindBody, vnet: VnetControl, default: '0};
    out_o.last    = !out_q.two || second_q;
    out_o.payload = second_q ? out_q.words : out_q.head;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q   <= '0;
      put_q     <= '0;
      get_q     <= '0;
      used_q    <= '0;
      valid_q   <= 1'b0;
      second_q  <= 1'b0;
      dropped_o <= 1'b0;
    end else begin
      count_q   <= count_q + CountW'(pushes) - CountW'(pops);
      if (pushes) put_q <= put_q + AnswerW'(1);
      if (pops) get_q <= get_q + AnswerW'(1);
      // A slot that is read and written in the same cycle keeps the new report.
      used_q    <= (pop_report ? used_q & ~next : used_q) | (stores ? slot : '0);
      if (free) valid_q <= pops || pop_report;
      second_q  <= free ? 1'b0 : second_q || sent;
      dropped_o <= valid_i && !pushes && !stores;
    end
    if (free) out_q <= (count_q != '0) ? answer : report;
    for (int unsigned i = 0; i < Children; i++) if (stores && slot[i]) board_q[i] <= head.board;
  end

  logic unused_head;
  assign unused_head = ^head;

  `GS_ASSERT_NOW(report_has_one_slot, (slot & (slot - Children'(1))) == '0)
  `GS_ASSERT_NOW(answers_are_never_dropped, !valid_i || head.op_code != ControlOpIdleAnswer || !full)
  `GS_ASSERT_HOLD(stalled_flits_are_stable, out_valid_o, out_ready_i, out_o)
endmodule
