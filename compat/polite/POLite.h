// SPDX-License-Identifier: Apache-2.0
/// POLite as of Tinsel 0.8.3, for existing programs: PDevice for both parts of a program, PThread for threads (TINSEL),
/// PGraph for hosts. docs/polite-programs.md explains how to build and run such programs.
//
// Macros that a program may set before this header:
//
//   POLITE_NUM_PINS    pins of a device; default 1
//   POLITE_DUMP_STATS  threads print counters at the end, for politeSaveStats
//   POLITE_COUNT_MSGS  in addition, counters of messages
//
// The last two may also be set between two inclusions of this header: a program for threads may include it before the
// header with its device.
#ifndef GOSSAMER_POLITE_H
#define GOSSAMER_POLITE_H

#include <POLite/PDevice.h>

#ifdef TINSEL
#include <POLite/PThread.h>
#else
#include <POLite/Bitmap.h>
#include <POLite/PGraph.h>
#include <POLite/Placer.h>
#include <POLite/ProgRouters.h>
#include <POLite/Stats.h>
#endif

#endif

#if defined(POLITE_DUMP_STATS) && !defined(GOSSAMER_POLITE_STATS)
#define GOSSAMER_POLITE_STATS
template <typename V>
struct gossamer::compat::WantsStats<V, 0> {
  static constexpr bool value = true;
};
#endif
#if defined(POLITE_COUNT_MSGS) && !defined(GOSSAMER_POLITE_MESSAGES)
#define GOSSAMER_POLITE_MESSAGES
template <typename V>
struct gossamer::compat::WantsMessages<V, 0> {
  static constexpr bool value = true;
};
#endif
