// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_config_mux for arbitrary sources and an arbitrary port: words of two sources are never in one image, and
/// the end of each image is reported once, to its source. The proof keeps its own account of images, from the words
/// that the port accepts; the number of the source is in the data.
module prove_config_mux (
  input logic            clk_i,
  input logic            rst_ni,
  input logic [1:0]      request_i,
  input logic [1:0]      valid_i,
  input logic [1:0]      last_i,
  input logic [1:0][2:0] bytes_i,
  input logic            port_grant_i,
  input logic            port_ready_i,
  input logic            port_done_i,
  input logic            port_error_i
);
  logic [1:0]  grant, ready, done, error;
  logic        port_request, port_valid, port_last;
  logic [31:0] port_data;
  logic [2:0]  port_bytes;
  gs_config_mux #(
    .Sources(2)
  ) i_mux (
    .clk_i,
    .rst_ni,
    .request_i,
    .grant_o       (grant),
    .valid_i,
    .ready_o       (ready),
    .data_i        ({32'd1, 32'd0}),
    .bytes_i,
    .last_i,
    .done_o        (done),
    .error_o       (error),
    .port_request_o(port_request),
    .port_grant_i,
    .port_valid_o  (port_valid),
    .port_ready_i,
    .port_data_o   (port_data),
    .port_bytes_o  (port_bytes),
    .port_last_o   (port_last),
    .port_done_i,
    .port_error_i
  );

  logic [1:0] state;
  assign state = 2'(i_mux.state_q);

  // The image at the port: since its request was low. It is pending until its end is reported.
  logic word, source_q, some_q, last_q, pending_q, ended_q, first_q, whole_q;
  assign word = port_valid && port_ready_i;
  always_ff @(posedge clk_i) begin
    if (word) begin
      source_q <= port_data[0];
      some_q   <= 1'b1;
      last_q   <= port_last;
      whole_q  <= port_last;
      if (!some_q) pending_q <= 1'b1;
    end
    if (done != '0) begin
      pending_q <= 1'b0;
      ended_q   <= 1'b1;
    end
    if (!port_request) {some_q, last_q, ended_q} <= '0;
    if (done == 2'b10) first_q <= 1'b1;
    if (!rst_ni) {some_q, last_q, pending_q, ended_q, first_q, whole_q} <= '0;
  end

  `GS_ASSERT_NOW(words_of_two_sources_do_not_mix, !word || !some_q || port_data[0] == source_q)
  `GS_ASSERT_NOW(an_image_ends_before_the_next_begins, !word || !pending_q || some_q)
  `GS_ASSERT_NOW(the_port_accepts_words_of_the_granted_source, !word || grant[port_data[0]] && request_i[port_data[0]])
  `GS_ASSERT_NOW(a_source_sends_what_the_port_accepts, (ready & valid_i & {2{port_valid}}) == (word ? grant : '0))
  `GS_ASSERT_NOW(no_word_follows_the_last_one, !word || !last_q)
  `GS_ASSERT_NOW(no_word_follows_the_end, !word || !ended_q)
  `GS_ASSERT_NOW(one_source_is_granted, $onehot0(grant))
  `GS_ASSERT_NOW(the_end_is_that_of_the_source, !pending_q || done == '0 || done == 2'b01 << source_q)
  `GS_ASSERT_NOW(the_end_is_reported_once, done == '0 || !ended_q)
  `GS_ASSERT_NOW(an_end_has_an_image_or_a_grant, done == '0 || pending_q || (done & request_i) != '0)
  `GS_ASSERT_NOW(an_image_that_the_port_has_left_is_ended, !pending_q || port_grant_i || done != '0)
  `GS_ASSERT_NOW(a_port_reports_to_the_source_at_once, !pending_q || !port_done_i || done != '0)
  `GS_ASSERT_NOW(success_needs_a_last_word, (done & ~error) == '0 || pending_q && whole_q || word && port_last)
  `GS_ASSERT_NOW(success_is_that_of_the_port, (done & ~error) == '0 || port_done_i && !port_error_i)
  // For the induction: how the account and the state agree.
  `GS_ASSERT_NOW(an_image_is_pending_until_its_end, pending_q == i_mux.begun_q)
  `GS_ASSERT_NOW(the_owner_is_the_source, !(pending_q || some_q && port_request) || i_mux.owner_q == source_q)
  `GS_ASSERT_NOW(the_last_word_is_known, state != 2'd2 || i_mux.whole_q == last_q)
  `GS_ASSERT_NOW(an_image_has_a_grant, !(some_q || ended_q) || state == 2'd2 || state == 2'd3)
  `GS_ASSERT_NOW(an_image_without_an_end_is_pending, !some_q || ended_q || pending_q)
  `GS_ASSERT_NOW(an_end_releases_the_port, !ended_q || state == 2'd3)
  `GS_ASSERT_NOW(a_pending_image_has_words, !(pending_q && state == 2'd2) || some_q)
  `GS_ASSERT_NOW(a_free_port_has_no_image, !pending_q || state == 2'd2 || state == 2'd3)
  `GS_ASSERT_NOW(the_last_word_is_kept_to_the_end, !pending_q || i_mux.whole_q == whole_q)
  `GS_ASSERT_NOW(a_last_word_is_a_word, !last_q || some_q)
  `GS_ASSERT_NOW(a_requested_port_has_no_word, state != 2'd1 || !(i_mux.whole_q || last_q))

  `GS_COVER_NOW(an_image_of_the_first_source_follows_one_of_the_second, first_q && done == 2'b01 && error == '0)
  `GS_COVER_NOW(a_source_that_gives_up_gets_an_error, pending_q && !request_i[source_q] && error != '0)
  logic unused;
  assign unused = ^{port_bytes, ready};
endmodule
