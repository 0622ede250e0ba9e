// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Lists of entries with equal keys in all fields that one class of receives compares: FIFOs found by a hash.
///
/// Class 0 compares rank, communicator, source and tag; class 1 all but the source; class 2 all but the tag; class 3
/// neither. A list is a ring: the `prev` of its first entry is its last. The first entries of all lists of a bin form a
/// chain that starts at the bin. All links are bidirectional, so any entry is removed without a search.
///
///     bins[hash] --> first <===> entry <===> entry      a list (ring)
///                      |chain
///                    first <===> entry                  another list, of the same hash
///
/// A list never holds both receives and messages: an arriving message matches the receives of a list exactly if the
/// message would belong to that list itself.
///
/// The hash is a matrix of secret bits times the key over GF(2): any two keys chosen without knowledge of `seed_i`
/// collide with a probability of 1 / Bins.
///
/// Operations, one at a time; command and key must be stable until the end, and at least one cycle must separate a
/// change from the next operation:
///
///     hash_i                       hashes the key of search_i; a lookup may start in the next cycle
///     lookup_i ... done_o          looks up the list with this key
///     load_i                       reads entry_i; 3 cycles later it may be removed
///     put_i, then second_i         appends entry_i to the list that was looked up, or starts a new list
///     take_i, then second_i        removes the entry that was loaded, or the first of the list that was found
module gs_match_wildcard_lists
  import gossamer_pkg::*;
  import gs_match_pkg::*;
