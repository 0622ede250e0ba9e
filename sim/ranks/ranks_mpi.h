// SPDX-License-Identifier: Apache-2.0
/// What a simulator asks of MPI, as a table of functions in a library of its own: the simulator itself is built without
/// MPI, and the library with that of the machines at hand. All ranks call the same functions in the same order.
#pragma once

#include <cstdint>

extern "C" {

enum GsReduce { kGsSum = 0, kGsMax = 1, kGsOr = 2 };

struct GsRanks {
  int number, count;  ///< of this rank, and of all
  /// Replaces values by those of all ranks together; `operation` is a GsReduce.
  void (*reduce)(uint64_t* values, int count, int operation);
  /// Gives all ranks the bytes of rank 0. The others wait without keeping a processor busy.
  void (*share)(void* bytes, uint64_t count);
  /// Rank 0 is handed the bytes of every other rank, in their order.
  void (*gather)(const void* bytes, uint64_t count, void* context,
                 void (*take)(void* context, int rank, const uint8_t* bytes, uint64_t count));
  /// Sends `sizes[r]` bytes to each rank with `most[r]` above 0, and gets at most `most[r]` of it; how many is then in
  /// `sizes[r]`.
  void (*swap)(const uint8_t* const* out, uint8_t* const* in, uint64_t* sizes, const uint64_t* most);
  void (*leave)();
};

/// Joins the other ranks; null if MPI does not start.
const GsRanks* gs_ranks_join();
}
