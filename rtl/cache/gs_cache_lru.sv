// SPDX-License-Identifier: Apache-2.0

/// Pseudo-LRU of one set, as a binary tree: the bit at each node selects the older half.
///
///             b0                 bit n has children 2n+1 and 2n+2; 1 = the older half is to the right
///          b1    b2
///         0 1    2 3   ways
module gs_cache_lru #(
  /// ways, a power of two, 1 to 16
  parameter  int unsigned Ways  = 4,
  /// bits of the tree and of a way's number; not to be set
  localparam int unsigned TreeW = (Ways > 1) ? Ways - 1 : 1,
  localparam int unsigned WayW  = (Ways > 1) ? $clog2(Ways) : 1
) (
  input  logic [TreeW-1:0] tree_i,
  /// the way to replace
  output logic [WayW-1:0]  oldest_o,
  /// the way that is accessed
  input  logic [WayW-1:0]  used_i,
  /// the tree after that access
  output logic [TreeW-1:0] tree_o
);
  if (Ways < 2) begin : gen_one
    assign oldest_o = '0;
    assign tree_o   = '0;
    logic unused;
    assign unused = ^{tree_i, used_i};
  end else begin : gen_tree
    // At each level the decisions so far are the node's number: 1 at the root, then 2n or 2n+1.
    logic [WayW:0] walk, touch;
    always_comb begin
      walk = (WayW + 1)'(1);
      for (int unsigned level = 0; level < WayW; level++) begin
        walk = {walk[WayW-1:0], tree_i[WayW'(walk-(WayW+1)'(1))]};
      end
    end
    assign oldest_o = walk[WayW-1:0];

    always_comb begin
      touch  = (WayW + 1)'(1);
      tree_o = tree_i;
      for (int unsigned level = 0; level < WayW; level++) begin
        tree_o[WayW'(touch-(WayW+1)'(1))] = !used_i[WayW-1-level];
        touch = {touch[WayW-1:0], used_i[WayW-1-level]};
      end
    end
    logic unused;
    assign unused = ^{walk[WayW], touch[WayW]};
  end
endmodule
