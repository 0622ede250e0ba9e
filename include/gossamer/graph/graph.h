// SPDX-License-Identifier: Apache-2.0
/// Graph files and generators: the C interface of the library's graph part.
///
/// Every function that returns `int` returns 0, or GS_FAILED with the message in
/// gs_last_error(): one line, "path:line: what; what to do". The caller allocates
/// all arrays, after a call that returns their sizes. Results are independent of
/// the number of threads.
#pragma once

#include "gossamer/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Text formats that the parser reads.
enum gs_graph_format {
  GS_EDGE_LIST = 1,      // SNAP and plain lists: source target [weight]
  GS_MATRIX_MARKET = 2,  // coordinate or array
  GS_METIS = 3,          // .graph: line i lists the neighbours of vertex i
  GS_DIMACS = 4,         // .gr: "p sp N M", then "a U V W"
};

/// Flags of gs_graph_parser_open.
#define GS_READ_UNDIRECTED 1u  // store every edge in both directions, a self-loop once
#define GS_READ_PART 4u        // the text has only some of the lines after the header: their number is not checked
#define GS_READ_REST 8u     // with GS_READ_PART: the first line of an edge list is read for its columns, but is no edge
#define GS_READ_CERTAIN 2u  // the format is certain: accept an edge list that may be a list of neighbours

/// The kind of vertex labels.
enum gs_label_kind {
  GS_LABELS_NONE = 0,    // index + base
  GS_LABELS_NUMBER = 1,  // int64, ascending
  GS_LABELS_STRING = 2,  // UTF-8, in the order of first appearance
};

/// The result of gs_graph_parser_finish: the sizes of the arrays to allocate.
struct gs_graph_shape {
  uint64_t vertices;
  uint64_t edges;               // directed edges to store
  uint64_t entries;             // edges in the file
  uint64_t label_bytes;         // of the label text, for GS_LABELS_STRING
  uint64_t announced_vertices;  // from a "# Nodes: N Edges: M" comment, or 0; of a part of a METIS file: its rows
  uint64_t announced_edges;
  uint64_t announced_line;
  uint64_t first_line;  // of an edge list: the line that determined its columns
  int32_t weight_type;  // enum gs_type: GS_NONE, GS_I32, GS_I64 or GS_F64
  int32_t label_kind;   // enum gs_label_kind
  int32_t base;         // label of vertex 0 if there is no label array
  uint32_t flags;       // GS_GRAPH_SYMMETRIC
  uint32_t notes;       // GS_NOTE_*
};
#define GS_NOTE_HEADING 1u     // the words of the first line occur on no other line
#define GS_NOTE_COUNTS 2u      // the first line may state the numbers of vertices and edges
#define GS_NOTE_UNDIRECTED 4u  // a comment states that the graph is undirected

/// Starts to read one file. `path` is its name in messages. threads = 0: all cores.
int gs_graph_parser_open(const char* path, int format, unsigned flags, int threads, void** parser);
/// Chooses the columns of an edge list, before its text: "SOURCE,TARGET[,WEIGHT]", numbers from 1, or names in its
/// first line.
int gs_graph_parser_columns(void* parser, const char* columns);
/// Passes the next piece of text; it may end anywhere. Copies what it needs.
/// Fails as soon as an error is known; finish then reports the first error of the file.
int gs_graph_parser_feed(void* parser, const char* text, size_t length);
/// Ends the text. Checks the counts and returns the sizes.
int gs_graph_parser_finish(void* parser, struct gs_graph_shape* shape);
/// Fills offsets[vertices + 1], targets[edges], weights[edges] (NULL without),
/// and the labels: numbers[vertices], or starts[vertices + 1] and text[label_bytes],
/// where label i is text[starts[i]] .. text[starts[i + 1] - 2], a newline on
/// either side. May be called once; frees what was read as it proceeds.
int gs_graph_parser_build(void* parser, uint64_t* offsets, uint32_t* targets, void* weights, int64_t* numbers,
                          uint64_t* starts, char* text);
