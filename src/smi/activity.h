// SPDX-License-Identifier: Apache-2.0
/// What kernels, channels, collectives and links do while the RTL carries the channels: sums for statistics and
/// reports, a trace (activity_trace.h), and snapshots for `./gossamer top`. Recording changes no cycle.
///
/// Cycle 0 is the start of the kernels: `now` - 1.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "rtl/fabric.h"
#include "runtime.h"

namespace gossamer::smi {

/// How activity is recorded, as the plan states it (main.cc).
struct ActivityOptions {
  std::string trace;  ///< file of the trace, which appears when it is complete; empty: none
  std::uint64_t leastWait = 24, traceBytes = 64'000'000;
  std::string statusFolder;    ///< of snapshots; empty: none
  std::string about;           ///< members of a snapshot's JSON object that describe the run
  double linkBytes = 0;        ///< that a link sends in a cycle
  unsigned frameOverhead = 0;  ///< bytes of a frame that a link's counters do not include
  std::vector<std::string> boards;
  struct LinkName {
    int board, link;
    std::string name;
  };
  std::vector<LinkName> links;
};
extern ActivityOptions activityOptions;

/// A sum over time, in bins that all series share: their length doubles whenever a run has too many.
class Series {
 public:
  Series();
  Series(const Series&) = delete;
  Series& operator=(const Series&) = delete;

  void add(std::uint64_t cycle, std::uint64_t amount);
  /// Adds an amount for each cycle of [from, to).
  void addEach(std::uint64_t from, std::uint64_t to);
  const std::vector<std::uint64_t>& bins() const { return bins_; }

  static std::uint64_t binCycles();

 private:
  static void coarsen();
  std::vector<std::uint64_t> bins_;
};

/// A kernel, which is a fiber.
struct KernelActivity {
  Fiber* fiber = nullptr;
  std::uint64_t begin = 0, end = 0;
  std::array<std::uint64_t, waitKinds> waits{};  ///< cycles
  Series waiting;                                ///< cycles, of any kind
  /// Cycles by call site and kind.
  struct Place {
    CallSite site;
    WaitKind kind;
    std::uint64_t waits, cycles;
  };
  std::vector<Place> places;
  std::uint32_t track = 0;
  std::uint64_t since = 0;  ///< when the present wait began
  WaitKind kind = WaitKind::none;
};

/// Messages, or the collectives of one rank, at one half of a port.
struct PortActivity {
  std::uint64_t messages = 0, elements = 0;
  std::uint64_t opening = 0;  ///< cycles in which the port did not accept the open of a message
  /// Cycles in which the port did not accept an element that waited, for lack of credits or free space; at a receiver,
  /// cycles in which it had none.
  std::uint64_t stalled = 0;
  std::uint64_t full = 0;  ///< at a receiver: cycles in which the queue to the kernel was full
  // The message in progress
  bool open = false;
  std::uint64_t since = 0;
  std::uint64_t count = 0, done = 0;  ///< its elements
  CallSite site = nullptr;
  std::uint32_t track = 0;
};

/// All messages from one rank to one port of another.
struct ChannelActivity {
  int source = 0, destination = 0, port = 0, type = 0;
  PortActivity sent, received;
  Series delivered;                      ///< elements that have left the receiver's port
  std::deque<std::uint64_t> departures;  ///< cycles of the first elements of messages that have not arrived
  std::uint64_t number = 0;              ///< of the message that arrives next
};

/// The collectives of a rank on a port; a barrier, whose entries are elements.
struct CollectiveActivity {
  int rank = 0, port = 0, kind = 0, type = 0;  ///< `kind` is that of collective.h
  PortActivity pushed, popped;
  Series moved;  ///< elements pushed and popped
  std::uint64_t opened = 0, busy = 0, since = 0;
  std::uint64_t elements = 0;  ///< of the collective in progress
  CallSite site = nullptr;
  std::uint32_t track = 0;
  bool open = false;
};

/// Recording begins, before the first kernel starts. `fabric` outlives the run.
void beginActivity(const GsFabric& fabric);
/// No more is recorded, and no trace written: the process's memory may be damaged.
void dropActivity();
/// One cycle has passed.
void activityCycle();

/// A kernel starts, and ends.
KernelActivity* kernelStarts(Fiber& fiber);
void kernelEnds(KernelActivity& kernel);
/// The wait of a kernel has ended that began in cycle `kernel.since`.
void waitEnded(KernelActivity& kernel, const Waitable& what);

ChannelActivity& channelActivity(int source, int destination, int port, int type);
CollectiveActivity& collectiveActivity(int rank, int port, int kind, int type);
/// A message becomes the port's present one in a cycle, and the port passes one of its elements on. `receives`: at the
/// receiver.
void messageBegins(ChannelActivity& channel, bool receives, std::uint64_t count, CallSite site, std::uint64_t cycle);
void elementPasses(ChannelActivity& channel, bool receives);
void collectiveBegins(CollectiveActivity& collective, std::uint64_t elements, CallSite site, std::uint64_t cycle);
void collectiveEnds(CollectiveActivity& collective, std::uint64_t cycle);

/// Ends recording: writes the trace, removes the snapshot. Returns members of the report's JSON object, each after a
/// comma; none if nothing was recorded, or without `reported`.
std::string endActivity(bool reported);

}  // namespace gossamer::smi
