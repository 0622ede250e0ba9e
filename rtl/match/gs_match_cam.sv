// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// First level of a match engine: entries that are all searched at once; the oldest that matches is found.
///
/// A new entry goes to place 0. If that is taken, it and those above it move up by one, as far as to the first free
/// place: so a higher place is always an older entry, whatever was taken out, and all places can be used.
///
///     search_i     each place matches or does not                                  first cycle
///     select_i     the highest of them                                             second
///     found_o ...  the oldest; remove_i takes it out, or insert_i puts one in      third, or later
///
/// The next search may be in the cycle of a change, and sees what is there behind it. Between two changes there is a
/// cycle. A scan looks for an entry by its name instead, a place a cycle.
module gs_match_cam
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  /// entries, 2 or more
  parameter int unsigned Entries = 16,
  /// what an entry has besides what it is matched by
  parameter type         data_t  = logic [11:0],
  /// bits of it, the lowest, that are the entry's name
  parameter int unsigned NameW   = 12
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             search_i,
  input  match_search_t    key_i,
  input  logic             select_i,
  /// begins a scan of receives; the name is stable until scanned_o, behind which found_o is that of the scan
  input  logic             scan_i,
  input  logic [NameW-1:0] name_i,
  output logic             scanned_o,
  output logic             found_o,
  output match_key_t       found_key_o,
  output data_t            found_data_o,
  input  logic             remove_i,
  input  logic             insert_i,
  input  match_search_t    new_i,
  input  data_t            new_data_i,
  output logic             full_o
);
  if (Entries < 2) begin : gen_illegal_entries
    $fatal(1, "gs_match_cam: Entries is %0d; it must be 2 or more", Entries);
  end

  // Choices are made in groups of 16, then among groups: two short steps instead of a long one.
  localparam int unsigned Group = 16;
  localparam int unsigned Groups = (Entries + Group - 1) / Group;
  localparam int unsigned Places = Groups * Group;

  logic [Entries-1:0] valid_q, hit_q, hit_d, fit, sel_q, shift_q;
  match_search_t entry_q[Entries];
  data_t data_q[Entries];
  logic full_q, found_q, new_fit, scanning_q;

  // ------------------------------------------- search, with what changes in this cycle
  always_comb begin
    for (int unsigned i = 0; i < Entries; i++) begin
      fit[i] = valid_q[i] && entry_q[i].posts == key_i.posts && fits(key_i, entry_q[i]);
    end
    new_fit = new_i.posts == key_i.posts && fits(key_i, new_i);
    for (int unsigned i = 0; i < Entries; i++) begin
      hit_d[i] = fit[i] && !(remove_i && sel_q[i]);
      if (insert_i && shift_q[i]) hit_d[i] = (i == 0) ? new_fit : fit[(i == 0) ? 0 : i-1];
    end
  end

  // ------------------------------------------------- the highest hit, one bit
  logic [Places-1:0] hit, sel;
  logic [Groups-1:0] group_hit, group_sel;
  assign hit = Places'(hit_q);
  always_comb begin
    for (int unsigned g = 0; g < Groups; g++) group_hit[g] = hit[g*Group+:Group] != '0;
    for (int unsigned g = 0; g < Groups; g++) group_sel[g] = group_hit[g] && (group_hit >> (g + 1)) == '0;
    for (int unsigned i = 0; i < Places; i++) begin
      sel[i] = hit[i] && group_sel[i/Group] && (hit[(i/Group)*Group+:Group] >> (i % Group + 1)) == '0;
    end
  end
  assign found_o = found_q;

  // Of the place that is selected, or where the scan is
  logic found_posts;
  always_comb begin
    found_key_o  = '0;
    found_data_o = data_t'('0);
    found_posts  = 1'b0;
    for (int unsigned i = 0; i < Entries; i++) begin
      if (sel_q[i]) begin
        found_key_o  |= entry_q[i].key;
        found_data_o |= data_q[i];
        found_posts  |= entry_q[i].posts && valid_q[i];
      end
    end
  end

  // ------------------------------- what an insertion moves: all below the first free place, and that place
  logic [Places-1:0] taken, shift;
  logic [Groups-1:0] group_full;
  always_comb begin
    taken = '1;
    taken[Entries-1:0] = valid_q;
    for (int unsigned g = 0; g < Groups; g++) group_full[g] = &taken[g*Group+:Group];
    for (int unsigned i = 0; i < Places; i++) begin
      shift[i] = &(group_full | ~Groups'((1 << (i / Group)) - 1))
              && &(taken[(i/Group)*Group+:Group] | ~Group'((1 << (i % Group)) - 1));
    end
  end
  assign full_o = full_q;

  logic settle_q, scan_hit;
  assign scan_hit  = found_posts && NameW'(found_data_o) == name_i;
  assign scanned_o = scanning_q && (scan_hit || sel_q[Entries-1]);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q    <= '0;
      full_q     <= 1'b0;
      settle_q   <= 1'b1;
      scanning_q <= 1'b0;
    end else begin
      settle_q   <= insert_i || remove_i;
      scanning_q <= scan_i || (scanning_q && !scanned_o);
      if (insert_i) valid_q <= valid_q | shift_q;
      else if (remove_i) valid_q <= valid_q & ~sel_q;
      if (settle_q) full_q <= &valid_q;
    end
    // They follow what is valid, a cycle behind.
    if (settle_q) shift_q <= shift[Entries-1:0];
    if (search_i) hit_q <= hit_d;
    if (select_i) begin
      sel_q   <= sel[Entries-1:0];
      found_q <= hit_q != '0;
    end else if (scan_i) begin
      sel_q <= Entries'(1);
    end else if (scanning_q) begin
      found_q <= scan_hit;
      if (!scanned_o) sel_q <= sel_q << 1;
    end
    if (insert_i) begin
      for (int unsigned i = 1; i < Entries; i++) begin
        if (shift_q[i]) begin
          entry_q[i] <= entry_q[i-1];
          data_q[i]  <= data_q[i-1];
        end
      end
      entry_q[0] <= new_i;
      data_q[0]  <= new_data_i;
    end
  end

  logic unused_places;
  assign unused_places = ^{sel, shift};

  `GS_ASSERT_NOW(nothing_is_put_into_a_full_cam, !insert_i || !(&valid_q))
  `GS_ASSERT_NOW(what_is_taken_out_was_there, !remove_i || found_q && (sel_q & ~valid_q) == '0 && sel_q != '0)
  `GS_ASSERT_NOW(one_is_selected, !remove_i || $onehot(sel_q))
  `GS_ASSERT_NOW(a_change_has_a_cycle_to_settle, !(insert_i || remove_i) || !settle_q)
  `GS_ASSERT_NOW(nothing_changes_while_it_is_selected, !(select_i || scanning_q) || !(insert_i || remove_i))
  `GS_ASSERT_NOW(one_change_at_a_time, !(insert_i && remove_i))
endmodule
