// SPDX-License-Identifier: Apache-2.0
/// Time, where channels are carried by the RTL transport. A kernel computes in no time; each end of a channel, between
/// ranks or within one, is usable once a cycle, as in a pipelined loop that starts a round each cycle.
///
///     kernel -- queue of the channel's degree --> port ==> transport ==> port -- queue of its degree --> kernel
///
/// In a cycle kernels run until all of them wait; then the boards are clocked once. What a kernel gives is seen by
/// others in the next cycle, and the room that it makes in this one: so the order in which kernels run is of no matter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime.h"

namespace gossamer::smi {

/// Whether channels are carried by the RTL, which cycle it is, and where time begins.
extern bool hardware;
extern std::uint64_t now;

/// Loads the boards, with what they are made of (rtl/fabric.h); `numbers` are the ports that kernels use for channels,
/// in the order of the boards' ports, and `blocks` those for collectives, in the order of their blocks.
void makeHardware(const std::string& library, const std::string& script, const std::vector<int>& numbers,
                  const std::vector<int>& blocks);

/// The running kernel goes on in the next cycle.
void nextCycle(Place place);
/// One use of an end of a channel, which stands in `used`: not twice in a cycle.
void useOnce(std::uint64_t& used, Place place);

/// A message, once its first element is pushed or popped. `rank`: the other one.
void openSend(int port, int type, int count, int rank, int degree, Place place);
void openReceive(int port, int type, int count, int rank, int degree, Place place);
/// An element of the message that was opened last.
void pushElement(int port, std::uint64_t value, Fiber*& pusher, const Waitable& what, Place place);
std::uint64_t popElement(int port, Fiber*& popper, const Waitable& what, Place place);
/// A collective of the running rank, once it is opened, in numbers of the hardware; `gives` and `takes` are the
/// elements that this rank pushes and pops.
struct OnBlock {
  int kind, type, op, root, count, degree;
  std::uint64_t gives, takes;
};
void openBlock(int port, const OnBlock& asked, Place place);
/// The running rank comes to the barrier, and returns when all have.
void comeToBarrier(Fiber*& waiting, const Waitable& what, Place place);

/// Cycles, until a kernel can run (true), or all have ended or nothing moves any more (false).
bool clockHardware();

}  // namespace gossamer::smi
