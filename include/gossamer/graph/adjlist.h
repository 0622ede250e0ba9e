// SPDX-License-Identifier: Apache-2.0
/// Adjacency lists as text, with labels: a line names a vertex and then the
/// targets of its edges. data/README.md specifies the format.
///
///     # gossamer adjacency list
///     apt libapt-pkg6.0 libc6
///     libapt-pkg6.0 libc6
///     libc6
///
/// The text is read twice: `scan` finds the vertices and counts, then `fill`
/// writes rows and labels directly into the caller's arrays. Both work in
/// slices, so that the caller can show progress and stop in between.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A text being read. It must not change before `close`.
struct gs_adjlist;

/// Opens the `size` bytes at `text`; `path` is their name in error messages
/// (copied). NULL if memory is short, with gs_last_error() set.
struct gs_adjlist* gs_graph_adjlist_open(const char* text, uint64_t size, const char* path);

/// Reads about `budget` more bytes, up to the end of a line; sets `*done` to
/// the number of bytes read in all. The scan is complete when `*done == size`.
/// Returns 0, or a failure with gs_last_error() as "path:line: what; what to do".
int gs_graph_adjlist_scan(struct gs_adjlist* list, uint64_t budget, uint64_t* done);

/// The counts of a complete scan. `label_bytes` is the size of the label block.
void gs_graph_adjlist_counts(const struct gs_adjlist* list, uint64_t* vertices, uint64_t* edges, uint64_t* label_bytes);

/// Fills the caller's arrays, in slices like `scan`; pass the same arrays every time.
/// offsets: vertices + 1. targets: edges, ascending within a row, with
/// duplicates. labels: a line feed, then each label followed by a
/// line feed; label v is
/// labels[label_offsets[v]] .. labels[label_offsets[v + 1] - 2].
/// Vertices are numbered in the order of their lines.
int gs_graph_adjlist_fill(struct gs_adjlist* list, uint64_t budget, uint64_t* done, uint64_t* offsets,
                          uint32_t* targets, uint64_t* label_offsets, char* labels);

/// Frees the reader; NULL is allowed.
void gs_graph_adjlist_close(struct gs_adjlist* list);

#ifdef __cplusplus
}
#endif
