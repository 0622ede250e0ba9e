// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Linked list of a two-level match engine: searched from its oldest entry on, three cycles per entry.
///
/// An entry has a key, a payload, and a stamp that gives its age among the entries of all lists. The match of a search
/// is held until the next search and may be removed. Free entries form a list of their own.
module gs_match_list
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  /// entries, a power of two, 2 or more
  parameter  int unsigned Entries = 64,
  /// bits of a stamp; 0: entries have none
  parameter  int unsigned StampW  = 0,
  parameter  type         data_t  = logic [40:0],
  /// lowest bits of the payload, by which an entry can be searched instead
  parameter  int unsigned NameW   = 32,
  localparam int unsigned StampsW = (StampW == 0) ? 1 : StampW
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  output logic               full_o,
  output logic               empty_o,
  // Starts a search; key, name and kind must be stable until it is done
  input  logic               search_i,
  input  match_search_t      key_i,
  input  logic               by_name_i,
  input  logic [NameW-1:0]   name_i,
  /// matches any entry: finds the oldest
  input  logic               any_i,
  output logic               done_o,
  output logic               found_o,
  output match_search_t      found_entry_o,
  output data_t              found_data_o,
  output logic [StampsW-1:0] found_stamp_o,
  // Take two cycles each; second_i is 1 in the second cycle
  input  logic               remove_i,
  input  logic               insert_i,
  input  logic               second_i,
  input  match_search_t      new_i,
  input  data_t              new_data_i,
  input  logic [StampsW-1:0] new_stamp_i
);
  localparam int unsigned IdW = $clog2(Entries);
  typedef logic [IdW-1:0] id_t;
  typedef struct packed {
    match_search_t      entry;
    data_t              data;
    logic [StampsW-1:0] stamp;
  } item_t;
  typedef enum logic [1:0] {Rest, Read, Fetch, Compare} state_e;

  state_e state_q, state_d;
  item_t item, item_q;
  id_t next, next_q, at_q, prev_q, head_q, tail_q, free_q;
  logic [IdW:0] count_q, fresh_q;
  logic some, fit, last, found_q, fresh;
  id_t new_id;

  assign some    = count_q != '0;
  assign empty_o = !some;
  assign full_o  = count_q[IdW];
  assign fresh   = !fresh_q[IdW];
  // Free entries: first those never used, then the list of returned ones.
  assign new_id  = fresh ? fresh_q[IdW-1:0] : free_q;

  logic item_we, next_we, item_re, next_re;
  id_t next_waddr, next_wdata, next_raddr;
  gs_ram_sdp #(.Width($bits(item_t)), .Depth(Entries)) u_items (
    .clk_i, .we_i(item_we), .wstrb_i(1'b1), .waddr_i(new_id), .wdata_i(item_t'{new_i, new_data_i, new_stamp_i}),
    .re_i(item_re), .raddr_i(at_q), .rdata_o(item)
  );
  gs_ram_sdp #(.Width(IdW), .Depth(Entries)) u_next (
    .clk_i, .we_i(next_we), .wstrb_i(1'b1), .waddr_i(next_waddr), .wdata_i(next_wdata),
    .re_i(next_re), .raddr_i(next_raddr), .rdata_o(next)
  );

  // -------------------------------------------------------------- search
  assign fit = any_i || (by_name_i ? NameW'(item_q.data) == name_i : fits(key_i, item_q.entry));
  assign last = at_q == tail_q;
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Rest: if (search_i && some) state_d = Read;
      Read: state_d = Fetch;
      Fetch: state_d = Compare;
      default: state_d = (fit || last) ? Rest : Read;
    endcase
  end
  assign done_o        = state_q == Rest;
  assign found_o       = found_q;
  assign found_entry_o = item_q.entry;
  assign found_data_o  = item_q.data;
  assign found_stamp_o = item_q.stamp;
  assign item_re       = state_q == Read;

  // -------------------------------------------------------------- changes
  always_comb begin
    item_we    = insert_i && !second_i;
    next_we    = 1'b0;
    next_waddr = tail_q;
    next_wdata = new_id;
    next_re    = state_q == Read || (insert_i && !second_i);
    next_raddr = (state_q == Read) ? at_q : free_q;
    if (insert_i && !second_i) next_we = some;
    if (remove_i && !second_i) begin
      // Unlinks it; the first and last entries lack one neighbour.
      next_we    = at_q != head_q && at_q != tail_q;
      next_waddr = prev_q;
      next_wdata = next_q;
    end
    if (remove_i && second_i) begin
      next_we    = 1'b1;
      next_waddr = at_q;
      next_wdata = free_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Rest;
      count_q <= '0;
      fresh_q <= '0;
    end else begin
      state_q <= state_d;
      if (insert_i && second_i) begin
        count_q <= count_q + (IdW + 1)'(1);
        if (fresh) fresh_q <= fresh_q + (IdW + 1)'(1);
      end
      if (remove_i && second_i) count_q <= count_q - (IdW + 1)'(1);
    end
    if (search_i) found_q <= 1'b0;
    else if (state_q == Compare) found_q <= fit;
    if (state_q == Fetch) begin
      item_q <= item;
      next_q <= next;
    end
    if (state_q == Rest && search_i) at_q <= head_q;
    else if (state_q == Compare && !fit && !last) begin
      prev_q <= at_q;
      at_q   <= next_q;
    end
    if (insert_i && second_i) begin
      tail_q <= new_id;
      if (!some) head_q <= new_id;
      if (!fresh) free_q <= next;
    end
    if (remove_i && second_i) begin
      free_q <= at_q;
      if (at_q == head_q) head_q <= next_q;
      if (at_q == tail_q) tail_q <= prev_q;
    end
  end

  `GS_ASSERT_NOW(insert_only_if_not_full, !insert_i || second_i || !full_o)
  `GS_ASSERT_NOW(removed_entry_was_found, !remove_i || found_q && some)
  `GS_ASSERT_NOW(no_change_during_search, state_q == Rest || !(insert_i || remove_i))
  `GS_ASSERT_NOW(item_is_not_read_while_it_is_written, !u_items.collides)
  // The successor of an entry that is not yet in the list of free ones is read without effect.
  `GS_ASSERT_NOW(searched_link_is_defined, !(u_next.undefined && state_q == Fetch))
  `GS_ASSERT_NOW(next_free_entry_is_defined, !(u_next.undefined && insert_i && second_i && !fresh))
endmodule