#(
  /// wildcards of its receives: bit 0 any source, bit 1 any tag
  parameter  int unsigned Class   = 0,
  /// entries of the engine, a power of two
  parameter  int unsigned Entries = 64,
  /// bins, a power of two
  parameter  int unsigned Bins    = 128,
  localparam int unsigned IdW     = $clog2(Entries),
  localparam int unsigned BinW    = $clog2(Bins),
  localparam int unsigned SeedW   = $bits(match_key_t) + BinW - 1
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  /// set after reset once all bins are empty
  output logic              ready_o,
  input  logic [SeedW-1:0]  seed_i,
  input  match_search_t     search_i,
  input  logic              hash_i,
  input  logic              lookup_i,
  output logic              done_o,
  /// a list exists; it holds receives rather than messages; its first entry
  output logic              found_o,
  output logic              found_posts_o,
  output logic [IdW-1:0]    found_id_o,
  input  logic              load_i,
  input  logic              put_i,
  input  logic              take_i,
  input  logic              second_i,
  input  logic [IdW-1:0]    entry_i,
  /// whether the new entry is a receive
  input  logic              entry_posts_i
);
  localparam bit HasSource = (Class & 1) == 0;
  localparam bit HasTag = (Class & 2) == 0;
  localparam int unsigned CheckW = 26 + (HasSource ? 16 : 0) + (HasTag ? 32 : 0);

  typedef logic [IdW-1:0] id_t;
  typedef struct packed {
    logic valid;
    id_t  id;
  } link_t;
  // Of the first entry of a list: its predecessor in the chain, either the bin or another first entry
  typedef struct packed {
    logic first_of_list;
    logic first_of_bin;
    id_t  id;
  } back_t;
  typedef struct packed {
    logic              posts;
    logic [CheckW-1:0] key;
  } check_t;
  typedef enum logic [2:0] {Clear, Rest, First, Read, Fetch, Compare} state_e;

  // The fields that this class compares: packed for comparison, with zeros in the gaps for hashing
  function automatic logic [CheckW-1:0] pack(match_key_t key);
    if (HasSource && HasTag) return CheckW'(key);
    if (HasSource) return CheckW'({key.rank, key.communicator, key.source});
    if (HasTag) return CheckW'({key.rank, key.communicator, key.tag});
    return CheckW'({key.rank, key.communicator});
  endfunction
  function automatic match_key_t unpack(logic [CheckW-1:0] check);
    match_key_t key;
    logic [CheckW-1:0] rest;
    key  = '0;
    rest = check;
    if (HasTag) begin
      key.tag = 32'(rest);
      rest    = rest >> 32;
    end
    if (HasSource) begin
      key.source = 16'(rest);
      rest       = rest >> 16;
    end
    {key.rank, key.communicator} = 26'(rest);
    return key;
  endfunction
  function automatic logic [BinW-1:0] hash_of(match_key_t key, logic [SeedW-1:0] seed);
    logic [BinW-1:0] sum;
    for (int unsigned b = 0; b < BinW; b++) sum[b] = ^(key & seed[b+:$bits(match_key_t)]);
    return sum;
  endfunction

  state_e state_q, state_d;
  logic [BinW-1:0] bin_q, clear_q;
  logic [CheckW-1:0] wanted;
  // The entry that was read last: its number, its contents, and the bin's first entry
  id_t at_q, next_q, prev_q, reading_q;
  link_t chain_q, bin_first_q;
  back_t back_q;
  check_t check_q;
  logic found_q, loaded_q, loading_q, hash_loaded_q, alone_q;

  // ------------------------------------------------------------ memories
  // Links are written one cycle after the change. No read occurs before the second cycle after it, and the extra
  // register stage on the path to memory gains some MHz.
  typedef struct packed {
    logic [BinW-1:0] bin;
    link_t bin_data;
    id_t   next, next_data, prev, prev_data, chain, back;
    link_t chain_data;
    back_t back_data;
  } write_t;
  typedef struct packed {
    logic bin, next, prev, chain, back;
  } enables_t;
  write_t write_q;
  enables_t enables_q;
  logic bin_re, bin_we, entry_re, next_we, prev_we, chain_we, back_we, check_we;
  logic [BinW-1:0] bin_waddr;
  link_t bin_rdata, bin_wdata, chain_rdata, chain_wdata;
  id_t entry_raddr, next_waddr, prev_waddr, chain_waddr, back_waddr, next_rdata, next_wdata, prev_rdata, prev_wdata;
  back_t back_rdata, back_wdata;
  check_t check_rdata;

  gs_ram_sdp #(.Width($bits(link_t)), .Depth(Bins)) u_bins (
    .clk_i, .we_i(enables_q.bin), .wstrb_i(1'b1), .waddr_i(write_q.bin), .wdata_i(write_q.bin_data),
    .re_i(bin_re), .raddr_i(bin_q), .rdata_o(bin_rdata)
  );
  gs_ram_sdp #(.Width(IdW), .Depth(Entries)) u_next (
    .clk_i, .we_i(enables_q.next), .wstrb_i(1'b1), .waddr_i(write_q.next), .wdata_i(write_q.next_data),
    .re_i(entry_re), .raddr_i(entry_raddr), .rdata_o(next_rdata)
  );
  gs_ram_sdp #(.Width(IdW), .Depth(Entries)) u_prev (
    .clk_i, .we_i(enables_q.prev), .wstrb_i(1'b1), .waddr_i(write_q.prev), .wdata_i(write_q.prev_data),
    .re_i(entry_re), .raddr_i(entry_raddr), .rdata_o(prev_rdata)
  );
  gs_ram_sdp #(.Width($bits(link_t)), .Depth(Entries)) u_chain (
    .clk_i, .we_i(enables_q.chain), .wstrb_i(1'b1), .waddr_i(write_q.chain), .wdata_i(write_q.chain_data),
    .re_i(entry_re), .raddr_i(entry_raddr), .rdata_o(chain_rdata)
  );
  gs_ram_sdp #(.Width($bits(back_t)), .Depth(Entries)) u_back (
    .clk_i, .we_i(enables_q.back), .wstrb_i(1'b1), .waddr_i(write_q.back), .wdata_i(write_q.back_data),
    .re_i(entry_re), .raddr_i(entry_raddr), .rdata_o(back_rdata)
  );
  gs_ram_sdp #(.Width($bits(check_t)), .Depth(Entries)) u_check (
    .clk_i, .we_i(check_we), .wstrb_i(1'b1), .waddr_i(entry_i), .wdata_i(check_t'{entry_posts_i, wanted}),
    .re_i(entry_re), .raddr_i(entry_raddr), .rdata_o(check_rdata)
  );

  // -------------------------------------------------------------- lookup
  // The next list of the chain is read while this one is compared: two cycles per list. A register separates the output
  // of one memory from the address of the next; without it the path would exceed 10 ns.
  logic equal, captures;
  assign wanted = pack(search_i.key);
  assign equal  = check_q.key == wanted;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Clear: if (clear_q == '1) state_d = Rest;
      Rest: if (lookup_i) state_d = First;
      First: state_d = Read;
      Read: state_d = bin_first_q.valid ? Fetch : Rest;
      Fetch: state_d = Compare;
      Compare: state_d = (equal || !chain_q.valid) ? Rest : Fetch;
      default: state_d = Rest;
    endcase
  end
  assign captures = state_q == Fetch || loading_q;
  assign bin_re   = state_q == Rest && lookup_i;
  assign entry_re = state_q inside {Read, Compare} || load_i;
  always_comb begin
    entry_raddr = chain_q.id;
    if (state_q == Read) entry_raddr = bin_first_q.id;
    if (load_i) entry_raddr = entry_i;
  end
  assign ready_o = state_q != Clear;
  assign done_o  = state_q == Rest;
  assign found_o = found_q;
  assign found_posts_o = check_q.posts;
  assign found_id_o    = at_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q       <= Clear;
      clear_q       <= '0;
      loading_q     <= 1'b0;
      hash_loaded_q <= 1'b0;
      enables_q     <= '0;
    end else begin
      state_q       <= state_d;
      loading_q     <= load_i;
      hash_loaded_q <= loading_q;
      enables_q     <= '{bin: bin_we, next: next_we, prev: prev_we, chain: chain_we, back: back_we};
      if (state_q == Clear) clear_q <= clear_q + BinW'(1);
    end
    write_q <= '{
      bin: bin_waddr, bin_data: bin_wdata, next: next_waddr, next_data: next_wdata, prev: prev_waddr,
      prev_data: prev_wdata, chain: chain_waddr, chain_data: chain_wdata, back: back_waddr, back_data: back_wdata
    };
    alone_q <= next_q == at_q;
    if (hash_i || hash_loaded_q) begin
      bin_q <= hash_of(hash_loaded_q ? unpack(check_q.key) : unpack(wanted), seed_i);
    end
    if (entry_re) reading_q <= entry_raddr;
    if (captures) begin
      at_q    <= reading_q;
      next_q  <= next_rdata;
      prev_q  <= prev_rdata;
      chain_q <= chain_rdata;
      back_q  <= back_rdata;
      check_q <= check_rdata;
    end
    if (state_q == Rest && lookup_i) found_q <= 1'b0;
    if (state_q == First) bin_first_q <= bin_rdata;
    if (state_q == Compare) found_q <= equal;
    if (load_i) loaded_q <= 1'b1;
    else if (lookup_i) loaded_q <= 1'b0;
  end

  // -------------------------------------------------------------- changes
  // The entry is the first of its list; `alone_q`, one cycle after the read: it is also the only one.
  logic is_first;
  assign is_first = back_q.first_of_list;

  always_comb begin
    bin_we      = 1'b0;
    bin_waddr   = bin_q;
    bin_wdata   = '{1'b1, entry_i};
    next_we     = 1'b0;
    next_waddr  = entry_i;
    next_wdata  = entry_i;
    prev_we     = 1'b0;
    prev_waddr  = entry_i;
    prev_wdata  = entry_i;
    chain_we    = 1'b0;
    chain_waddr = entry_i;
    chain_wdata = bin_first_q;
    back_we     = 1'b0;
    back_waddr  = entry_i;
    back_wdata  = '{first_of_list: !found_q, first_of_bin: 1'b1, id: at_q};
    check_we    = 1'b0;
    if (state_q == Clear) begin
      bin_we    = 1'b1;
      bin_waddr = clear_q;
      bin_wdata = '0;
    end
    if (put_i && !second_i) begin
      next_we  = 1'b1;
      prev_we  = 1'b1;
      back_we  = 1'b1;
      check_we = 1'b1;
      if (found_q) begin
        next_waddr = prev_q;
        prev_wdata = prev_q;
      end else begin
        chain_we = 1'b1;
        bin_we   = 1'b1;
      end
    end
    if (put_i && second_i) begin
      if (found_q) begin
        next_we    = 1'b1;
        next_wdata = at_q;
        prev_we    = 1'b1;
        prev_waddr = at_q;
      end else begin
        back_we    = bin_first_q.valid;
        back_waddr = bin_first_q.id;
        back_wdata = '{first_of_list: 1'b1, first_of_bin: 1'b0, id: entry_i};
      end
    end
    if (take_i && !second_i) begin
      next_waddr  = prev_q;
      next_wdata  = next_q;
      prev_waddr  = next_q;
      prev_wdata  = prev_q;
      back_wdata  = '{first_of_list: 1'b1, first_of_bin: back_q.first_of_bin, id: back_q.id};
      chain_wdata = chain_q;
      if (is_first && alone_q) begin
        bin_we      = back_q.first_of_bin;
        bin_wdata   = chain_q;
        chain_we    = !back_q.first_of_bin;
        chain_waddr = back_q.id;
        back_we     = chain_q.valid;
        back_waddr  = chain_q.id;
      end else begin
        next_we = 1'b1;
        prev_we = 1'b1;
        if (is_first) begin
          bin_we      = back_q.first_of_bin;
          bin_wdata   = '{1'b1, next_q};
          chain_we    = 1'b1;
          chain_waddr = next_q;
          back_we     = 1'b1;
          back_waddr  = next_q;
        end
      end
    end
    if (take_i && second_i && is_first && !alone_q) begin
      chain_we    = !back_q.first_of_bin;
      chain_waddr = back_q.id;
      chain_wdata = '{1'b1, next_q};
      back_we     = chain_q.valid;
      back_waddr  = chain_q.id;
      back_wdata  = '{first_of_list: 1'b1, first_of_bin: 1'b0, id: next_q};
    end
  end

  logic unused;
  assign unused = ^{search_i.posts, search_i.any_source, search_i.any_tag, loaded_q};

  `GS_ASSERT_NOW(one_operation_at_a_time, $onehot0({lookup_i, load_i, put_i, take_i}))
  `GS_ASSERT_NOW(no_operation_during_lookup, state_q == Rest || !(lookup_i || load_i || put_i || take_i))
  `GS_ASSERT_NOW(no_read_during_write, !(lookup_i || load_i) || enables_q == '0)
  `GS_ASSERT_NOW(removed_entry_was_found, !take_i || found_q || loaded_q)
  `GS_ASSERT_NOW(bin_is_not_read_while_it_is_written, !u_bins.collides)
  `GS_ASSERT_NOW(links_are_not_read_while_they_are_written,
                 !(u_next.collides || u_prev.collides || u_chain.collides || u_back.collides))
  `GS_ASSERT_NOW(key_is_not_read_while_it_is_written, !u_check.collides)
endmodule
