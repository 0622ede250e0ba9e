// SPDX-License-Identifier: Apache-2.0
/// Counters that threads print when POLITE_DUMP_STATS is set (PThread::run), into a file.
#pragma once

#include <HostLink.h>
#include <POLite/PDevice.h>
#include <config.h>
#include <gossamer/core/exit_codes.h>
#include <stdio.h>
#include <stdlib.h>

/// Waits for the counters of all threads and writes them to a file. Without POLITE_DUMP_STATS it does nothing.
template <typename Link>
inline void politeSaveStats(Link* hostLink, const char* filename) {
  if (!gossamer::compat::WantsStats<Link, 0>::value) return;
  // Threads print at the end: a line for each cache and each core, with POLITE_COUNT_MSGS one for each thread.
  const uint32_t boards = static_cast<uint32_t>(hostLink->meshXLen * hostLink->meshYLen);
  const uint32_t lines = TinselDCachesPerBoard + TinselCoresPerBoard +
                         (gossamer::compat::WantsMessages<Link, 0>::value ? TinselThreadsPerBoard : 0);
  FILE* file = fopen(filename, "wt");
  if (!file) {
    fprintf(stderr, "politeSaveStats: cannot write %s\n", filename);
    exit(GS_EXIT_INPUT);
  }
  hostLink->dumpStdOut(file, boards * lines);
  fclose(file);
}
