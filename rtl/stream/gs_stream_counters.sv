// SPDX-License-Identifier: Apache-2.0

/// Counters of streaming ports: packets, beats, and cycles in which a side waits. All have 32 bits and wrap around. A
/// selection copies the counters of a port, and the cycle, in one cycle, so the words that are read later belong
/// together.
///
/// | word | counts |
/// |---|---|
/// | 0 | cycles since reset |
/// | 1, 2 | packets with elements that were sent, that were received |
/// | 3, 4 | beats that the kernel has sent, has received |
/// | 5 | stalled: the kernel offers a beat that the port does not accept |
/// | 6 | empty: the kernel accepts a beat and the port has none |
/// | 7 | full: the port has a beat that the kernel does not accept |
module gs_stream_counters
  import gs_stream_pkg::*;
#(
  parameter int unsigned Ports = 1
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  // Packets, and streams of kernels, as in gs_stream_endpoint
  input  logic [Ports-1:0]              sent_i,
  input  logic [Ports-1:0]              received_i,
  input  logic [Ports-1:0]              s_valid_i,
  input  logic [Ports-1:0]              s_ready_i,
  input  logic [Ports-1:0]              m_valid_i,
  input  logic [Ports-1:0]              m_ready_i,
  // Selection of a port; the words, from the next cycle on
  input  logic                          select_i,
  input  logic [7:0]                    port_i,
  output logic [PortCounters-1:0][31:0] words_o
);
  localparam int unsigned Counts = PortCounters - 1;

  logic [31:0] cycle_q;
  logic [Ports-1:0][Counts-1:0] events;
  logic [Ports-1:0][Counts-1:0][31:0] counts_q;
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    assign events[p] = {
      m_valid_i[p] && !m_ready_i[p], m_ready_i[p] && !m_valid_i[p], s_valid_i[p] && !s_ready_i[p],
      m_valid_i[p] && m_ready_i[p], s_valid_i[p] && s_ready_i[p], received_i[p], sent_i[p]
    };
    for (genvar c = 0; c < Counts; c++) begin : gen_count
      always_ff @(posedge clk_i) begin
        if (!rst_ni) counts_q[p][c] <= '0;
        else counts_q[p][c] <= counts_q[p][c] + 32'(events[p][c]);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    cycle_q <= rst_ni ? cycle_q + 32'd1 : '0;
    if (!rst_ni) words_o <= '0;
    else if (select_i) begin
      words_o <= (32 * PortCounters)'(cycle_q);
      for (int unsigned p = 0; p < Ports; p++) if (32'(port_i) == p) words_o <= {counts_q[p], cycle_q};
    end
  end
endmodule
