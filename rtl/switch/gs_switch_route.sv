// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Route of a packet: from a table for other boards and for hosts, from the endpoint's kind on its own board. One
/// cycle.
///
/// The table has an entry (switch_entry) for each board, from 0 upwards, and for each host, from the end downwards. A
/// destination without a valid entry or a port is unroutable. An entry is replaced in one cycle.
module gs_switch_route
  import gs_noc_pkg::nearest_exit;
  import gossamer_pkg::*;
  import gs_switch_pkg::*;
#(
  /// ports of the switch
  parameter int unsigned Ports      = 4,
  /// log2 of the table's entries
  parameter int unsigned TableW     = 10,
  /// ports of the board's own endpoints
  parameter home_t       Home       = '0,
  /// log2 of the streaming ports that share one port of the switch
  parameter int unsigned StreamBits = 0
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [11:0]        board_i,
  // Table; while it is being cleared, no destination has a route
  input  logic               clearing_i,
  input  logic               table_we_i,
  input  logic [TableW-1:0]  table_index_i,
  input  switch_entry_t      table_entry_i,
  // Head flit of a packet; its route follows in the next cycle
  input  logic               valid_i,
  input  flit_t              flit_i,
  output logic               unroutable_o,
  output logic [SwitchPortW-1:0]  port_o,
  output logic [SwitchVcBits-1:0] vc_o
);
  if (Ports > 1 << SwitchPortW) begin : gen_illegal_ports
    $fatal(1, "gs_switch_route: Ports is %0d; it must be at most %0d", Ports, 1 << SwitchPortW);
  end

  // The board field, a host's number, and a stream's port have the same position in all kinds of addresses.
  address_thread_t dest;
  address_key_t key;
  logic [7:0] stream_port;
  assign dest = flit_i.dest;
  assign key = flit_i.dest;
  assign stream_port = 8'(9'(flit_i.dest[7:0]) >> StreamBits);

  logic to_host, fits, at_home, home_unroutable, by_table_q, fits_q, home_unroutable_q;
  logic [SwitchPortW-1:0] home_port, home_port_q;
  logic [SwitchVcBits-1:0] home_vc, home_vc_q;
  logic [TableW-1:0] index;
  switch_entry_t entry, table_entry, written_q;
  logic written_valid_q;

  assign to_host = dest.kind == EndpointHost;
  assign fits = dest.board >> TableW == '0;
  // Keys name a link, not a board.
  assign at_home = !to_host && (dest.kind == EndpointKey || dest.board == board_i);

  always_comb begin
    home_port   = '0;
    home_unroutable = 1'b0;
    home_vc     = '0;
    case (dest.kind)
      EndpointThread, EndpointTile, EndpointAccelerator: begin
        home_port   = port_of(Home.mesh.first, 8'(nearest_exit(dest.tile_x)));
        home_unroutable = Home.mesh.count == '0;
      end
      EndpointStream: begin
        home_port   = port_of(Home.stream.first, stream_port);
        home_unroutable = 32'(stream_port) + 1 > 32'(Home.stream.count);
      end
      EndpointMatch: begin
        home_port   = port_of(Home.match.first, '0);
        home_unroutable = Home.match.count == '0;
      end
      EndpointKey: begin
        // The board's own multicast router must have consumed its keys before the switch.
        home_port   = port_of(Home.link.first, 8'(key.link) - 8'd1);
        home_unroutable = key.link == '0 || 32'(key.link) > 32'(Home.link.count);
        home_vc     = key.vc[SwitchVcBits-1:0];
      end
      EndpointControl: begin
        home_port   = port_of(Home.control.first, '0);
        home_unroutable = Home.control.count == '0;
      end
      default: home_unroutable = 1'b1;
    endcase
  end

  function automatic logic [SwitchPortW-1:0] port_of(logic [7:0] first, logic [7:0] number);
    return SwitchPortW'(first + number);
  endfunction

  gs_ram_sdp #(
    .Width($bits(switch_entry_t)),
    .Depth(1 << TableW)
  ) u_table (
    .clk_i,
    .we_i   (table_we_i),
    .wstrb_i(1'b1),
    .waddr_i(table_index_i),
    .wdata_i(table_entry_i),
    .re_i   (valid_i),
    .raddr_i(index),
    .rdata_o(table_entry)
  );
  assign index = to_host ? ~dest.board[TableW-1:0] : dest.board[TableW-1:0];
  // The RAM does not define a read of the entry that is being written: the packet takes the new route.
  assign entry = written_valid_q ? written_q : table_entry;

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      written_q       <= table_entry_i;
      written_valid_q <= table_we_i && table_index_i == index;
      by_table_q    <= !at_home;
      fits_q        <= fits;
      home_unroutable_q <= home_unroutable;
      home_port_q   <= home_port;
      home_vc_q     <= home_vc;
    end
  end

  assign port_o   = by_table_q ? entry.port : home_port_q;
  assign vc_o     = by_table_q ? entry.vc[SwitchVcBits-1:0] : home_vc_q;
  assign unroutable_o = by_table_q ? clearing_i || !fits_q || !entry.valid || 32'(entry.port) >= Ports
                                   : home_unroutable_q;

  // The remaining fields of the flit and of the entry do not affect the route.
  logic unused;
  assign unused = ^{rst_ni, entry.vc, flit_i.kind, flit_i.last, flit_i.vnet, flit_i.job, flit_i.epoch, flit_i.wave,
                    flit_i.payload, dest.tile_y, dest.thread, dest.spare, key.kind, key.spare, key.vc};

  `GS_ASSERT_NOW(entry_that_is_read_while_it_is_written_is_forwarded, !u_table.undefined || written_valid_q)
endmodule
