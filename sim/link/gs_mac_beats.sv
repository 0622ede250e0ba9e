// SPDX-License-Identifier: Apache-2.0

/// Connects a link with beats of two bytes to gs_mac_model, whose words have eight: joins sent beats to words, and
/// divides received words. For simulation. The line may carry at most two bytes a cycle.
module gs_mac_beats (
  input  logic        clk_i,
  input  logic        rst_ni,
  // The link's beats
  input  logic        tx_valid_i,
  output logic        tx_ready_o,
  input  logic [15:0] tx_data_i,
  input  logic [1:0]  tx_keep_i,
  input  logic        tx_last_i,
  output logic        rx_valid_o,
  output logic [15:0] rx_data_o,
  output logic [1:0]  rx_keep_o,
  output logic        rx_last_o,
  output logic        rx_error_o,
  // The wire's words
  output logic        valid_o,
  input  logic        ready_i,
  output logic [63:0] data_o,
  output logic [7:0]  keep_o,
  output logic        last_o,
  input  logic        valid_i,
  input  logic [63:0] data_i,
  input  logic [7:0]  keep_i,
  input  logic        last_i,
  input  logic        error_i
);
  // ------------------------------------------------------------------ sent
  logic full_q, last_q;
  logic [1:0] at_q;
  logic [63:0] word_q;
  logic [7:0] keep_q;
  assign tx_ready_o = !full_q || ready_i;
  assign valid_o = full_q;
  assign data_o = word_q;
  assign keep_o = keep_q;
  assign last_o = last_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      full_q <= 1'b0;
      at_q   <= '0;
    end else begin
      if (ready_i) full_q <= 1'b0;
      if (tx_valid_i && tx_ready_o) begin
        at_q   <= tx_last_i ? '0 : at_q + 2'd1;
        full_q <= tx_last_i || at_q == '1;
        last_q <= tx_last_i;
        if (at_q == '0) begin
          word_q <= {48'd0, tx_data_i};
          keep_q <= {6'd0, tx_keep_i};
        end else begin
          word_q[16*at_q+:16] <= tx_data_i;
          keep_q[2*at_q+:2]   <= tx_keep_i;
        end
      end
    end
  end

  // -------------------------------------------------------------- received
  typedef struct packed {
    logic [63:0] data;
    logic [7:0]  keep;
    logic        last;
    logic        error;
  } word_t;
  word_t queue_q[4];
  logic [1:0] write_q, read_q, beat_q;
  word_t word;
  logic ends;
  assign word = queue_q[read_q];
  assign rx_valid_o = write_q != read_q;
  assign rx_data_o = word.data[16*beat_q+:16];
  assign rx_keep_o = word.keep[2*beat_q+:2];
  // A word that is not whole ends with its last byte.
  assign ends = beat_q == '1 || 8'(word.keep >> (2 * (32'(beat_q) + 1))) == '0;
  assign rx_last_o = word.last && ends;
  assign rx_error_o = word.error && rx_last_o;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      beat_q  <= '0;
    end else begin
      if (valid_i) begin
        queue_q[write_q] <= '{data: data_i, keep: keep_i, last: last_i, error: error_i};
        write_q          <= write_q + 2'd1;
      end
      if (rx_valid_o) begin
        beat_q <= ends ? '0 : beat_q + 2'd1;
        if (ends) read_q <= read_q + 2'd1;
      end
    end
  end
endmodule
