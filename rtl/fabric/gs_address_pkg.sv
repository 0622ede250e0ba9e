// SPDX-License-Identifier: Apache-2.0

/// Addresses: their form in programs, their form on the wire, and the virtual network of each kind.
///
///     on the wire (address_*)      kind[3] spare[3] board[12] tile_y[4] tile_x[4] thread[6]
///     in a program, as Tinsel's    kind[3] 0        board[12] tile_y tile_x thread, as wide as the configuration needs
///
/// Thread, tile and accelerator addresses are packed without gaps in a program, so the thread numbers of a board are
/// consecutive. All other kinds have the same form in both. With constant widths the conversion is wiring.
package gs_address_pkg;
  import gossamer_pkg::*;

  /// A tile's knowledge of the cluster: whether boards have multicast routers, which accept messages by key; the number
  /// of boards and of hosts, which are numbered from 0.
  typedef struct packed {
    logic        routers;
    logic [12:0] boards;
    logic [12:0] hosts;
  } cluster_t;

  /// Kinds whose address names a tile
  function automatic logic names_tile(endpoint_e kind);
    return kind inside {EndpointThread, EndpointTile, EndpointAccelerator};
  endfunction

  /// Whether a host may send a packet of this kind in this network to this kind of endpoint. Receivers count exactly
  /// the legal packets that are no headers. A header to a mailbox or to an accelerator would count as received, and all
  /// other illegal packets never would, so idle detection would never find as many receipts as messages.
  function automatic logic host_may_send(flit_kind_e kind, vnet_e vnet, endpoint_e dest);
    if (kind == FlitKindHeader) begin
      return !(vnet == VnetMailbox && names_tile(dest)) && !(vnet == VnetRequest && dest == EndpointAccelerator);
    end
    unique case (vnet)
      VnetMailbox: return dest inside {EndpointThread, EndpointTile, EndpointKey}
                       && (dest == EndpointKey) == (kind == FlitKindKey);
      VnetRequest: return dest == EndpointAccelerator;
      VnetReply:   return dest == EndpointHost;
      default:     return 1'b1;
    endcase
  endfunction

  /// Wire form of a program's address. `spare` is not 0 if bits above the board are set.
  function automatic logic [31:0] gs_wire_address(
      logic [31:0] address, int unsigned thread_bits, int unsigned x_bits, int unsigned y_bits);
    automatic address_thread_t wire_address;
    automatic logic [28:0] rest;
    wire_address      = address;
    if (names_tile(wire_address.kind)) begin
      rest = address[28:0];
      wire_address.thread = 6'(rest & ((29'd1 << thread_bits) - 29'd1));
      rest = rest >> thread_bits;
      wire_address.tile_x = 4'(rest & ((29'd1 << x_bits) - 29'd1));
      rest = rest >> x_bits;
      wire_address.tile_y = 4'(rest & ((29'd1 << y_bits) - 29'd1));
      rest = rest >> y_bits;
      wire_address.board = rest[11:0];
      wire_address.spare = {2'b00, rest[28:12] != '0};
    end
    return wire_address;
  endfunction

  /// Program form of a wire address.
  function automatic logic [31:0] gs_program_address(
      address_thread_t wire_address, int unsigned thread_bits, int unsigned x_bits, int unsigned y_bits);
    automatic logic [28:0] rest;
    if (!names_tile(wire_address.kind)) return wire_address;
    rest = 29'(wire_address.board);
    rest = rest << y_bits | 29'(wire_address.tile_y);
    rest = rest << x_bits | 29'(wire_address.tile_x);
    rest = rest << thread_bits | 29'(wire_address.thread);
    return {wire_address.kind, rest};
  endfunction

  /// The virtual network of messages to a kind of endpoint.
  function automatic vnet_e vnet_of(endpoint_e kind);
    case (kind)
      EndpointAccelerator, EndpointStream, EndpointMatch: return VnetRequest;
      EndpointHost:                                       return VnetReply;
      EndpointControl:                                    return VnetControl;
      default:                                            return VnetMailbox;
    endcase
  endfunction
endpackage
