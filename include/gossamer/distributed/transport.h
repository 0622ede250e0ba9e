// SPDX-License-Identifier: Apache-2.0
/// The interface to MPI of the `distributed` engine, of simulators on several ranks (sim/host/ranks.h) and of the
/// emulator of streams (src/smi/processes.cc), as a table of functions in a separate library: programs are compiled
/// without MPI, the library (src/distributed/mpi) with the installed MPI implementation.
///
/// Plain C. One thread of each rank calls these functions. Sizes are in bytes and may exceed 2^31.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A word of a reduction: sum, min, max, bitwise or, or sum of doubles, as gossamer::Reduce numbers them.
struct gs_reduced_word {
  int64_t how;
  int64_t word;
};

struct gs_ranks {
  int32_t rank;   // number of this rank
  int32_t count;  // number of ranks
  /// Starts to send. The bytes must not change until `sent` returns 1 for the returned request.
  uint64_t (*send)(int to, int tag, const void* bytes, uint64_t size);
  /// Whether a send has completed; its number is then free for another one.
  int (*sent)(uint64_t request);
  /// Whether a message with this tag has arrived from a rank; sets its size. The next `receive` receives it.
  int (*probe)(int from, int tag, uint64_t* size);
  /// As `probe`, for a message from any rank; sets its rank. Messages of one rank arrive in order.
  int (*probe_any)(int tag, int* from, uint64_t* size);
  void (*receive)(void* bytes, uint64_t size);
  /// Starts to reduce words over all ranks, in place. At most one reduction is in progress.
  void (*reduce)(struct gs_reduced_word* words, uint64_t count);
  /// Whether the reduction has completed.
  int (*reduced)(void);
  /// Copies the bytes of a rank to all others. They wait without occupying a processor for long.
  void (*broadcast)(int from, void* bytes, uint64_t size);
  /// Ends all ranks with an exit code.
  void (*abort)(int code);
  void (*leave)(void);
  /// As `send`, but the request completes only after the receiver has begun to receive.
  uint64_t (*send_matched)(int to, int tag, const void* bytes, uint64_t size);
};

/// Joins the other ranks. Null if this process cannot: gs_ranks_problem() is then one line with the reason.
///
/// Ends the process with exit code 2 and such a line on the standard error if the ranks have not met within
/// GOSSAMER_MPI_TIMEOUT seconds (120 by default).
const struct gs_ranks* gs_ranks_join(void);
const char* gs_ranks_problem(void);

/// Name and version of the MPI that the library has loaded, in one line. It may be called before gs_ranks_join().
const char* gs_ranks_mpi(void);

#ifdef __cplusplus
}
#endif
