// SPDX-License-Identifier: Apache-2.0
#include "hardware.h"

#include <dlfcn.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "activity.h"
#include "banks.h"
#include "interrupt.h"
#include "processes.h"
#include "rtl/fabric.h"

namespace gossamer::smi {

bool hardware = false;
std::uint64_t now = 1;

namespace {

constexpr std::size_t minDepth = 1;
constexpr int barrierKind = 6;  ///< in Kind of collective.h

/// The present cycle, as activity.h counts them.
std::uint64_t cycleIndex() { return now - 1; }

struct OutgoingMessage {
  int type, count, rank;
  int left;  ///< elements that the port has not accepted yet
  CallSite site;
  ChannelActivity* activity;
  bool open = false;
};

struct ActiveCollective {
  BlockCall call;  ///< `pushes` and `pops` count down
  CallSite site;
  bool open = false;
};

/// The queues between a kernel and a port's two halves, or a block of collectives.
struct Endpoint {
  GsStreamPort* wires = nullptr;
  GsStreamBlock* block = nullptr;
  std::deque<OutgoingMessage> messages;
  std::deque<ActiveCollective> collectives;
  std::deque<std::uint64_t> out, in;
  std::size_t outDepth = minDepth, inDepth = minDepth;
  std::uint64_t lastPush = 0, lastPop = 0;  ///< cycles of the last push and pop
  int expected = 0;                         ///< elements of the open message still to receive
  bool opens = false;
  ChannelActivity* receiving = nullptr;  ///< the channel of the last message
  CollectiveActivity* collective = nullptr;
  Fiber **pusher = nullptr, **popper = nullptr;
};

struct BarrierState {
  GsStreamBarrier* wires = nullptr;
  Fiber** waiting = nullptr;
  bool left = true;
  CollectiveActivity* activity = nullptr;
};

const GsFabric* fabric = nullptr;
std::vector<int> indices;                 ///< of endpoints, by the kernels' port numbers; -1: none
std::vector<std::vector<Endpoint>> ends;  ///< by rank: the boards' ports, then their blocks
std::vector<BarrierState> barriers;       ///< by rank
std::vector<Fiber*> waitingForCycle;
/// A kernel has used an endpoint since the last cycle; nothing was in flight in the boards at the last cycle.
bool kernelActivity = true, boardsQuiescent = false;
std::uint64_t skippedCycles = 0;  ///< in which quiescent boards were not clocked, since the last one that they were

struct Tick : Waitable {
  Wait wait(const Fiber&) const override { return {"for the next cycle ({})", {}}; }
  WaitKind kind(const Fiber&) const override { return WaitKind::none; }
};
const Tick tick;

Endpoint& endOf(int port, CallSite site) {
  const int index = indices[static_cast<std::size_t>(port)];
  if (index < 0) {
    fail(GS_EXIT_BUG, format("rank %d, port %d: was not found in the sources ({})", current->rank->index, port),
         {site});
  }
  kernelActivity = true;
  return ends[static_cast<std::size_t>(current->rank->index)][static_cast<std::size_t>(index)];
}

void wakeOne(Fiber**& waiting) {
  if (!waiting || !*waiting) return;
  wake(*waiting);
  *waiting = nullptr;
  waiting = nullptr;
}

void driveBlock(Endpoint& end) {
  GsStreamBlock& block = *end.block;
  const bool some = !end.collectives.empty();
  const bool open = some && end.collectives.front().open;
  block.opens = some && !open;
  block.push_valid = open && end.collectives.front().call.pushes && !end.out.empty();
  block.pop_ready = open && end.collectives.front().call.pops && end.in.size() < end.inDepth;
  if (block.push_valid) block.push_data = end.out.front();
  if (!block.opens) return;
  const BlockCall& call = end.collectives.front().call;
  block.kind = static_cast<std::uint8_t>(call.kind);
  block.type = static_cast<std::uint8_t>(call.type);
  block.op = static_cast<std::uint8_t>(call.op);
  block.root = static_cast<std::uint8_t>(call.root);
  block.count = static_cast<std::uint32_t>(call.count);
}

/// The front collective, or the front message that a port sends, is now the present one.
void beginFront(Endpoint& end, std::uint64_t cycle) {
  if (end.block) {
    const ActiveCollective& next = end.collectives.front();
    collectiveBegins(*end.collective, next.call.pushes + next.call.pops, next.site, cycle);
  } else {
    const OutgoingMessage& next = end.messages.front();
    messageBegins(*next.activity, false, static_cast<std::uint64_t>(next.count), next.site, cycle);
  }
}

/// Counts an endpoint's stalls, by its signals in the last cycle of the boards, which `cycles` others were like.
void countStalls(const Endpoint& end, std::uint64_t cycles) {
  if (end.block) {
    if (end.collectives.empty()) return;
    const GsStreamBlock& block = *end.block;
    PortActivity &pushed = end.collective->pushed, &popped = end.collective->popped;
    if (block.opens && !block.opened) pushed.opening += cycles;
    if (block.push_valid && !block.pushed) pushed.stalled += cycles;
    if (block.pop_ready && !block.popped) popped.stalled += cycles;
    const ActiveCollective& now = end.collectives.front();
    if (now.open && now.call.pops && !block.pop_ready) popped.full += cycles;
    return;
  }
  const GsStreamPort& wires = *end.wires;
  if (!end.messages.empty()) {
    PortActivity& sent = end.messages.front().activity->sent;
    if (wires.opens_send && !wires.opened_send) sent.opening += cycles;
    if (wires.push_valid && !wires.pushed) sent.stalled += cycles;
  }
  if (!end.receiving) return;
  PortActivity& received = end.receiving->received;
  if (wires.opens_receive && !wires.opened_receive) received.opening += cycles;
  if (wires.pop_ready && !wires.popped) received.stalled += cycles;
  if (end.expected && !end.opens && !wires.pop_ready) received.full += cycles;
}

void sampleBlock(Endpoint& end) {
  if (end.collectives.empty()) return;
  const GsStreamBlock& block = *end.block;
  ActiveCollective& now = end.collectives.front();
  now.open |= block.opened;
  if (block.pushed) {
    end.out.pop_front();
    --now.call.pushes;
    ++end.collective->pushed.elements;
    end.collective->moved.add(cycleIndex(), 1);
    wakeOne(end.pusher);
  }
  if (block.popped) {
    end.in.push_back(block.pop_data);
    --now.call.pops;
    ++end.collective->popped.elements;
    end.collective->moved.add(cycleIndex(), 1);
    wakeOne(end.popper);
  }
  if (now.open && !now.call.pushes && !now.call.pops) {
    end.collectives.pop_front();
    collectiveEnds(*end.collective, cycleIndex() + 1);
    if (!end.collectives.empty()) beginFront(end, cycleIndex() + 1);
  }
}

void drive(Endpoint& end) {
  if (end.block) return driveBlock(end);
  GsStreamPort& wires = *end.wires;
  wires.opens_send = !end.messages.empty() && !end.messages.front().open;
  wires.push_valid = !end.messages.empty() && end.messages.front().open && !end.out.empty();
  if (wires.opens_send) {
    const OutgoingMessage& sent = end.messages.front();
    wires.send_type = static_cast<std::uint8_t>(sent.type);
    wires.send_rank = static_cast<std::uint8_t>(sent.rank);
    wires.send_count = static_cast<std::uint32_t>(sent.count);
  }
  if (wires.push_valid) wires.push_data = end.out.front();
  wires.opens_receive = end.opens;
  wires.pop_ready = end.expected && !end.opens && end.in.size() < end.inDepth;
}

void sample(Endpoint& end) {
  if (end.block) return sampleBlock(end);
  const GsStreamPort& wires = *end.wires;
  if (wires.opened_send) end.messages.front().open = true;
  if (wires.pushed) {
    end.out.pop_front();
    elementPasses(*end.messages.front().activity, false);
    if (!--end.messages.front().left) {
      end.messages.pop_front();
      if (!end.messages.empty()) beginFront(end, cycleIndex() + 1);
    }
    wakeOne(end.pusher);
  }
  if (wires.opened_receive) end.opens = false;
  if (wires.popped) {
    end.in.push_back(wires.pop_data);
    --end.expected;
    elementPasses(*end.receiving, true);
    wakeOne(end.popper);
  }
}

/// One cycle of the boards; false if nothing is in flight.
bool clockBoards() {
  countSkippedStalls();
  for (std::vector<Endpoint>& rank : ends) {
    for (Endpoint& end : rank) drive(end);
  }
  const bool moves = fabric->cycle(kernelActivity);
  kernelActivity = false;
  for (std::vector<Endpoint>& rank : ends) {
    for (Endpoint& end : rank) {
      countStalls(end, 1);
      sample(end);
    }
  }
  for (BarrierState& state : barriers) {
    if (state.wires->has_entered) state.wires->enters = false;
    if (!state.wires->has_left) continue;
    state.wires->leaves = false;
    state.left = true;
    ++state.activity->popped.elements;
    collectiveEnds(*state.activity, cycleIndex() + 1);
    wakeOne(state.waiting);
  }
  if (const int rank = fabric->faulty(); rank >= 0) {
    fail(GS_EXIT_BUG,
         format("cycle %llu: the board of rank %d reports a fault", static_cast<unsigned long long>(now), rank));
  }
  return moves;
}

/// One cycle; false if nothing is in flight. Quiescent boards are not clocked until a kernel uses a port. All boards
/// stop and restart together, so that no link misses a frame of another one.
bool cycle() {
  if (kernelActivity || !boardsQuiescent)
    boardsQuiescent = !clockBoards();
  else
    ++skippedCycles;
  const bool moves = clockBanks();
  ++now;
  activityCycle();
  return moves || !boardsQuiescent;
}

}  // namespace

void makeHardware(const std::string& library, const std::string& script, const std::vector<int>& numbers,
                  const std::vector<int>& blocks) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto* make = handle ? reinterpret_cast<decltype(&gs_fabric_make)>(dlsym(handle, "gs_fabric_make")) : nullptr;
  if (!make) fail(GS_EXIT_BUG, format("%s: cannot load the boards: %s", library.c_str(), dlerror()));
  {
    // The models have threads of their own. A handler runs on the thread of the fibers only.
    const HeldSignals held;
    fabric = make(script.c_str());
  }
  if (!fabric) fail(GS_EXIT_BUG, "the links of the boards do not come up");
  hardware = true;
  beginActivity(*fabric);
  indices.assign(portLimit, -1);
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    indices[static_cast<std::size_t>(numbers[at])] = static_cast<int>(at);
  }
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    indices[static_cast<std::size_t>(blocks[at])] = static_cast<int>(numbers.size() + at);
  }
  ends.resize(ranks.size());
  barriers.resize(ranks.size());
  for (const Rank* rank : ranks) {
    const auto at = static_cast<std::size_t>(rank->index);
    ends[at] = std::vector<Endpoint>(numbers.size() + blocks.size());
    for (std::size_t port = 0; port < numbers.size(); ++port) {
      ends[at][port].wires = fabric->port(rank->index, static_cast<int>(port));
    }
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      ends[at][numbers.size() + block].block = fabric->block(rank->index, static_cast<int>(block));
    }
    barriers[at].wires = fabric->barrier(rank->index);
  }
}

