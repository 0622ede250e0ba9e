// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// First level of a match engine: entries that are all searched at once; the oldest that matches is found.
///
/// A new entry goes to place 0. If that is taken, it and those above it move up by one, as far as to the first free
/// place: so a higher place is always an older entry, whatever was taken out, and all places can be used.
///
///     search_i     each place matches or does not                                  first cycle
///     select_i     the highest of them in each group of places                     second
///     found_o ...  that of the highest group, which is the oldest;
///                  remove_i takes it out, or insert_i puts one in                  third, or later
///
/// The next search may be in the cycle of a change, and sees what is there behind it. Between two changes there is a
/// cycle. A scan looks for an entry by its name instead, a place a cycle.
module gs_match_cam
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  /// entries, 2 or more
  parameter int unsigned Entries = 16,
  /// places of a group
  parameter int unsigned Group   = 16,
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

  // Choices are made within groups in one cycle, and among groups in the next: a chain through all places would be
  // long, and synthesis makes one of whatever is written in one cycle.
  localparam int unsigned Groups = (Entries + Group - 1) / Group;
  localparam int unsigned Places = Groups * Group;
  localparam int unsigned DataW = $bits(data_t);

  logic [Entries-1:0] valid_q, valid_d, hit_q, hit_d, fit, sel, high_q, shift_q;
  logic [Groups-1:0] group_hit_q, group_sel, group_full_q;
  match_search_t entry_q[Entries];
  data_t data_q[Entries];
  logic full_q, new_fit, scanning_q;

  // ------------------------------------------- search, with what changes in this cycle
  always_comb begin
    for (int unsigned i = 0; i < Entries; i++) begin
      fit[i] = valid_q[i] && entry_q[i].posts == key_i.posts && fits(key_i, entry_q[i]);
    end
    new_fit = new_i.posts == key_i.posts && fits(key_i, new_i);
    for (int unsigned i = 0; i < Entries; i++) begin
      hit_d[i] = fit[i] && !(remove_i && sel[i]);
      if (insert_i && shift_q[i]) hit_d[i] = (i == 0) ? new_fit : fit[(i == 0) ? 0 : i-1];
    end
  end

  // ---------------------------------- the highest hit: of each group, and then the highest group
  logic [Places-1:0] hit, high, high_scan;
  logic [Groups-1:0] group_hit, group_scan;
  assign hit = Places'(hit_q);
  always_comb begin
    for (int unsigned g = 0; g < Groups; g++) group_hit[g] = hit[g*Group+:Group] != '0;
    for (int unsigned i = 0; i < Places; i++) begin
      high[i] = hit[i] && (hit[(i/Group)*Group+:Group] >> (i % Group + 1)) == '0;
    end
    for (int unsigned g = 0; g < Groups; g++) group_sel[g] = group_hit_q[g] && (group_hit_q >> (g + 1)) == '0;
    for (int unsigned i = 0; i < Entries; i++) sel[i] = high_q[i] && group_sel[i/Group];
    // The next place of a scan
    high_scan = Places'(high_q) << 1;
    for (int unsigned g = 0; g < Groups; g++) group_scan[g] = high_scan[g*Group+:Group] != '0;
  end
  assign found_o = group_hit_q != '0;

  // Of the place that is selected, or where the scan is
  logic found_posts;
  always_comb begin
    found_key_o  = '0;
    found_data_o = data_t'('0);
    found_posts  = 1'b0;
    for (int unsigned g = 0; g < Groups; g++) begin
      automatic match_key_t key = '0;
      automatic logic [DataW-1:0] data = '0;
      automatic logic posts = 1'b0;
      for (int unsigned i = g * Group; i < (g + 1) * Group && i < Entries; i++) begin
        key   |= high_q[i] ? entry_q[i].key : '0;
        data  |= high_q[i] ? DataW'(data_q[i]) : '0;
        posts |= high_q[i] && entry_q[i].posts && valid_q[i];
      end
      found_key_o  |= group_sel[g] ? key : '0;
      found_data_o |= data_t'(group_sel[g] ? data : '0);
      found_posts  |= group_sel[g] && posts;
    end
  end

  // ------------------------------- what an insertion moves: all below the first free place, and that place
  logic [Places-1:0] taken, taken_d, shift;
  always_comb begin
    valid_d = valid_q;
    if (insert_i) valid_d = valid_q | shift_q;
    else if (remove_i) valid_d = valid_q & ~sel;
    taken                = '1;
    taken_d              = '1;
    taken[Entries-1:0]   = valid_q;
    taken_d[Entries-1:0] = valid_d;
    for (int unsigned i = 0; i < Places; i++) begin
      shift[i] = &(group_full_q | ~Groups'((1 << (i / Group)) - 1))
              && &(taken[(i/Group)*Group+:Group] | ~Group'((1 << (i % Group)) - 1));
    end
  end
  assign full_o = full_q;

  logic settle_q, scan_hit, scan_end_q;
  assign scan_hit  = found_posts && NameW'(found_data_o) == name_i;
  assign scanned_o = scanning_q && (scan_hit || scan_end_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q      <= '0;
      group_full_q <= '0;
      full_q       <= 1'b0;
      settle_q     <= 1'b1;
      scanning_q   <= 1'b0;
    end else begin
      valid_q    <= valid_d;
      for (int unsigned g = 0; g < Groups; g++) group_full_q[g] <= &taken_d[g*Group+:Group];
      settle_q   <= insert_i || remove_i;
      scanning_q <= scan_i || (scanning_q && !scanned_o);
      if (settle_q) full_q <= &group_full_q;
    end
    // They follow what is valid, a cycle behind.
    if (settle_q) shift_q <= shift[Entries-1:0];
    if (search_i) hit_q <= hit_d;
    if (select_i) begin
      high_q      <= high[Entries-1:0];
      group_hit_q <= group_hit;
    end else if (scan_i) begin
      high_q      <= Entries'(1);
      group_hit_q <= Groups'(1);
    end else if (scanning_q && !scan_hit) begin
      // Behind the last place nothing is selected: nothing was found.
      high_q      <= high_scan[Entries-1:0];
      group_hit_q <= scan_end_q ? '0 : group_scan;
    end
    scan_end_q <= scanning_q && high_q[Entries-2];
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
  assign unused_places = ^{high, high_scan, shift};

  `GS_ASSERT_NOW(nothing_is_put_into_a_full_cam, !insert_i || !(&valid_q))
  `GS_ASSERT_NOW(what_is_taken_out_was_there, !remove_i || (sel & ~valid_q) == '0 && sel != '0)
  `GS_ASSERT_NOW(one_is_selected, !remove_i || $onehot(sel))
  `GS_ASSERT_NOW(a_change_has_a_cycle_to_settle, !(insert_i || remove_i) || !settle_q)
  `GS_ASSERT_NOW(nothing_changes_while_it_is_selected, !(select_i || scanning_q) || !(insert_i || remove_i))
  `GS_ASSERT_NOW(one_change_at_a_time, !(insert_i && remove_i))
endmodule
