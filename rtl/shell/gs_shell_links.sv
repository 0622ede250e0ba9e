// SPDX-License-Identifier: Apache-2.0

/// Virtual links of the role: its frames to and from other boards, in link frames over the shell's Ethernet port
/// (docs/hardware/shell.md, "Links"). The firmware binds links; all frames are handled here.
///
/// The table has four words for each link: number of the link at the peer (upper half) and bytes 0 and 1 of the peer's
/// address; bytes 2 to 5; identity, upper word; lower word. The firmware changes the words of a link only while it is
/// not bound and `reads_table_o` is 0.
module gs_shell_links #(
  /// virtual links, 1 to 4
  parameter  int unsigned Links     = 4,
  /// logarithm of the ring's words
  parameter  int unsigned WordsLog2 = 12,
  /// logarithm of a place's words
  parameter  int unsigned PlaceLog2 = 9
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic [47:0]          mac_i,
  input  logic [15:0]          type_i,
  input  logic                 run_i,
  // The firmware's settings
  input  logic                 bound_set_i,
  input  logic [Links-1:0]     bound_i,
  input  logic                 table_set_i,
  input  logic [3:0]           table_at_i,
  input  logic [31:0]          table_i,
  output logic                 reads_table_o,
  /// counts since the reset: frames sent; received from others than the peer; late; with malformed pieces
  output logic [3:0][31:0]     counts_o,
  // Received link frames (gs_shell_fast)
  input  logic                 frame_i,
  input  logic [WordsLog2-1:0] start_i,
  input  logic [15:0]          bytes_i,
  output logic                 done_o,
  output logic                 read_valid_o,
  input  logic                 read_ready_i,
  output logic [WordsLog2-1:0] read_addr_o,
  input  logic [31:0]          read_data_i,
  // To the role
  output logic                 valid_o,
  output logic [7:0]           data_o,
  output logic                 last_o,
  output logic                 error_o,
  output logic [1:0]           dest_o,
  // From the role
  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic [7:0]           data_i,
  input  logic                 last_i,
  input  logic [1:0]           dest_i,
  // Place of the next frame to send
  output logic                 claim_o,
  input  logic                 grant_i,
  output logic                 taken_o,
  output logic                 write_o,
  input  logic                 ready_i,
  output logic [PlaceLog2-1:0] addr_o,
  output logic [31:0]          word_o,
  output logic                 send_o,
  output logic [15:0]          bytes_o
);
  if (Links < 1 || Links > 4) begin : gen_illegal_links
    $fatal(1, "gs_shell_links: Links is %0d; it must be 1 to 4", Links);
  end

  logic [Links-1:0] bound_q, bind_q;
  always_ff @(posedge clk_i) begin
    bind_q <= bound_set_i ? bound_i & ~bound_q : '0;
    if (bound_set_i) bound_q <= bound_i;
    if (!rst_ni) bound_q <= '0;
  end

  logic [1:0][3:0]  table_addr;
  logic [1:0][31:0] table_data;
  for (genvar i = 0; i < 2; i++) begin : gen_table
    gs_ram_sdp #(
      .Width  (32),
      .Depth  (16),
      .Latency(0),
      .Style  ("distributed")
    ) i_table (
      .clk_i,
      .we_i   (table_set_i),
      .wstrb_i(1'b1),
      .waddr_i(table_at_i),
      .wdata_i(table_i),
      .re_i   (1'b1),
      .raddr_i(table_addr[i]),
      .rdata_o(table_data[i])
    );
  end

  logic [3:0] events;
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 4; i++) counts_o[i] <= rst_ni ? counts_o[i] + 32'(events[i]) : '0;
  end
  assign events[0] = send_o;

  gs_shell_links_rx #(
    .Links    (Links),
    .WordsLog2(WordsLog2)
  ) i_rx (
    .clk_i,
    .rst_ni,
    .mac_i,
    .run_i,
    .bound_i     (bound_q),
    .bind_i      (bind_q),
    .table_addr_o(table_addr[0]),
    .table_data_i(table_data[0]),
    .frame_i, .start_i, .bytes_i, .done_o,
    .read_valid_o, .read_ready_i, .read_addr_o, .read_data_i,
    .valid_o, .data_o, .last_o, .error_o, .dest_o,
    .wrong_peer_o(events[1]),
    .late_o      (events[2]),
    .malformed_o (events[3])
  );

  gs_shell_links_tx #(
    .Links    (Links),
    .PlaceLog2(PlaceLog2)
  ) i_tx (
    .clk_i,
    .rst_ni,
    .mac_i,
    .type_i,
    .run_i,
    .bound_i     (bound_q),
    .bind_i      (bind_q),
    .table_addr_o(table_addr[1]),
    .table_data_i(table_data[1]),
    .reads_table_o,
    .valid_i, .ready_o, .data_i, .last_i, .dest_i,
    .claim_o, .grant_i, .taken_o, .write_o, .ready_i, .addr_o,
    .data_o      (word_o),
    .send_o, .bytes_o
  );
endmodule