/// Frees everything; stops threads. May be called at any time.
void gs_graph_parser_close(void* parser);

/// Sets a flag for this thread: later calls return GS_INTERRUPTED when *flag is not 0. NULL: no flag. Signals
/// interrupt the process's main thread in any case.
void gs_graph_stop_at(const int* flag);

/// The number of items that all calls so far have read, on all threads: bytes of text, edges, vertices, or lists. Shows
/// on any machine whether the work grows with the number of threads.
uint64_t gs_graph_work(void);

/// Reverses every edge: rows ascending, parallel edges in the order of their weights.
int gs_graph_transpose(uint64_t vertices, uint64_t edges, const uint64_t* offsets, const uint32_t* targets,
                       const void* weights, int weight_type, int threads, uint64_t* new_offsets, uint32_t* new_targets,
                       void* new_weights);

/// Sorts each row by (target, weight), in place.
int gs_graph_sort(uint64_t vertices, const uint64_t* offsets, uint32_t* targets, void* weights, int weight_type,
                  int threads);

#define GS_SIMPLIFY_PARALLEL 1u  // of parallel edges keep only the lightest
#define GS_SIMPLIFY_LOOPS 2u     // drop self-loops

/// Removes edges in place (rows must be ascending); sets `edges` to the new count.
int gs_graph_simplify(uint64_t vertices, uint64_t* offsets, uint32_t* targets, void* weights, int weight_type,
                      unsigned what, uint64_t* edges);

/// Adds the reverse of every edge, but not of self-loops: offsets and targets of the
/// result, whose edge count is 2 * edges - loops.
int gs_graph_symmetrise(uint64_t vertices, uint64_t edges, const uint64_t* offsets, const uint32_t* targets,
                        const void* weights, int weight_type, int threads, uint64_t* new_offsets, uint32_t* new_targets,
                        void* new_weights);

/// Statistics of a graph.
struct gs_graph_census {
  uint64_t loops;     // edges from a vertex to itself
  uint64_t parallel;  // duplicates of an edge with the same ends
  uint64_t isolated;  // vertices without edges
  uint64_t sinks;     // vertices without out-edges
  uint64_t sources;   // vertices without in-edges
  uint64_t most_out;  // largest out-degree, and its vertex
  uint64_t most_out_vertex;
  uint64_t most_in;
  uint64_t most_in_vertex;
};

/// Checks a CSR (offsets ascending and in bounds, targets in range, rows
/// ascending; names the vertex on failure) and counts.
int gs_graph_count(uint64_t vertices, uint64_t edges, const uint64_t* offsets, const uint32_t* targets,
                   struct gs_graph_census* census);

/// Checks a CSR as gs_graph_count does, on all threads, without counting.
int gs_graph_check_rows(uint64_t vertices, uint64_t edges, const uint64_t* offsets, const uint32_t* targets,
                        int threads);

/// Fails, naming the edge, if an edge has no reverse of the same weight.
int gs_graph_check_symmetric(uint64_t vertices, const uint64_t* offsets, const uint32_t* targets, const void* weights,
                             int weight_type, int threads, uint64_t* vertex, uint64_t* other);

/// The vertices in the order in which a sequential search from `source` visits them, and the tree that it builds, from
/// known distances: `type` is GS_I64 (-1 is unreached) or GS_F64 (infinity is unreached), of `weights` too. Weights are
/// at least 0; NULL: all 1. Rows are in the order of the search, and need not ascend. order[vertices] is filled up to
/// *reached; previous[vertices] has 0xffffffff for the source and unreached vertices.
int gs_graph_search_order(uint64_t vertices, const uint64_t* offsets, const uint32_t* targets, const void* weights,
                          int type, const void* distances, uint32_t source, uint32_t* order, uint32_t* previous,
                          uint64_t* reached);

