// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Proof of gs_match_wildcard_lists: for every sequence of lookups, insertions after a lookup, removals of first
/// entries and removals from any position, a lookup finds the oldest entry with an equal key, if there is one. So no
/// entry is lost, found after its removal, or overtaken. Operations are issued one after the other, with the required
/// cycle in between. Keys of one bin and of two, whatever the secret is.
module prove_class
  import gs_match_pkg::*;
#(
  parameter int unsigned Class   = 0,
  parameter int unsigned Entries = 4
) (
  input logic       clk_i,
  input logic       rst_ni,
  /// an entry is removed, whichever; without a lookup
  input logic       loads_i,
  input logic       puts_i,
  input logic       takes_i,
  input logic       posts_i,
  input logic [1:0] entry_i,
  input logic       source_i,
  input logic       tag_i,
  /// all bits of the secret
  input logic       seed_i
);
  localparam int unsigned SeedW = $bits(match_key_t);
  typedef enum logic [2:0] {Rest, Look, Wait, First, Second, Load, Fetch, Rehash} state_e;
  typedef logic [1:0] id_t;
  typedef logic [3:0] stamp_t;

  state_e state_q, state_d;
  match_search_t search;
  logic source_q, tag_q, seed_q, posts_q, putting_q;
  id_t entry_q, found_id, target, unused_id;
  logic ready, done, found, found_posts, loads, judged, put_go, take_go, source, tag;
  assign source = (state_q == Rest) ? source_i : source_q;
  assign tag    = (state_q == Rest) ? tag_i : tag_q;
  assign search = '{key: '{source: 16'(source), tag: 32'(tag), default: '0}, default: '0};

  gs_match_wildcard_lists #(.Class(Class), .Entries(Entries), .Bins(2)) u_class (
    .clk_i,
    .rst_ni,
    .ready_o      (ready),
    .seed_i       ({SeedW{seed_q}}),
    .search_i     (search),
    .hash_i       (state_q == Rest),
    .lookup_i     (state_q == Look),
    .done_o       (done),
    .found_o      (found),
    .found_posts_o(found_posts),
    .found_id_o   (found_id),
    .load_i       (state_q == Load),
    .put_i        (state_q inside {First, Second} && putting_q),
    .take_i       (state_q inside {First, Second} && !putting_q),
    .second_i     (state_q == Second),
    .entry_i      (entry_q),
    .entry_posts_i(posts_q)
  );

  // ------------------------------------------------- model: by entry, with the order of insertion
  logic [Entries-1:0] in_q, source_of_q, tag_of_q, posts_of_q;
  stamp_t stamp_of_q[Entries], stamp_q;
  logic must_find;
  id_t must;
  always_comb begin
    must_find = 1'b0;
    must      = '0;
    for (int unsigned i = 0; i < Entries; i++) begin
      if (in_q[i] && ((Class & 1) != 0 || source_of_q[i] == source_q) && ((Class & 2) != 0 || tag_of_q[i] == tag_q)
          && (!must_find || stamp_of_q[i] < stamp_of_q[must])) begin
        must_find = 1'b1;
        must      = id_t'(i);
      end
    end
  end

  // A list never holds both receives and messages.
  assign judged  = state_q == Wait && done;
  assign put_go  = judged && puts_i && in_q != '1 && (!must_find || posts_of_q[must] == posts_i);
  assign take_go = judged && !put_go && takes_i && must_find;
  assign target  = put_go ? unused_id : must;
  assign loads   = loads_i && in_q[entry_i];
  always_comb begin
    unused_id = '0;
    for (int i = Entries - 1; i >= 0; i--) if (!in_q[i]) unused_id = id_t'(i);
  end
  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Rest: if (ready) state_d = loads ? Load : Look;
      Look: state_d = Wait;
      Wait: if (done) state_d = (put_go || take_go) ? First : Rest;
      Load: state_d = Fetch;
      Fetch: state_d = Rehash;
      Rehash: state_d = First;
      First: state_d = Second;
      default: state_d = Rest;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Rest;
      in_q    <= '0;
      stamp_q <= '0;
    end else begin
      state_q <= state_d;
      if (put_go) begin
        in_q[target]        <= 1'b1;
        source_of_q[target] <= source_q;
        tag_of_q[target]    <= tag_q;
        posts_of_q[target]  <= posts_i;
        stamp_of_q[target]  <= stamp_q;
        stamp_q             <= stamp_q + stamp_t'(1);
      end
      if (take_go) in_q[must] <= 1'b0;
      if (state_q == Load) in_q[entry_q] <= 1'b0;
    end
    if (!rst_ni) seed_q <= seed_i;
    if (state_q == Rest) begin
      source_q <= source_i;
      tag_q    <= tag_i;
      entry_q  <= entry_i;
    end
    if (judged) begin
      entry_q <= target;
      posts_q <= posts_i;
    end
    if (judged || state_q == Load) putting_q <= put_go;
  end

  `GS_ASSERT_NOW(present_key_is_found, !judged || !must_find || found)
  `GS_ASSERT_NOW(absent_key_is_not_found, !judged || !found || must_find)
  `GS_ASSERT_NOW(oldest_is_found, !judged || !must_find || found_id == must)
  `GS_ASSERT_NOW(found_kind_is_correct, !judged || !must_find || found_posts == posts_of_q[must])
  `GS_ASSERT_NOW(stamps_are_unique, stamp_q != '1)

  // Three entries, since two form no ring with a middle.
  logic one_list;
  assign one_list = (in_q[2:0] == '1) && source_of_q[2:0] inside {'0, '1} && tag_of_q[2:0] inside {'0, '1};
  `GS_COVER_NOW(removal_from_middle_of_list, state_q == Load && one_list
                && entry_q == 2'd1 && stamp_q == 4'd3)
  `GS_COVER_NOW(removal_of_first_of_three, take_go && one_list)
  if (Class != 3) begin : gen_lists
    `GS_COVER_NOW(second_list_of_bin_found, judged && found && !u_class.back_q.first_of_bin)
    `GS_COVER_NOW(second_list_of_bin_removed, state_q == First && !putting_q && u_class.loaded_q
                  && !u_class.back_q.first_of_bin && u_class.back_q.first_of_list && u_class.next_q == u_class.at_q)
  end
endmodule