void countSkippedStalls() {
  if (!skippedCycles) return;
  // The signals of these cycles were those of the last one that was clocked.
  for (const std::vector<Endpoint>& rank : ends) {
    for (const Endpoint& end : rank) countStalls(end, skippedCycles);
  }
  skippedCycles = 0;
}

void nextCycle(CallSite site) {
  waitingForCycle.push_back(current);
  wait(tick, site);
}

void useOnce(std::uint64_t& used, CallSite site) {
  while (used == now) nextCycle(site);
  used = now;
}

void openSend(int port, int type, int count, int rank, int degree, CallSite site) {
  Endpoint& end = endOf(port, site);
  ChannelActivity& activity = channelActivity(current->rank->index, rank, port, type);
  end.messages.push_back({type, count, rank, count, site, &activity});
  if (end.messages.size() == 1) beginFront(end, cycleIndex());
  end.outDepth = std::max(minDepth, static_cast<std::size_t>(degree < 0 ? options.slack : degree));
}

void openReceive(int port, int type, int count, int rank, int degree, CallSite site) {
  Endpoint& end = endOf(port, site);
  end.wires->receive_type = static_cast<std::uint8_t>(type);
  end.wires->receive_rank = static_cast<std::uint8_t>(rank);
  end.wires->receive_count = static_cast<std::uint32_t>(count);
  end.expected = count;
  end.opens = true;
  end.receiving = &channelActivity(rank, current->rank->index, port, type);
  messageBegins(*end.receiving, true, static_cast<std::uint64_t>(count), site, cycleIndex());
  end.inDepth = std::max(minDepth, static_cast<std::size_t>(degree < 0 ? options.slack : degree));
}