/// Geometric random graph: `vertices` tasks at random positions in the unit square,
/// numbered band by band; each has edges to `fanout` others, drawn without
/// repetition from those within `radius` (to all of them if they are fewer).
/// Fills offsets; then pass *state to gs_graph_generated for the targets.
int gs_graph_geometric(uint64_t vertices, uint32_t fanout, double radius, int shuffle, uint64_t seed, int threads,
                       uint64_t* offsets, void** state);
/// Recursive matrix (RMAT): 2^scale vertices, `edges` edges, their numbers permuted
/// if `permute`. Parallel edges and self-loops are kept. Fills offsets.
int gs_graph_rmat(uint32_t scale, uint64_t edges, double a, double b, double c, int permute, uint64_t seed, int threads,
                  uint64_t* offsets, void** state);
/// Fills the targets and frees the state; targets == NULL only frees.
int gs_graph_generated(void* state, uint32_t* targets);
/// Grid of width x height vertices, vertex y * width + x, each joined to its
/// four neighbours in both directions: offsets[width * height + 1] and targets
/// [2 * (width - 1) * height + 2 * width * (height - 1)].
int gs_graph_grid(uint64_t width, uint64_t height, uint64_t* offsets, uint32_t* targets);
/// Random integer weights in [low, high], a function of the seed and the edge's ends
/// (and independent of the direction if `symmetric`).
int gs_graph_random_weights(uint64_t vertices, const uint64_t* offsets, const uint32_t* targets, int symmetric,
                            int32_t low, int32_t high, uint64_t seed, int threads, int32_t* weights);

/// Parts of these graphs, for a process that has only some of their vertices or edges: the rows of the vertices first
/// .. first + count - 1 (offsets[count + 1] from 0), and the edges first .. first + count - 1 of an RMAT graph, in no
/// order. The positions of the vertices of a geometric graph are drawn once, by gs_graph_geometric_layout; the end of
/// *layout is gs_graph_geometric_free.
int gs_graph_geometric_layout(uint64_t vertices, uint32_t fanout, double radius, int shuffle, uint64_t seed,
                              int threads, void** layout);
int gs_graph_geometric_free(void* layout);
int gs_graph_geometric_rows(const void* layout, uint64_t first, uint64_t count, uint64_t* offsets, void** state);
int gs_graph_grid_rows(uint64_t width, uint64_t height, uint64_t first, uint64_t count, uint64_t* offsets,
                       uint32_t* targets);
int gs_graph_rmat_edges(uint32_t scale, double a, double b, double c, int permute, uint64_t seed, uint64_t first,
                        uint64_t count, uint32_t* sources, uint32_t* targets);
/// The weights of gs_graph_random_weights for such rows, whose other ends are `ends`; `by_target`: of rows by target.
int gs_graph_edge_weights(uint64_t first, uint64_t count, const uint64_t* offsets, const uint32_t* ends, int by_target,
                          int symmetric, int32_t low, int32_t high, uint64_t seed, int32_t* weights);

/// A graph to be written as text.
struct gs_graph_text {
  uint64_t vertices;
  const uint64_t* offsets;
  const uint32_t* targets;
  const void* weights;     // of weight_type, or NULL
  const int64_t* numbers;  // labels, or NULL
  const uint64_t* starts;  // text labels in the form of gs_graph_parser_build, or NULL
  const char* text;
  int32_t weight_type;
  int32_t base;
  uint32_t flags;  // GS_TEXT_*
};
#define GS_TEXT_ROWS 1u   // METIS: one line of neighbours per vertex; else one line per edge
#define GS_TEXT_LOWER 2u  // only edges whose target index is at most the source's
#define GS_TEXT_ARC 4u    // DIMACS: "a" before each edge, weight 1 for an unweighted graph

/// Writes as much as fits the buffer, starting at (*row, *edge), both 0 at first; complete
/// when *row is the number of vertices.
int gs_graph_format(const struct gs_graph_text* graph, uint64_t* row, uint64_t* edge, char* buffer, size_t capacity,
                    size_t* used);

#ifdef __cplusplus
}
#endif
