// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_match_cam: an entry, any of them, is watched. It stays until it is taken out, what matches is found, and
/// of two that match the older. Changes come when a match engine makes them: behind a search, with a cycle between.
module prove_cam
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  parameter int unsigned Entries = 4
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       search_i,
  input logic       remove_i,
  input logic       insert_i,
  input logic       tag_i,
  input logic       any_i,
  input logic       new_tag_i,
  input logic       new_any_i,
  input logic [4:0] name_i,
  input logic       watch_a_i,
  input logic       watch_b_i
);
  typedef logic [4:0] name_t;
  match_search_t key, entry;
  logic found, full, remove, insert, settle_q, fresh_q;
  name_t found_name;
  match_key_t found_key;

  assign key    = '{any_tag: any_i, key: '{tag: 32'(tag_i), default: '0}, default: '0};
  assign entry  = '{any_tag: new_any_i, key: '{tag: 32'(new_tag_i), default: '0}, default: '0};
  // fresh_q: nothing has changed since the last search.
  assign remove = remove_i && found && fresh_q;
  assign insert = insert_i && !remove && !full && !settle_q;

  gs_match_cam #(.Entries(Entries), .data_t(name_t), .NameW(5)) u_cam (
    .clk_i,
    .rst_ni,
    .search_i,
    .key_i       (key),
    .by_name_i   (1'b0),
    .name_i      ('0),
    .found_o     (found),
    .found_key_o (found_key),
    .found_data_o(found_name),
    .remove_i    (remove && !settle_q),
    .insert_i    (insert),
    .new_i       (entry),
    .new_data_i  (name_i),
    .full_o      (full)
  );

  // Two entries are watched: b came after a. Names of others differ from theirs.
  logic a_in_q, b_in_q, a_tag_q, a_any_q, b_tag_q, b_any_q, a_hit_q, b_hit_q, searched_q;
  logic changed;
  assign changed = insert || (remove && !settle_q);
  function automatic logic hits(logic any, logic tag, logic wild, logic wanted);
    return any || wild || tag == wanted;
  endfunction
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      a_in_q     <= 1'b0;
      b_in_q     <= 1'b0;
      settle_q   <= 1'b1;
      fresh_q    <= 1'b0;
      searched_q <= 1'b0;
    end else begin
      settle_q <= changed;
      if (changed) fresh_q <= 1'b0;
      else if (search_i) fresh_q <= 1'b1;
      if (insert && watch_a_i && !a_in_q && !b_in_q) begin
        a_in_q  <= 1'b1;
        a_tag_q <= new_tag_i;
        a_any_q <= new_any_i;
      end
      if (insert && watch_b_i && a_in_q && !b_in_q) begin
        b_in_q  <= 1'b1;
        b_tag_q <= new_tag_i;
        b_any_q <= new_any_i;
      end
      if (remove && !settle_q && found_name == 5'd1) a_in_q <= 1'b0;
      if (remove && !settle_q && found_name == 5'd2) b_in_q <= 1'b0;
    end
    if (search_i) begin
      a_hit_q <= a_in_q && hits(a_any_q, a_tag_q, any_i, tag_i);
      b_hit_q <= b_in_q && hits(b_any_q, b_tag_q, any_i, tag_i);
    end
  end
  logic new_a, new_b;
  assign new_a = insert && watch_a_i && !a_in_q && !b_in_q;
  assign new_b = insert && watch_b_i && a_in_q && !b_in_q;
  `GS_ASSUME_NOW(names_are_those_of_the_watched, name_i == (new_a ? 5'd1 : new_b ? 5'd2 : 5'd0))

  `GS_ASSERT_NOW(what_matches_is_found, !fresh_q || !(a_hit_q || b_hit_q) || found)
  `GS_ASSERT_NOW(the_older_is_found_first, !fresh_q || !(a_hit_q && a_in_q) || found_name != 5'd2)
  `GS_ASSERT_NOW(what_was_taken_out_is_not_found, !fresh_q || !found || (found_name != 5'd1 || a_in_q)
                 && (found_name != 5'd2 || b_in_q))
  `GS_ASSERT_NOW(what_is_found_matches, !fresh_q || !found || (found_name != 5'd1 || a_hit_q)
                 && (found_name != 5'd2 || b_hit_q))

  `GS_COVER_NOW(the_older_of_two_is_taken_out, remove && !settle_q && found_name == 5'd1 && a_hit_q && b_hit_q)
  `GS_COVER_NOW(the_cam_is_full, full && a_in_q && b_in_q)
  `GS_COVER_NOW(a_place_in_the_middle_is_used_again, insert && a_in_q && u_cam.valid_q == 4'b0101)

  logic unused;
  assign unused = ^{found_key, searched_q};
endmodule
