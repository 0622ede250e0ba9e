// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_match_cam, which tracks two arbitrary receives. Each stays until it is removed; a match is found; of two
/// matches the older one is found, with its key; a search by name finds a receive whatever its key, and never a message
/// of the same name. Searches, selections and changes are issued as by an engine: a search in any cycle, including that
/// of a change; then a selection, without a change in between; then a change.
/// With groups of two slots, entries of the same group and of different groups are tracked, and the last group is
/// incomplete.
module prove_cam
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  parameter int unsigned Entries = 3,
  parameter int unsigned Group   = 2,
  parameter int unsigned Part    = 1
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       search_i,
  input logic       select_i,
  input logic       remove_i,
  input logic       insert_i,
  input logic       tag_i,
  input logic       any_i,
  input logic       posts_i,
  input logic       by_name_i,
  input logic       new_tag_i,
  input logic       new_any_i,
  input logic       new_posts_i,
  input logic [4:0] name_i,
  input logic       watch_a_i,
  input logic       watch_b_i
);
  typedef logic [4:0] name_t;
  match_search_t key, entry;
  logic will_find, found, full, select, remove, insert, changed;
  logic settle_q, searched_q, selected_q, will_q;
  name_t found_name, name;
  match_key_t found_key;

  assign key     = '{posts: posts_i, any_tag: any_i, key: '{tag: 32'(tag_i), default: '0}, default: '0};
  assign entry   = '{posts: new_posts_i, any_tag: new_any_i, key: '{tag: 32'(new_tag_i), default: '0}, default: '0};
  assign name    = watch_a_i ? 5'd1 : 5'd2;
  assign remove  = remove_i && found && selected_q && !settle_q;
  assign insert  = insert_i && !remove && !full && !settle_q;
  assign changed = insert || remove;
  assign select  = select_i && searched_q && !changed;

  gs_match_cam #(.Entries(Entries), .Group(Group), .Part(Part), .data_t(name_t), .NameW(5)) u_cam (
    .clk_i,
    .rst_ni,
    .search_i,
    .key_i       (key),
    .by_name_i,
    .name_i      (name),
    .select_i    (select),
    .will_find_o (will_find),
    .found_o     (found),
    .found_key_o (found_key),
    .found_data_o(found_name),
    .remove_i    (remove),
    .insert_i    (insert),
    .new_i       (entry),
    .new_data_i  (name_i),
    .full_o      (full)
  );

  // b is younger than a. Names of other receives differ from theirs; messages have any names.
  logic a_in_q, b_in_q, a_in_d, b_in_d, new_a, new_b, found_a, found_b;
  logic a_tag_q, a_any_q, b_tag_q, b_any_q, a_tag_d, a_any_d, b_tag_d, b_any_d;
  logic a_hit_q, b_hit_q, a_fits_q, b_fits_q, searched_posts_q, posts_q, searched_name_q, named_q;
  function automatic logic hits(logic any, logic tag, logic called);
    return posts_i && (by_name_i ? called : any || any_i || tag == tag_i);
  endfunction
  assign new_a   = insert && new_posts_i && watch_a_i && !a_in_q && !b_in_q;
  assign new_b   = insert && new_posts_i && watch_b_i && a_in_q && !b_in_q;
  assign found_a = found && posts_q && found_name == 5'd1;
  assign found_b = found && posts_q && found_name == 5'd2;
  always_comb begin
    a_in_d  = (a_in_q && !(remove && found_a)) || new_a;
    b_in_d  = (b_in_q && !(remove && found_b)) || new_b;
    a_tag_d = new_a ? new_tag_i : a_tag_q;
    a_any_d = new_a ? new_any_i : a_any_q;
    b_tag_d = new_b ? new_tag_i : b_tag_q;
    b_any_d = new_b ? new_any_i : b_any_q;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      a_in_q     <= 1'b0;
      b_in_q     <= 1'b0;
      settle_q   <= 1'b1;
      searched_q <= 1'b0;
      selected_q <= 1'b0;
    end else begin
      a_in_q     <= a_in_d;
      b_in_q     <= b_in_d;
      settle_q   <= changed;
      // A search and selection are invalid after a change; a search in the cycle of the change sees its result.
      searched_q <= search_i || (searched_q && !changed);
      selected_q <= select || (selected_q && !changed);
      will_q     <= will_find;
    end
    a_tag_q <= a_tag_d;
    a_any_q <= a_any_d;
    b_tag_q <= b_tag_d;
    b_any_q <= b_any_d;
    if (search_i) begin
      a_hit_q          <= a_in_d && hits(a_any_d, a_tag_d, name == 5'd1);
      b_hit_q          <= b_in_d && hits(b_any_d, b_tag_d, name == 5'd2);
      searched_posts_q <= posts_i;
      searched_name_q  <= by_name_i;
    end
    if (select) begin
      a_fits_q <= a_hit_q;
      b_fits_q <= b_hit_q;
      posts_q  <= searched_posts_q;
      named_q  <= searched_name_q;
    end
  end
  `GS_ASSUME_NOW(names_are_those_of_the_watched, !new_posts_i || name_i == (new_a ? 5'd1 : new_b ? 5'd2 : 5'd0))

  `GS_ASSERT_NOW(match_is_found, !selected_q || !(a_fits_q || b_fits_q) || found)
  `GS_ASSERT_NOW(will_find_matches_found, !selected_q || !$past(select) || found == will_q)
  `GS_ASSERT_NOW(older_match_is_found_first, !selected_q || !(a_fits_q && a_in_q) || !found_b)
  `GS_ASSERT_NOW(removed_entry_is_not_found, !selected_q || (!found_a || a_in_q) && (!found_b || b_in_q))
  `GS_ASSERT_NOW(found_entry_matches, !selected_q || (!found_a || a_fits_q) && (!found_b || b_fits_q))
  `GS_ASSERT_NOW(found_key_is_the_entrys, !selected_q
                 || (!found_a || found_key == match_key_t'{tag: 32'(a_tag_q), default: '0})
                 && (!found_b || found_key == match_key_t'{tag: 32'(b_tag_q), default: '0}))

  `GS_COVER_NOW(older_of_two_removed, remove && found_a && a_fits_q && b_fits_q)
  `GS_COVER_NOW(cam_full, full && a_in_q && b_in_q)
  `GS_COVER_NOW(middle_slot_reused, insert && a_in_q && u_cam.valid_q == Entries'(5))
  `GS_COVER_NOW(search_sees_simultaneous_insertion, selected_q && found_a && $past(select) && $past(new_a, 2))
  `GS_COVER_NOW(search_in_cycle_of_removal, selected_q && found_b && $past(select) && $past(remove, 2))
  `GS_COVER_NOW(older_message_of_same_name, named_q && selected_q && found_a && u_cam.valid_q[2]
                && !u_cam.entry_q[2].posts && u_cam.data_q[2] == 5'd1)
  `GS_COVER_NOW(younger_of_equal_keys_found_by_name, named_q && selected_q && found_b && a_in_q
                && a_tag_q == b_tag_q)
endmodule
