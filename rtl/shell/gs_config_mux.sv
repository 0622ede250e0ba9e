// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Multiplexer of the configuration port: several sources of images, one port. Source 0 is the local port (JTAG, or the
/// loader of a flash); the others, such as the Ethernet shell, are granted only while the sources below them are idle.
///
///     request_i  __/""""""""""""""\____     a source holds its request until its end is reported, or gives up
///     grant_o    ____/"""""""""""\_____     until the end of the image, or until the request falls
///     words      ______< w w w >_______     the last word has last_i
///     done_o     ______________/"\_____     once for each image, error_o with it; to this source alone
///
/// Between two grants the port's request is low until the port has lowered its grant. A source that gives up after its
/// first word gets an error: that of the port, or of this block if the port lowers its grant without one. After an end,
/// a source is granted again only when its request has been low.
module gs_config_mux #(
  /// sources, 2 or more
  parameter int unsigned Sources = 2
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  // Sources
  input  logic [Sources-1:0]       request_i,
  output logic [Sources-1:0]       grant_o,
  input  logic [Sources-1:0]       valid_i,
  output logic [Sources-1:0]       ready_o,
  input  logic [Sources-1:0][31:0] data_i,
  input  logic [Sources-1:0][2:0]  bytes_i,
  input  logic [Sources-1:0]       last_i,
  output logic [Sources-1:0]       done_o,
  output logic [Sources-1:0]       error_o,
  // The port: it holds its grant until the request falls; it discards an image whose end it has not reported then
  output logic                     port_request_o,
  input  logic                     port_grant_i,
  output logic                     port_valid_o,
  input  logic                     port_ready_i,
  output logic [31:0]              port_data_o,
  output logic [2:0]               port_bytes_o,
  output logic                     port_last_o,
  input  logic                     port_done_i,
  input  logic                     port_error_i
);
  if (Sources < 2) begin : gen_illegal_sources
    $fatal(1, "gs_config_mux: Sources is %0d; it must be 2 or more", Sources);
  end

  typedef logic [$clog2(Sources)-1:0] source_t;
  // The port is free; is requested; is granted; is released.
  typedef enum logic [1:0] {Free, Requested, Granted, Released} state_e;

  state_e             state_q;
  source_t            owner_q;
  logic               begun_q;       // the port has a word of the image, and its end is not reported
  logic               whole_q;       // it has the last one
  logic [Sources-1:0] served_q;      // the end of an image was reported, and the request has not fallen since

  source_t            next;
  logic               wanted;
  always_comb begin
    next   = '0;
    wanted = 1'b0;
    for (int i = int'(Sources) - 1; i >= 0; i--) begin
      if (request_i[i] && !served_q[i]) begin
        next   = source_t'(i);
        wanted = 1'b1;
      end
    end
  end

  logic open, take, held, ended, lost;
  assign held = request_i[owner_q];
  assign open = state_q == Granted && held && port_grant_i;
  assign take = port_valid_o && port_ready_i;
  // An end without a word is none of an image: a port may reject a source at once, and the source must know.
  assign lost  = !port_grant_i && (state_q == Granted ? held || begun_q : state_q == Released && begun_q);
  assign ended = state_q == Granted && port_done_i && (held || begun_q) || state_q == Released && port_done_i && begun_q
                 || lost;

  assign port_request_o = state_q == Requested && held || state_q == Granted && held;
  assign port_valid_o   = open && valid_i[owner_q] && !whole_q;
  assign port_data_o    = data_i[owner_q];
  assign port_bytes_o   = bytes_i[owner_q];
  assign port_last_o    = last_i[owner_q];
  always_comb begin
    grant_o          = '0;
    ready_o          = '0;
    done_o           = '0;
    error_o          = '0;
    grant_o[owner_q] = open;
    ready_o[owner_q] = open && port_ready_i && !whole_q;
    done_o[owner_q]  = ended;
    // A port cannot have configured from an image whose last word it does not have.
    error_o[owner_q] = ended && (!port_done_i || port_error_i || !(whole_q || take && port_last_o));
  end

  always_ff @(posedge clk_i) begin
    served_q <= served_q & request_i;
    if (ended) served_q[owner_q] <= held;
    if (take) begin
      begun_q <= 1'b1;
      whole_q <= port_last_o;
    end
    if (ended) begun_q <= 1'b0;
    case (state_q)
      Free: begin
        begun_q <= 1'b0;
        whole_q <= 1'b0;
        owner_q <= next;
        if (wanted) state_q <= Requested;
      end
      Requested:
      if (!held) state_q <= Released;
      else if (port_grant_i) state_q <= Granted;
      Granted: if (!held || ended) state_q <= Released;
      default: if (!port_grant_i) state_q <= Free;
    endcase
    if (!rst_ni) begin
      state_q  <= Free;
      owner_q  <= '0;
      begun_q  <= 1'b0;
      whole_q  <= 1'b0;
      served_q <= '0;
    end
  end

  `GS_ASSERT_NOW(at_most_one_source_is_granted, $onehot0(grant_o))
  `GS_ASSERT_NOW(an_end_is_reported_to_one_source, $onehot0(done_o))
endmodule
