// SPDX-License-Identifier: Apache-2.0
/// A simulator's interface to MPI, as a table of functions in a separate library: the simulator is built without MPI,
/// the library with the installed MPI implementation. All ranks call the same functions in the same order.
#pragma once

#include <cstdint>

extern "C" {

enum GsReduce { kGsSum = 0, kGsMax = 1, kGsOr = 2 };

struct GsRanks {
  int number, count;  ///< number of this rank, number of ranks
  /// Reduces values over all ranks, in place; `operation` is a GsReduce.
  void (*reduce)(uint64_t* values, int count, int operation);
  /// Broadcasts rank 0's bytes. The other ranks wait without occupying a processor.
  void (*share)(void* bytes, uint64_t count);
  /// Passes the bytes of every other rank to rank 0's `take`, in rank order.
  void (*gather)(const void* bytes, uint64_t count, void* context,
                 void (*take)(void* context, int rank, const uint8_t* bytes, uint64_t count));
  /// Exchanges data with each rank r whose `most[r]` is above 0: sends `sizes[r]` bytes, receives at most `most[r]`,
  /// and stores the received number in `sizes[r]`.
  void (*swap)(const uint8_t* const* out, uint8_t* const* in, uint64_t* sizes, const uint64_t* most);
  void (*leave)();
};

/// Joins the other ranks; null if MPI does not start.
const GsRanks* gs_ranks_join();
}