void openBlock(int port, const BlockCall& call, CallSite site) {
  Endpoint& end = endOf(port, site);
  // smi_collective counts kinds from 1.
  end.collective = &collectiveActivity(current->rank->index, port, call.kind - 1, call.type);
  end.collectives.push_back({call, site});
  if (end.collectives.size() == 1) beginFront(end, cycleIndex());
  end.inDepth = end.outDepth =
      std::max(minDepth, static_cast<std::size_t>(call.degree < 0 ? options.slack : call.degree));
}

void pushElement(int port, std::uint64_t value, Fiber*& pusher, const Waitable& what, CallSite site) {
  Endpoint& end = endOf(port, site);
  for (;;) {
    while (end.lastPush == now) nextCycle(site);
    if (end.out.size() < end.outDepth) break;
    pusher = current;
    end.pusher = &pusher;
    wait(what, site);
  }
  end.lastPush = now;
  end.out.push_back(value);
}

std::uint64_t popElement(int port, Fiber*& popper, const Waitable& what, CallSite site) {
  Endpoint& end = endOf(port, site);
  for (;;) {
    while (end.lastPop == now) nextCycle(site);
    if (!end.in.empty()) break;
    popper = current;
    end.popper = &popper;
    wait(what, site);
  }
  end.lastPop = now;
  const std::uint64_t value = end.in.front();
  end.in.pop_front();
  return value;
}

void enterBarrier(int port, Fiber*& waiting, const Waitable& what, CallSite site) {
  BarrierState& state = barriers[static_cast<std::size_t>(current->rank->index)];
  state.left = false;
  state.activity = &collectiveActivity(current->rank->index, port, barrierKind, SMI_INT);
  ++state.activity->pushed.elements;
  collectiveBegins(*state.activity, 1, site, cycleIndex());
  kernelActivity = true;
  state.wires->enters = state.wires->leaves = true;
  while (!state.left) {
    waiting = current;
    state.waiting = &waiting;
    wait(what, site);
  }
  waiting = nullptr;
}

bool clockHardware() {
  while (unfinishedHere()) {
    if (interrupted()) interrupt();
    endCycle();
    const bool moves = cycle();
    const bool idle = waitingForCycle.empty();
    for (Fiber* fiber : waitingForCycle) wake(fiber);
    waitingForCycle.clear();
    if (someReady()) return true;
    if (idle && !moves) return false;
  }
  return false;
}

}  // namespace gossamer::smi
