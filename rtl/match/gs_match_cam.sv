// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// First level of a match engine: entries that are all searched at once; the oldest that matches is found.
///
/// A new entry goes to place 0. If that is taken, it and those above it move up by one, as far as to the first free
/// place: so a higher place is always an older entry, whatever was taken out, and all places can be used.
///
///     search_i     what is there matches or does not                              first cycle
///     found_o ...  the oldest; remove_i takes it out, or insert_i puts one in     the cycle behind it, or later
///
/// Nothing may change between a search and the use of what it found.
module gs_match_cam
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  /// entries, 2 or more
  parameter int unsigned Entries = 16,
  /// what an entry has besides what it is matched by
  parameter type         data_t  = logic [11:0],
  /// bits of it, the lowest, by which an entry can be searched instead
  parameter int unsigned NameW   = 12
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             search_i,
  input  match_search_t    key_i,
  /// search a receive by its name
  input  logic             by_name_i,
  input  logic [NameW-1:0] name_i,
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
  localparam int unsigned DataW = $bits(data_t);

  logic [Entries-1:0] valid_q, hit_q, hit_d, shift_q;
  match_search_t entry_q[Entries];
  data_t data_q[Entries];
  logic full_q;

  // -------------------------------------------------------------- search
  always_comb begin
    for (int unsigned i = 0; i < Entries; i++) begin
      hit_d[i] = valid_q[i] && entry_q[i].posts == key_i.posts
              && (by_name_i ? NameW'(data_q[i]) == name_i : fits(key_i, entry_q[i]));
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
  assign found_o = hit_q != '0;

  always_comb begin
    found_key_o  = '0;
    found_data_o = data_t'('0);
    for (int unsigned i = 0; i < Entries; i++) begin
      if (sel[i]) begin
        found_key_o  |= entry_q[i].key;
        found_data_o |= data_q[i];
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

  logic settle_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q  <= '0;
      full_q   <= 1'b0;
      settle_q <= 1'b1;
    end else begin
      settle_q <= insert_i || remove_i;
      if (insert_i) valid_q <= valid_q | shift_q;
      else if (remove_i) valid_q <= valid_q & ~sel[Entries-1:0];
      if (settle_q) full_q <= &valid_q;
    end
    // They follow what is valid, a cycle behind.
    if (settle_q) shift_q <= shift[Entries-1:0];
    if (search_i) hit_q <= hit_d;
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

  logic unused_data;
  assign unused_data = ^{DataW'(found_data_o), sel, shift};

  `GS_ASSERT_NOW(nothing_is_put_into_a_full_cam, !insert_i || !(&valid_q))
  `GS_ASSERT_NOW(what_is_taken_out_was_there, !remove_i || found_o && (sel[Entries-1:0] & ~valid_q) == '0)
  `GS_ASSERT_NOW(one_is_found, $onehot0(sel))
  `GS_ASSERT_NOW(a_change_has_a_cycle_to_settle, !(insert_i || remove_i) || !settle_q)
endmodule
