// SPDX-License-Identifier: Apache-2.0

/// Types of the board switch.
///
/// A port has Channels = 4 * SwitchVcs channels in each direction: virtual network v and virtual channel c are channel
/// v * SwitchVcs + c. Every channel has its own flit count, so none can block another.
package gs_switch_pkg;
  import gossamer_pkg::*;

  localparam int unsigned SwitchVcs = 1 << SwitchVcBits;
  localparam int unsigned SwitchChannels = 4 * SwitchVcs;
  localparam int unsigned SwitchChannelW = $clog2(SwitchChannels);
  localparam int unsigned SwitchLengthW = $clog2(FabricMaxFlits + 1);
  localparam int unsigned SwitchPortW = 5;

  typedef logic [SwitchChannelW-1:0] channel_t;
  typedef logic [SwitchChannels-1:0] channels_t;
  typedef logic [3:0] networks_t;

  /// A bit for each virtual network, on its first virtual channel.
  function automatic channels_t spread(networks_t networks);
    automatic channels_t channels;
    channels = '0;
    for (int unsigned v = 0; v < 4; v++) channels[v*SwitchVcs] = networks[v];
    return channels;
  endfunction

  /// A bit for each virtual network, from its first virtual channel.
  function automatic networks_t gather(channels_t channels);
    automatic networks_t networks;
    networks = '0;
    for (int unsigned v = 0; v < 4; v++) networks[v] = channels[v*SwitchVcs];
    return networks;
  endfunction

  /// A packet that waits in an ingress
  typedef struct packed {
    /// no route to the destination: the packet is dropped
    logic                     unroutable;
    /// port and channel through which the packet leaves
    logic [SwitchPortW-1:0]   port;
    channel_t                 channel;
    /// number of flits, 1 or more
    logic [SwitchLengthW-1:0] flits;
    /// the packet belongs to a stream that is sent as a circuit (gs_circuit); more packets of the circuit follow
    logic                     circuit;
    logic                     more;
  } waiting_t;

  /// Route of a packet in the shared-datapath switch; it leaves in its own network
  typedef struct packed {
    logic                    unroutable;
    logic [SwitchPortW-1:0]  port;
    logic [SwitchVcBits-1:0] vc;
  } shared_route_t;

  /// Port and channel of a packet that is shown to the egresses
  typedef struct packed {
    logic [SwitchPortW-1:0] port;
    channel_t               channel;
  } shown_t;

  /// Whether a head flit's packet belongs to a circuit. Streams do not take part in idle detection; their flits use the
  /// low bit of `epoch` to mark a circuit, and `wave` to mark that more packets follow.
  function automatic logic is_circuit(vnet_e vnet, logic [2:0] endpoint, logic mark);
    return vnet == VnetRequest && endpoint == EndpointStream && mark;
  endfunction

  /// Ports that serve the board's own endpoints; ports of a kind are contiguous, starting at `first`
  typedef struct packed {
    logic [7:0] first;
    logic [7:0] count;
  } range_t;

  typedef struct packed {
    range_t mesh;
    range_t stream;
    range_t match;
    range_t link;
    range_t control;
  } home_t;
endpackage
