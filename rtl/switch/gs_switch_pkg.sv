// SPDX-License-Identifier: Apache-2.0

/// Types of the board switch.
///
/// A port has Channels = 4 * SwitchVcs channels each way: virtual network v and virtual channel c are channel
/// v * SwitchVcs + c. Where every channel counts its own flits, none of them can hold up another.
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
    /// nobody has this address: the packet is dropped
    logic                     nobody;
    /// port and channel by which it leaves
    logic [SwitchPortW-1:0]   port;
    channel_t                 channel;
    /// flits, 1 or more
    logic [SwitchLengthW-1:0] flits;
    /// it is of a stream that goes as a circuit (gs_circuit), of which more follows
    logic                     circuit;
    logic                     more;
  } waiting_t;

  /// Where a packet would leave that is shown to the egresses
  typedef struct packed {
    logic [SwitchPortW-1:0] port;
    channel_t               channel;
  } shown_t;

  /// Whether a head flit's packet is of a circuit. Streams take no part in the detection of idleness: of them the low
  /// bit of `epoch` says this, and `wave` that more follows.
  function automatic logic is_circuit(vnet_e vnet, logic [2:0] endpoint, logic mark);
    return vnet == VnetRequest && endpoint == EndpointStream && mark;
  endfunction

  /// Which ports serve the board's own endpoints; ports of a kind follow each other from `first`
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
