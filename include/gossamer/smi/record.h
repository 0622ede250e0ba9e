/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings of boards that `./gossamer smi generate --counters` has made: the counters of their streaming ports over
 * time, and their fault reports. `./gossamer smi recorded FILE...` makes statistics, reports and traces of them, and
 * `./gossamer top FILE...` shows them while they grow. Plain C; docs/hardware/stream-top.md describes the use.
 *
 *   static struct gossamer_smi_recorder recorder;
 *   gossamer_smi_record_begin(&recorder, &bus, &gemv_design, file, "b0", 250.0, ranks);
 *   while (kernels_run()) gossamer_smi_record_sample(&recorder);
 *   gossamer_smi_record_end(&recorder);
 *
 * Each sample is one line, which is flushed. Counters have 32 bits and wrap around: take a sample at least every 2^32
 * cycles of the board. A recorder reads reports and counters of its board; nothing else may read these meanwhile. */
#ifndef GOSSAMER_SMI_RECORD_H
#define GOSSAMER_SMI_RECORD_H

#include <gossamer/smi/board.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GOSSAMER_SMI_PORTS = 256, GOSSAMER_SMI_COUNTERS = 7 };

struct gossamer_smi_recorder {
  const struct gossamer_smi_bus* bus;
  const struct gossamer_smi_design* design;
  FILE* file;
  uint64_t cycle; /* since the begin of the recording */
  uint32_t last_cycle;
  uint32_t last[GOSSAMER_SMI_PORTS][GOSSAMER_SMI_COUNTERS];
  uint64_t sums[GOSSAMER_SMI_PORTS][GOSSAMER_SMI_COUNTERS]; /* since the begin of the recording */
};

static inline void gossamer_smi_words_(const struct gossamer_smi_counts* counts, uint32_t* words) {
  words[0] = counts->packets_sent;
  words[1] = counts->packets_received;
  words[2] = counts->beats_sent;
  words[3] = counts->beats_received;
  words[4] = counts->stalled;
  words[5] = counts->empty;
  words[6] = counts->full;
}

/* Starts a recording: counts from now on are recorded. `board` is the board's name in the cluster, without quotes,
 * backslashes and control characters; `clock_mhz` the frequency of aclk, and `ranks` the rank of each slot. Returns 0,
 * or -1: the design has no counters, or the file cannot be written. */
static inline int gossamer_smi_record_begin(struct gossamer_smi_recorder* recorder, const struct gossamer_smi_bus* bus,
                                            const struct gossamer_smi_design* design, FILE* file, const char* board,
                                            double clock_mhz, const unsigned* ranks) {
  unsigned port, slot, at;
  if (!design->counters || design->ports > GOSSAMER_SMI_PORTS) return -1;
  recorder->bus = bus;
  recorder->design = design;
  recorder->file = file;
  recorder->cycle = 0;
  fprintf(file, "{\"recording\": \"gossamer-smi\", \"version\": 1, \"design\": %lu, \"top\": \"%s\", \"board\": \"%s\"",
          (unsigned long)design->number, design->name, board);
  fprintf(file, ", \"clock_mhz\": %.6g, \"ranks\": [", clock_mhz);
  for (slot = 0; slot < design->slots; ++slot) fprintf(file, "%s%u", slot ? ", " : "", ranks[slot]);
  fputs("], \"ports\": [", file);
  for (port = 0; port < design->ports; ++port) {
    const struct gossamer_smi_counts counts = gossamer_smi_read_counts(bus, port);
    fprintf(file, "%s%s", port ? ", " : "", design->streams[port]);
    gossamer_smi_words_(&counts, recorder->last[port]);
    for (at = 0; at < GOSSAMER_SMI_COUNTERS; ++at) recorder->sums[port][at] = 0;
    if (port == 0) recorder->last_cycle = counts.cycle;
  }
  fputs("]}\n", file);
  return fflush(file) == 0 && !ferror(file) ? 0 : -1;
}

/* Records the counters, the status, and the reports that are there; reports are removed from the board, and the first
 * `most` of them are returned in `reports` (which may be null). Returns the number of reports, or -1: the file cannot
 * be written. */
static inline int gossamer_smi_record_reports(struct gossamer_smi_recorder* recorder,
                                              struct gossamer_smi_report* reports, int most) {
  const struct gossamer_smi_design* design = recorder->design;
  struct gossamer_smi_report report;
  unsigned port, at;
  int found = 0;
  fprintf(recorder->file, "{\"status\": %lu, \"ports\": [",
          (unsigned long)recorder->bus->read(recorder->bus->context, GOSSAMER_SMI_STATUS));
  for (port = 0; port < design->ports; ++port) {
    const struct gossamer_smi_counts counts = gossamer_smi_read_counts(recorder->bus, port);
    uint32_t words[GOSSAMER_SMI_COUNTERS];
    gossamer_smi_words_(&counts, words);
    if (port == 0) {
      recorder->cycle += (uint32_t)(counts.cycle - recorder->last_cycle);
      recorder->last_cycle = counts.cycle;
    }
    fputs(port ? ", [" : "[", recorder->file);
    for (at = 0; at < GOSSAMER_SMI_COUNTERS; ++at) {
      recorder->sums[port][at] += (uint32_t)(words[at] - recorder->last[port][at]);
      recorder->last[port][at] = words[at];
      fprintf(recorder->file, "%s%llu", at ? ", " : "", (unsigned long long)recorder->sums[port][at]);
    }
    fputc(']', recorder->file);
  }
  fputs("], \"reports\": [", recorder->file);
  /* Each port has a report of each half at most, so this ends. */
  while (found < 2 * GOSSAMER_SMI_PORTS && gossamer_smi_read_report(recorder->bus, &report)) {
    fprintf(recorder->file,
            "%s{\"rank\": %u, \"port\": %u, \"peer\": %u, \"fault\": %u, \"my_type\": %u, \"their_type\": %u, "
            "\"my_count\": %lu, \"their_count\": %lu, \"my_tag\": %lu, \"their_tag\": %lu}",
            found ? ", " : "", report.rank, report.port, report.peer, report.fault, report.my_type, report.their_type,
            (unsigned long)report.my_count, (unsigned long)report.their_count, (unsigned long)report.my_tag,
            (unsigned long)report.their_tag);
    if (reports && found < most) reports[found] = report;
    ++found;
  }
  fprintf(recorder->file, "], \"cycle\": %llu}\n", (unsigned long long)recorder->cycle);
  return fflush(recorder->file) == 0 && !ferror(recorder->file) ? found : -1;
}

/* The same, where the caller does not need the reports. */
static inline int gossamer_smi_record_sample(struct gossamer_smi_recorder* recorder) {
  return gossamer_smi_record_reports(recorder, 0, 0);
}

/* Records the last sample and the end; the caller closes the file. Returns 0, or -1: the file cannot be written. */
static inline int gossamer_smi_record_end(struct gossamer_smi_recorder* recorder) {
  if (gossamer_smi_record_sample(recorder) < 0) return -1;
  fputs("{\"end\": true}\n", recorder->file);
  return fflush(recorder->file) == 0 && !ferror(recorder->file) ? 0 : -1;
}

#ifdef __cplusplus
}
#endif

#endif
