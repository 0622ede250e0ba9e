// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// First level of a match engine: searches all entries at once and finds the oldest match.
///
/// A new entry is stored in slot 0. If that is occupied, the entries from slot 0 up to the first free slot move up by
/// one. So a higher slot always holds an older entry, whatever was removed, and all slots can be used.
///
///     search_i     compares every slot                                             first cycle
///     select_i     selects the highest match of each group of slots and its data;  second
///                  will_find_o: there is a match
///     found_o ...  the match of the highest group, which is the oldest;
///                  remove_i removes it, or insert_i inserts an entry               third, or later
///
/// The next search may be in the cycle of a change, and sees the changed entries. Changes must be at least two cycles
/// apart.
module gs_match_cam
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  /// entries, 2 or more
  parameter int unsigned Entries = 16,
  /// slots of a group, and of a part of a group; Part divides Group
  parameter int unsigned Group   = 16,
  parameter int unsigned Part    = 4,
  /// payload of an entry besides its key
  parameter type         data_t  = logic [11:0],
  /// lowest bits of the payload that are the entry's name
  parameter int unsigned NameW   = 12,
  /// 0: searches are never by name, which saves a comparator per slot
  parameter bit          Named   = 1'b1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             search_i,
  input  match_search_t    key_i,
  /// search by name: among entries of the kind of key_i.posts, finds the entry named name_i, whatever its key
  input  logic             by_name_i,
  input  logic [NameW-1:0] name_i,
  input  logic             select_i,
  output logic             will_find_o,
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

  // Selection is within groups in one cycle, including the data, and among groups in the next. Within a group it is in
  // each part and among parts in parallel, because synthesis makes a chain of a selection among all slots of a group.
  if (Group % Part != 0) begin : gen_illegal_part
    $fatal(1, "gs_match_cam: Part (%0d) does not divide Group (%0d)", Part, Group);
  end
  localparam int unsigned Groups = (Entries + Group - 1) / Group;
  localparam int unsigned Parts = Group / Part;
  localparam int unsigned Places = Groups * Group;
  localparam int unsigned DataW = $bits(data_t);

  logic [Entries-1:0] valid_q, valid_d, hit_q, hit_d, fit, sel, high_q, shift_q, moves, keeps;
  logic [Groups-1:0] group_sel_q, group_full_q;
  logic [Groups*Parts-1:0] part_sel_q;
  match_search_t entry_q[Entries];
  data_t data_q[Entries];
  logic found_q;

  // --------------------------------- search, including this cycle's changes
  function automatic logic meets(match_search_t entry, logic [NameW-1:0] name);
    return entry.posts == key_i.posts
        && ((Named && by_name_i) ? name == name_i : fits(key_i, entry));
  endfunction
  // All slots below the first free one are occupied, so the valid bits of moved entries need not be checked.
  assign moves = insert_i ? shift_q : '0;
  assign keeps = valid_q & ~moves & ~(remove_i ? sel : '0);
  always_comb begin
    for (int unsigned i = 0; i < Entries; i++) fit[i] = meets(entry_q[i], NameW'(data_q[i]));
    hit_d = (moves & Entries'({fit, meets(new_i, NameW'(new_data_i))})) | (keeps & fit);
  end

  // ------------ highest match of each part, highest part of each group and its data, highest group
  logic [Places-1:0] hit, high;
  logic [Groups*Parts-1:0] part_hit, part_sel;
  logic [Groups-1:0] group_hit, group_sel;
  match_key_t group_key[Groups], group_key_q[Groups];
  logic [DataW-1:0] group_data[Groups], group_data_q[Groups];
  assign hit = Places'(hit_q);
  always_comb begin
    for (int unsigned i = 0; i < Places; i++) begin
      high[i] = hit[i] && (hit[(i/Part)*Part+:Part] >> (i % Part + 1)) == '0;
    end
    for (int unsigned p = 0; p < Groups * Parts; p++) part_hit[p] = hit[p*Part+:Part] != '0;
    for (int unsigned p = 0; p < Groups * Parts; p++) begin
      part_sel[p] = part_hit[p] && (part_hit[(p/Parts)*Parts+:Parts] >> (p % Parts + 1)) == '0;
    end
    for (int unsigned g = 0; g < Groups; g++) group_hit[g] = part_hit[g*Parts+:Parts] != '0;
    for (int unsigned g = 0; g < Groups; g++) group_sel[g] = group_hit[g] && (group_hit >> (g + 1)) == '0;
    for (int unsigned g = 0; g < Groups; g++) begin
      group_key[g]  = '0;
      group_data[g] = '0;
      for (int unsigned p = g * Parts; p < (g + 1) * Parts; p++) begin
        automatic match_key_t key = '0;
        automatic logic [DataW-1:0] data = '0;
        for (int unsigned i = p * Part; i < (p + 1) * Part && i < Entries; i++) begin
          key  |= high[i] ? entry_q[i].key : '0;
          data |= high[i] ? DataW'(data_q[i]) : '0;
        end
        group_key[g]  |= part_sel[p] ? key : '0;
        group_data[g] |= part_sel[p] ? data : '0;
      end
    end
  end
  assign will_find_o = group_hit != '0;

  always_comb begin
    found_o      = found_q;
    found_key_o  = '0;
    found_data_o = data_t'('0);
    for (int unsigned g = 0; g < Groups; g++) begin
      found_key_o  |= group_sel_q[g] ? group_key_q[g] : '0;
      found_data_o |= data_t'(group_sel_q[g] ? group_data_q[g] : '0);
    end
    for (int unsigned i = 0; i < Entries; i++) sel[i] = high_q[i] && part_sel_q[i/Part] && group_sel_q[i/Group];
  end

  // ------------------------------- slots moved by an insertion: all below the first free slot, and that slot
  logic [Places-1:0] taken, taken_d, shift;
  always_comb begin
    valid_d              = keeps | moves;
    taken                = '1;
    taken_d              = '1;
    taken[Entries-1:0]   = valid_q;
    taken_d[Entries-1:0] = valid_d;
    for (int unsigned i = 0; i < Places; i++) begin
      shift[i] = &(group_full_q | ~Groups'((1 << (i / Group)) - 1))
              && &(taken[(i/Group)*Group+:Group] | ~Group'((1 << (i % Group)) - 1));
    end
  end
  assign full_o = &group_full_q;

  logic settle_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q      <= '0;
      group_full_q <= '0;
      settle_q     <= 1'b1;
    end else begin
      valid_q  <= valid_d;
      settle_q <= insert_i || remove_i;
      for (int unsigned g = 0; g < Groups; g++) group_full_q[g] <= &taken_d[g*Group+:Group];
    end
    // Follows the valid bits, one cycle later.
    if (settle_q) shift_q <= shift[Entries-1:0];
    if (search_i) hit_q <= hit_d;
    if (select_i) begin
      high_q       <= high[Entries-1:0];
      found_q      <= will_find_o;
      part_sel_q   <= part_sel;
      group_sel_q  <= group_sel;
      group_key_q  <= group_key;
      group_data_q <= group_data;
    end
    if (moves[0]) begin
      entry_q[0] <= new_i;
      data_q[0]  <= new_data_i;
    end
    for (int unsigned i = 1; i < Entries; i++) begin
      if (moves[i]) begin
        entry_q[i] <= entry_q[i-1];
        data_q[i]  <= data_q[i-1];
      end
    end
  end

  logic unused_places;
  assign unused_places = ^{high, shift};
  if (!Named) begin : gen_no_names
    logic unused_name;
    assign unused_name = ^{by_name_i, name_i};
  end

  `GS_ASSERT_NOW(insert_only_if_not_full, !insert_i || !(&valid_q))
  `GS_ASSERT_NOW(removed_entry_is_valid, !remove_i || (sel & ~valid_q) == '0 && sel != '0)
  `GS_ASSERT_NOW(one_entry_selected, !remove_i || $onehot(sel))
  `GS_ASSERT_NOW(changes_are_two_cycles_apart, !(insert_i || remove_i) || !settle_q)
  `GS_ASSERT_NOW(no_change_during_selection, !select_i || !(insert_i || remove_i))
  `GS_ASSERT_NOW(one_change_at_a_time, !(insert_i && remove_i))
endmodule
