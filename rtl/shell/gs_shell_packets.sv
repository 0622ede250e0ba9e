// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Ring of packets from the role's streams, until the firmware has copied them to memory. It takes a word a cycle and
/// stops the role when it is full. A packet that exceeds half of the ring is cut there, which its length shows.
module gs_shell_packets #(
  /// logarithm of the ring's words of 32 bits
  parameter  int unsigned WordsLog2   = 10,
  /// logarithm of the packets that may wait
  parameter  int unsigned PacketsLog2 = 4
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // Words of a packet, all but the last with four bytes
  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic [31:0]          data_i,
  input  logic [2:0]           bytes_i,
  input  logic                 last_i,
  input  logic [7:0]           dest_i,
  // Read port of the ring; data in the next cycle
  input  logic                 read_valid_i,
  input  logic [WordsLog2-1:0] read_addr_i,
  output logic [31:0]          read_data_o,
  // Packets; out_ready_i releases one with its words
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output logic [WordsLog2-1:0] out_start_o,
  output logic [15:0]          out_bytes_o,
  output logic [7:0]           out_dest_o
);
  typedef logic [WordsLog2:0] ptr_t;
  typedef struct packed {
    ptr_t        start;
    ptr_t        stop;
    logic [15:0] bytes;
    logic [7:0]  dest;
  } packet_t;

  ptr_t        head_q, tail_q, used, length;
  ptr_t        start_q;
  logic        room, take, keep, push;
  logic [15:0] bytes_q;
  packet_t     out;
  assign used    = head_q - tail_q;
  assign length  = head_q - start_q;
  assign keep    = !length[WordsLog2-1] && !length[WordsLog2];
  assign ready_o = room && (!used[WordsLog2] || !keep);
  assign take    = valid_i && ready_o;
  assign push    = take && last_i;

  gs_ram_sdp #(
    .Width(32),
    .Depth(1 << WordsLog2),
    .Style("block")
  ) i_ring (
    .clk_i,
    .we_i   (take && keep),
    .wstrb_i(1'b1),
    .waddr_i(head_q[WordsLog2-1:0]),
    .wdata_i(data_i),
    .re_i   (read_valid_i),
    .raddr_i(read_addr_i),
    .rdata_o(read_data_o)
  );
  gs_fifo #(
    .data_t(packet_t),
    .Depth (1 << PacketsLog2)
  ) i_packets (
    .clk_i,
    .rst_ni,
    .in_valid_i (push),
    .in_ready_o (room),
    .in_data_i  (packet_t'{
      start: start_q, stop: head_q + ptr_t'(keep), bytes: bytes_q + (keep ? 16'(bytes_i) : 16'd0), dest: dest_i
    }),
    .out_valid_o,
    .out_ready_i,
    .out_data_o (out),
    .count_o    ()
  );
  assign out_start_o = out.start[WordsLog2-1:0];
  assign out_bytes_o = out.bytes;
  assign out_dest_o  = out.dest;

  always_ff @(posedge clk_i) begin
    if (take) begin
      if (keep) head_q <= head_q + 1'b1;
      bytes_q <= last_i ? '0 : bytes_q + (keep ? 16'(bytes_i) : 16'd0);
      if (last_i) start_q <= head_q + ptr_t'(keep);
    end
    if (out_valid_o && out_ready_i) tail_q <= out.stop;
    if (!rst_ni) begin
      head_q  <= '0;
      tail_q  <= '0;
      start_q <= '0;
      bytes_q <= '0;
    end
  end

  `GS_ASSERT_NOW(packet_is_not_read_while_it_is_written, !i_ring.collides)
endmodule
