// SPDX-License-Identifier: Apache-2.0
/// Time, when the RTL transport carries the channels. Computation takes no time. Each end of a channel, between ranks
/// or within one, is usable once a cycle, as in a pipelined loop with an initiation interval of 1.
///
///     kernel -- queue of the channel's degree --> port ==> transport ==> port -- queue of its degree --> kernel
///
/// In each cycle, kernels run until all of them wait; then the boards are clocked once. Other kernels see a pushed
/// element in the next cycle, and a freed slot in the same cycle: so the order in which kernels run has no effect.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime.h"

namespace gossamer::smi {

/// Whether the RTL carries the channels, and the current cycle.
extern bool hardware;
extern std::uint64_t now;

/// Loads the boards from a library, with their description (rtl/fabric.h). `numbers` are the kernels' port numbers of
/// channels, in the order of the boards' ports; `blocks` those of collectives, in the order of the boards' blocks.
void makeHardware(const std::string& library, const std::string& script, const std::vector<int>& numbers,
                  const std::vector<int>& blocks);

/// Blocks the running kernel until the next cycle.
void nextCycle(CallSite site);
/// Uses an end of a channel at most once a cycle; `used` is the cycle of its last use.
void useOnce(std::uint64_t& used, CallSite site);

/// Opens a message when its first element is pushed or popped. `rank`: the peer.
void openSend(int port, int type, int count, int rank, int degree, CallSite site);
void openReceive(int port, int type, int count, int rank, int degree, CallSite site);
/// Pushes or pops an element of the open message.
void pushElement(int port, std::uint64_t value, Fiber*& pusher, const Waitable& what, CallSite site);
std::uint64_t popElement(int port, Fiber*& popper, const Waitable& what, CallSite site);
/// A collective of the running rank, in the hardware's encodings; `pushes` and `pops` are the numbers of elements that
/// this rank pushes and pops.
struct BlockCall {
  int kind, type, op, root, count, degree;
  std::uint64_t pushes, pops;
};
void openBlock(int port, const BlockCall& call, CallSite site);
/// The running rank enters the barrier; returns when all ranks have.
void enterBarrier(int port, Fiber*& waiting, const Waitable& what, CallSite site);

/// Counts the stalls of cycles in which quiescent boards were not clocked (activity.h).
void countSkippedStalls();

/// Clocks the hardware until a kernel is ready (true), or all have ended or nothing can move any more (false).
bool clockHardware();

}  // namespace gossamer::smi
