// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_match_cam: two entries, any two, are watched. Each stays until it is taken out, what matches is found, and
/// of two that match the older. Searches, selections and changes come when an engine makes them: a search in any cycle,
/// that of a change too; behind it a selection, with no change in between; then a change. Scans find entries by name.
module prove_cam
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  parameter int unsigned Entries = 4
) (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       search_i,
  input logic       select_i,
  input logic       scan_i,
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
  logic found, full, select, scan, remove, insert, changed, scanned;
  logic settle_q, searched_q, selected_q, scanning_q, scanned_q;
  name_t found_name, scan_name_q;
  match_key_t found_key;

  assign key     = '{posts: 1'b1, any_tag: any_i, key: '{tag: 32'(tag_i), default: '0}, default: '0};
  assign entry   = '{posts: 1'b1, any_tag: new_any_i, key: '{tag: 32'(new_tag_i), default: '0}, default: '0};
  assign remove  = remove_i && found && selected_q && !settle_q && !scanning_q;
  assign insert  = insert_i && !remove && !full && !settle_q && !scanning_q;
  assign changed = insert || remove;
  assign select  = select_i && searched_q && !changed && !scanning_q;
  assign scan    = scan_i && !select && !changed && !scanning_q;

  gs_match_cam #(.Entries(Entries), .data_t(name_t), .NameW(5)) u_cam (
    .clk_i,
    .rst_ni,
    .search_i,
    .key_i       (key),
    .select_i    (select),
    .scan_i      (scan),
    .name_i      (scan_name_q),
    .scanned_o   (scanned),
    .found_o     (found),
    .found_key_o (found_key),
    .found_data_o(found_name),
    .remove_i    (remove),
    .insert_i    (insert),
    .new_i       (entry),
    .new_data_i  (name_i),
    .full_o      (full)
  );

  // b came after a. Names of others differ from theirs.
  logic a_in_q, b_in_q, a_in_d, b_in_d, new_a, new_b;
  logic a_tag_q, a_any_q, b_tag_q, b_any_q, a_tag_d, a_any_d, b_tag_d, b_any_d;
  logic a_hit_q, b_hit_q, a_fits_q, b_fits_q;
  function automatic logic hits(logic any, logic tag, logic wild, logic wanted);
    return any || wild || tag == wanted;
  endfunction
  assign new_a = insert && watch_a_i && !a_in_q && !b_in_q;
  assign new_b = insert && watch_b_i && a_in_q && !b_in_q;
  always_comb begin
    a_in_d  = (a_in_q && !(remove && found_name == 5'd1)) || new_a;
    b_in_d  = (b_in_q && !(remove && found_name == 5'd2)) || new_b;
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
      scanning_q <= 1'b0;
      scanned_q  <= 1'b0;
    end else begin
      a_in_q     <= a_in_d;
      b_in_q     <= b_in_d;
      settle_q   <= changed;
      // What was searched and selected says nothing behind a change; a search in its cycle sees what it made.
      searched_q <= search_i || (searched_q && !changed);
      selected_q <= select || (selected_q && !changed && !scan);
      scanning_q <= scan || (scanning_q && !scanned);
      scanned_q  <= scanning_q && scanned;
    end
    a_tag_q <= a_tag_d;
    a_any_q <= a_any_d;
    b_tag_q <= b_tag_d;
    b_any_q <= b_any_d;
    if (search_i) begin
      a_hit_q <= a_in_d && hits(a_any_d, a_tag_d, any_i, tag_i);
      b_hit_q <= b_in_d && hits(b_any_d, b_tag_d, any_i, tag_i);
    end
    if (select) begin
      a_fits_q <= a_hit_q;
      b_fits_q <= b_hit_q;
    end
    if (scan) scan_name_q <= watch_a_i ? 5'd1 : 5'd2;
  end
  `GS_ASSUME_NOW(names_are_those_of_the_watched, name_i == (new_a ? 5'd1 : new_b ? 5'd2 : 5'd0))

  `GS_ASSERT_NOW(what_matches_is_found, !selected_q || !(a_fits_q || b_fits_q) || found)
  `GS_ASSERT_NOW(the_older_is_found_first, !selected_q || !(a_fits_q && a_in_q) || found_name != 5'd2)
  `GS_ASSERT_NOW(what_was_taken_out_is_not_found, !selected_q || !found || (found_name != 5'd1 || a_in_q)
                 && (found_name != 5'd2 || b_in_q))
  `GS_ASSERT_NOW(what_is_found_matches, !selected_q || !found || (found_name != 5'd1 || a_fits_q)
                 && (found_name != 5'd2 || b_fits_q))
  `GS_ASSERT_NOW(a_scan_finds_what_is_there, !scanned_q
                 || found == ((scan_name_q == 5'd1) ? a_in_q : b_in_q) && (!found || found_name == scan_name_q))

  `GS_COVER_NOW(the_older_of_two_is_taken_out, remove && found_name == 5'd1 && a_fits_q && b_fits_q)
  `GS_COVER_NOW(the_cam_is_full, full && a_in_q && b_in_q)
  `GS_COVER_NOW(a_place_in_the_middle_is_used_again, insert && a_in_q && u_cam.valid_q == 4'b0101)
  `GS_COVER_NOW(a_search_sees_what_goes_in_with_it, selected_q && found && found_name == 5'd1 && $past(select)
                && $past(new_a, 2))
  `GS_COVER_NOW(a_search_in_the_cycle_of_a_removal, selected_q && found && found_name == 5'd2 && $past(select)
                && $past(remove, 2))
  `GS_COVER_NOW(a_scan_finds_a_place_high_up, scanned_q && found && b_in_q && u_cam.sel_q[2])

  logic unused;
  assign unused = ^found_key;
endmodule
