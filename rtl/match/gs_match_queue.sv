// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// One queue of a two-level match engine: a CAM with the oldest entries, followed by linked lists.
///
/// New entries are distributed round-robin to the lists, which are searched in parallel. With several lists each entry
/// has a stamp, and a tournament, one round per cycle, selects the oldest of the lists' matches. So the order is kept,
/// whatever was removed from which list. The data mover moves the oldest entry of all lists into the CAM: the same
/// search, for any entry.
///
///     search_i ... result_o      with the match; remove_i in the same cycle removes it
///     insert_i                   a new entry, the youngest, if can_insert_o
///     move_i                     the data mover, if can_move_o
///
/// Each starts only while idle_o.
module gs_match_queue
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  parameter int unsigned CamEntries = 16,
  /// lists, a power of two
  parameter int unsigned Lists      = 1,
  /// entries of all lists together, a power of two
  parameter int unsigned Entries    = 256,
  parameter int unsigned StampW     = 48,
  parameter type         data_t     = logic [40:0],
  parameter int unsigned NameW      = 32,
  /// 0: the CAM is never searched by name
  parameter bit          Named      = 1'b1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  // The CAM samples these in the cycle of search_i, lists later: they must be stable
  input  logic             search_i,
  input  match_search_t    key_i,
  input  logic             by_name_i,
  input  logic [NameW-1:0] name_i,
  input  logic             remove_i,
  input  logic             insert_i,
  input  match_search_t    new_i,
  input  data_t            new_data_i,
  input  logic             move_i,
  output logic             can_move_o,
  output logic             can_insert_o,
  output logic             idle_o,
  output logic             result_o,
  output logic             found_o,
  output match_key_t       found_key_o,
  output data_t            found_data_o,
  /// no free entry
  output logic             full_o,
  output logic [31:0]      count_o
);
  localparam int unsigned ListW = (Lists > 1) ? $clog2(Lists) : 1;
  localparam int unsigned Depth = Entries / Lists;
  localparam int unsigned Rounds = $clog2(Lists);
  localparam int unsigned UsedW = (Lists > 1) ? StampW : 0;
  localparam int unsigned StampsW = (UsedW == 0) ? 1 : UsedW;
  if (Lists < 1 || (Lists & (Lists - 1)) != 0 || Depth < 2) begin : gen_illegal_lists
    $fatal(1, "gs_match_queue: Lists is %0d; it must be a power of two, and at most half of Entries (%0d)", Lists,
           Entries);
  end

  typedef logic [StampsW-1:0] stamp_t;
  typedef struct packed {
    logic             found;
    stamp_t           stamp;
    logic [ListW-1:0] list;
  } player_t;
  typedef enum logic [2:0] {Rest, Select, Cam, Search, Rank, Found, Second, Transfer} state_e;

  state_e state_q, state_d;
  logic moving_q, removing_q, lists_begun_q;
  logic cam_found, cam_full, cam_remove, cam_insert, lists_empty, all_full;
  match_key_t cam_key;
  data_t cam_data, list_data, cam_new_data;
  match_search_t list_entry, cam_new;
  logic [31:0] count_q;
  logic count_up, count_down;
  logic [ListW-1:0] next_list_q, winner;
  stamp_t stamp_q;

  gs_match_cam #(.Entries(CamEntries), .data_t(data_t), .NameW(NameW), .Named(Named)) u_cam (
    .clk_i,
    .rst_ni,
    .search_i    (state_q == Rest),
    .key_i,
    .by_name_i,
    .name_i,
    .select_i    (state_q == Select),
    .will_find_o (),
    .found_o     (cam_found),
    .found_key_o (cam_key),
    .found_data_o(cam_data),
    .remove_i    (cam_remove),
    .insert_i    (cam_insert),
    .new_i       (cam_new),
    .new_data_i  (cam_new_data),
    .full_o      (cam_full)
  );

  // --------------------------------------------------------------- lists
  logic [Lists-1:0] l_full, l_empty, l_done, l_found;
  match_search_t l_entry[Lists];
  data_t l_data[Lists];
  stamp_t l_stamp[Lists];
  logic list_search, list_insert, list_remove, list_second;
  for (genvar l = 0; l < Lists; l++) begin : gen_list
    gs_match_list #(.Entries(Depth), .StampW(UsedW), .data_t(data_t), .NameW(NameW)) u_list (
      .clk_i,
      .rst_ni,
      .full_o       (l_full[l]),
      .empty_o      (l_empty[l]),
      .search_i     (list_search),
      .key_i,
      .by_name_i,
      .name_i,
      .any_i        (moving_q),
      .done_o       (l_done[l]),
      .found_o      (l_found[l]),
      .found_entry_o(l_entry[l]),
      .found_data_o (l_data[l]),
      .found_stamp_o(l_stamp[l]),
      .remove_i     (list_remove && winner == ListW'(l)),
      .insert_i     (list_insert && next_list_q == ListW'(l)),
      .second_i     (list_second),
      .new_i,
      .new_data_i,
      .new_stamp_i  (stamp_q)
    );
  end
  assign lists_empty = &l_empty;
  assign all_full    = &l_full;
  assign list_entry  = l_entry[winner];
  assign list_data   = l_data[winner];

  // ---------------------------------------------------------- tournament
  logic any_list, ranked;
  if (Lists == 1) begin : gen_one
    assign winner   = '0;
    assign any_list = l_found[0];
    assign ranked   = 1'b1;
    logic unused_stamp;
    assign unused_stamp = ^l_stamp[0];
  end else begin : gen_many
    player_t player_q[Lists];
    logic [$clog2(Rounds+1)-1:0] round_q;
    function automatic player_t better(player_t a, player_t b);
      return (!b.found || (a.found && a.stamp < b.stamp)) ? a : b;
    endfunction
    always_ff @(posedge clk_i) begin
      if (state_q == Search) begin
        for (int unsigned l = 0; l < Lists; l++) begin
          player_q[l] <= '{found: l_found[l], stamp: l_stamp[l], list: ListW'(l)};
        end
        round_q <= '0;
      end else if (state_q == Rank && !ranked) begin
        for (int unsigned l = 0; l < Lists / 2; l++) player_q[l] <= better(player_q[2*l], player_q[2*l+1]);
        round_q <= round_q + ($bits(round_q))'(1);
      end
    end
    assign ranked   = 32'(round_q) == Rounds;
    assign winner   = player_q[0].list;
    assign any_list = player_q[0].found;
  end

  // -------------------------------------------------------------- control
  logic to_cam;
  // While lists have entries, only the data mover inserts into the CAM.
  assign to_cam       = lists_empty && !cam_full;
  assign full_o       = !to_cam && all_full;
  assign can_insert_o = to_cam || !l_full[next_list_q];
  assign can_move_o   = !lists_empty && !cam_full;
  assign idle_o       = state_q == Rest;
  assign result_o     = state_q == Found || (state_q == Cam && (cam_found || lists_empty));
  assign found_o      = (state_q == Cam) ? cam_found : any_list;
  assign found_key_o  = (state_q == Cam) ? cam_key : list_entry.key;
  assign found_data_o = (state_q == Cam) ? cam_data : list_data;
  assign cam_new      = (state_q == Transfer) ? list_entry : new_i;
  assign cam_new_data = (state_q == Transfer) ? list_data : new_data_i;

  always_comb begin
    state_d     = state_q;
    list_search = 1'b0;
    list_insert = 1'b0;
    list_remove = 1'b0;
    list_second = 1'b0;
    cam_remove  = 1'b0;
    cam_insert  = 1'b0;
    unique case (state_q)
      Rest: begin
        if (search_i) state_d = Select;
        if (move_i) state_d = Search;
        if (insert_i) begin
          cam_insert  = to_cam;
          list_insert = !to_cam;
          if (!to_cam) state_d = Second;
        end
      end
      Select: state_d = Cam;
      Cam: begin
        state_d    = (cam_found || lists_empty) ? Rest : Search;
        cam_remove = cam_found && remove_i;
      end
      Search: begin
        list_search = !lists_begun_q;
        if (lists_begun_q && (&l_done)) state_d = Rank;
      end
      Rank: if (ranked) state_d = moving_q ? Transfer : Found;
      Found: begin
        state_d     = Rest;
        list_remove = remove_i && any_list;
        if (list_remove) state_d = Second;
      end
      Transfer: begin
        cam_insert  = 1'b1;
        list_remove = 1'b1;
        state_d     = Second;
      end
      Second: begin
        list_second = 1'b1;
        list_remove = removing_q;
        list_insert = !removing_q;
        state_d     = Rest;
      end
      default: state_d = Rest;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q     <= Rest;
      next_list_q <= '0;
      stamp_q     <= '0;
      count_q     <= '0;
    end else begin
      state_q <= state_d;
      count_q <= count_q + 32'(count_up) - 32'(count_down);
      if (list_insert && list_second) stamp_q <= stamp_q + stamp_t'(1);
      // Full lists are skipped.
      if (Lists > 1 && (list_second ? list_insert : l_full[next_list_q] && state_q == Rest && !insert_i)) begin
        next_list_q <= next_list_q + ListW'(1);
      end
    end
    lists_begun_q <= state_q == Search;
    removing_q    <= list_remove;
    if (state_q == Rest) moving_q <= move_i;
  end

  // Counts the whole queue: during a move, counts of each level would include the entry twice or not at all.
  assign count_up   = (cam_insert && state_q == Rest) || (list_insert && list_second);
  assign count_down = cam_remove || (list_remove && list_second && !moving_q);
  assign count_o    = count_q;

  logic unused;
  assign unused = ^{list_entry.posts, list_entry.any_source, list_entry.any_tag};

  `GS_ASSERT_NOW(one_operation_at_a_time, $onehot0({search_i, insert_i, move_i}))
  `GS_ASSERT_NOW(starts_only_while_idle, state_q == Rest || !(search_i || insert_i || move_i))
endmodule
