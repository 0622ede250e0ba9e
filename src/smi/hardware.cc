// SPDX-License-Identifier: Apache-2.0
#include "hardware.h"

#include <dlfcn.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "banks.h"
#include "interrupt.h"
#include "processes.h"
#include "rtl/fabric.h"

namespace gossamer::smi {

bool hardware = false;
std::uint64_t now = 1;

namespace {

constexpr std::size_t atLeast = 1;

struct Sent {
  int type, count, rank;
  int left;  ///< elements that the port has not taken
  bool open = false;
};

struct Joined {
  OnBlock asked;  ///< `gives` and `takes` are what is left of them
  bool open = false;
};

/// What stands between a kernel and a port's two halves, or a block of collectives.
struct End {
  GsStreamPort* wires = nullptr;
  GsStreamBlock* block = nullptr;
  std::deque<Sent> messages;
  std::deque<Joined> collectives;
  std::deque<std::uint64_t> out, in;
  std::size_t outDepth = atLeast, inDepth = atLeast;
  std::uint64_t pushed = 0, popped = 0;  ///< cycles of the last uses
  int coming = 0;                        ///< elements of the message that is open which have not come
  bool opens = false;
  Fiber **pusher = nullptr, **popper = nullptr;
};

struct Meeting {
  GsStreamBarrier* wires = nullptr;
  Fiber** waiting = nullptr;
  bool left = true;
};

const GsFabric* fabric = nullptr;
std::vector<int> indices;            ///< of ends, by the kernels' numbers of ports; -1: none
std::vector<std::vector<End>> ends;  ///< by rank: the boards' ports, then their blocks
std::vector<Meeting> meetings;       ///< by rank
std::vector<Fiber*> waitsForNext;
/// A kernel has used an end since the last cycle; and nothing was under way in the boards then.
bool stirred = true, resting = false;

struct Tick : Waitable {
  Wait wait(const Fiber&) const override { return {"for the next cycle ({})", {}}; }
};
const Tick tick;

End& endOf(int port, Place place) {
  const int index = indices[static_cast<std::size_t>(port)];
  if (index < 0) {
    fail(exitBug, format("rank %d, port %d: was not seen in the sources ({})", current->rank->index, port), {place});
  }
  stirred = true;
  return ends[static_cast<std::size_t>(current->rank->index)][static_cast<std::size_t>(index)];
}

void wakeOne(Fiber**& waiting) {
  if (!waiting || !*waiting) return;
  wake(*waiting);
  *waiting = nullptr;
  waiting = nullptr;
}

void driveBlock(End& end) {
  GsStreamBlock& block = *end.block;
  const bool some = !end.collectives.empty();
  const bool open = some && end.collectives.front().open;
  block.opens = some && !open;
  block.gives = open && end.collectives.front().asked.gives && !end.out.empty();
  block.takes = open && end.collectives.front().asked.takes && end.in.size() < end.inDepth;
  if (block.gives) block.given = end.out.front();
  if (!block.opens) return;
  const OnBlock& asked = end.collectives.front().asked;
  block.kind = static_cast<std::uint8_t>(asked.kind);
  block.type = static_cast<std::uint8_t>(asked.type);
  block.op = static_cast<std::uint8_t>(asked.op);
  block.root = static_cast<std::uint8_t>(asked.root);
  block.count = static_cast<std::uint32_t>(asked.count);
}

void settleBlock(End& end) {
  if (end.collectives.empty()) return;
  const GsStreamBlock& block = *end.block;
  Joined& now = end.collectives.front();
  now.open |= block.opened;
  if (block.gave) {
    end.out.pop_front();
    --now.asked.gives;
    wakeOne(end.pusher);
  }
  if (block.came) {
    end.in.push_back(block.taken);
    --now.asked.takes;
    wakeOne(end.popper);
  }
  if (now.open && !now.asked.gives && !now.asked.takes) end.collectives.pop_front();
}

void drive(End& end) {
  if (end.block) return driveBlock(end);
  GsStreamPort& wires = *end.wires;
  wires.opens_send = !end.messages.empty() && !end.messages.front().open;
  wires.gives = !end.messages.empty() && end.messages.front().open && !end.out.empty();
  if (wires.opens_send) {
    const Sent& sent = end.messages.front();
    wires.send_type = static_cast<std::uint8_t>(sent.type);
    wires.send_rank = static_cast<std::uint8_t>(sent.rank);
    wires.send_count = static_cast<std::uint32_t>(sent.count);
  }
  if (wires.gives) wires.given = end.out.front();
  wires.opens_receive = end.opens;
  wires.takes = end.coming && !end.opens && end.in.size() < end.inDepth;
}

void settle(End& end) {
  if (end.block) return settleBlock(end);
  const GsStreamPort& wires = *end.wires;
  if (wires.opened_send) end.messages.front().open = true;
  if (wires.gave) {
    end.out.pop_front();
    if (!--end.messages.front().left) end.messages.pop_front();
    wakeOne(end.pusher);
  }
  if (wires.opened_receive) end.opens = false;
  if (wires.came) {
    end.in.push_back(wires.taken);
    --end.coming;
    wakeOne(end.popper);
  }
}

/// One cycle of the boards; false if nothing is under way.
bool clockBoards() {
  for (std::vector<End>& rank : ends) {
    for (End& end : rank) drive(end);
  }
  const bool moves = fabric->cycle(stirred);
  stirred = false;
  for (std::vector<End>& rank : ends) {
    for (End& end : rank) settle(end);
  }
  for (Meeting& meeting : meetings) {
    if (meeting.wires->has_come) meeting.wires->comes = false;
    if (!meeting.wires->has_left) continue;
    meeting.wires->leaves = false;
    meeting.left = true;
    wakeOne(meeting.waiting);
  }
  if (const int rank = fabric->faulty(); rank >= 0) {
    fail(exitBug,
         format("cycle %llu: the board of rank %d reports a fault", static_cast<unsigned long long>(now), rank));
  }
  return moves;
}

/// One cycle; false if nothing is under way. Boards at rest stand still until a kernel uses a port: all of them, so
/// that no link misses what another one says.
bool cycle() {
  if (stirred || !resting) resting = !clockBoards();
  const bool moves = clockBanks();
  ++now;
  return moves || !resting;
}

}  // namespace

void makeHardware(const std::string& library, const std::string& script, const std::vector<int>& numbers,
                  const std::vector<int>& blocks) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto* make = handle ? reinterpret_cast<decltype(&gs_fabric_make)>(dlsym(handle, "gs_fabric_make")) : nullptr;
  if (!make) fail(exitBug, format("%s: no boards: %s", library.c_str(), dlerror()));
  fabric = make(script.c_str());
  if (!fabric) fail(exitBug, "the links of the boards do not come up");
  hardware = true;
  indices.assign(portLimit, -1);
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    indices[static_cast<std::size_t>(numbers[at])] = static_cast<int>(at);
  }
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    indices[static_cast<std::size_t>(blocks[at])] = static_cast<int>(numbers.size() + at);
  }
  ends.resize(ranks.size());
  meetings.resize(ranks.size());
  for (const Rank* rank : ranks) {
    const auto at = static_cast<std::size_t>(rank->index);
    ends[at] = std::vector<End>(numbers.size() + blocks.size());
    for (std::size_t port = 0; port < numbers.size(); ++port) {
      ends[at][port].wires = fabric->port(rank->index, static_cast<int>(port));
    }
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      ends[at][numbers.size() + block].block = fabric->block(rank->index, static_cast<int>(block));
    }
    meetings[at].wires = fabric->barrier(rank->index);
  }
}

void nextCycle(Place place) {
  waitsForNext.push_back(current);
  wait(tick, place);
}

void useOnce(std::uint64_t& used, Place place) {
  while (used == now) nextCycle(place);
  used = now;
}

void openSend(int port, int type, int count, int rank, int degree, Place place) {
  End& end = endOf(port, place);
  end.messages.push_back({type, count, rank, count});
  end.outDepth = std::max(atLeast, static_cast<std::size_t>(degree < 0 ? options.slack : degree));
}

void openReceive(int port, int type, int count, int rank, int degree, Place place) {
  End& end = endOf(port, place);
  end.wires->receive_type = static_cast<std::uint8_t>(type);
  end.wires->receive_rank = static_cast<std::uint8_t>(rank);
  end.wires->receive_count = static_cast<std::uint32_t>(count);
  end.coming = count;
  end.opens = true;
  end.inDepth = std::max(atLeast, static_cast<std::size_t>(degree < 0 ? options.slack : degree));
}

void openBlock(int port, const OnBlock& asked, Place place) {
  End& end = endOf(port, place);
  end.collectives.push_back({asked});
  end.inDepth = end.outDepth =
      std::max(atLeast, static_cast<std::size_t>(asked.degree < 0 ? options.slack : asked.degree));
}

void pushElement(int port, std::uint64_t value, Fiber*& pusher, const Waitable& what, Place place) {
  End& end = endOf(port, place);
  for (;;) {
    while (end.pushed == now) nextCycle(place);
    if (end.out.size() < end.outDepth) break;
    pusher = current;
    end.pusher = &pusher;
    wait(what, place);
  }
  end.pushed = now;
  end.out.push_back(value);
}

std::uint64_t popElement(int port, Fiber*& popper, const Waitable& what, Place place) {
  End& end = endOf(port, place);
  for (;;) {
    while (end.popped == now) nextCycle(place);
    if (!end.in.empty()) break;
    popper = current;
    end.popper = &popper;
    wait(what, place);
  }
  end.popped = now;
  const std::uint64_t value = end.in.front();
  end.in.pop_front();
  return value;
}

void comeToBarrier(Fiber*& waiting, const Waitable& what, Place place) {
  Meeting& meeting = meetings[static_cast<std::size_t>(current->rank->index)];
  meeting.left = false;
  stirred = true;
  meeting.wires->comes = meeting.wires->leaves = true;
  while (!meeting.left) {
    waiting = current;
    meeting.waiting = &waiting;
    wait(what, place);
  }
  waiting = nullptr;
}

bool clockHardware() {
  while (unfinishedHere()) {
    if (interrupted()) interrupt();
    cycleEnds();
    const bool moves = cycle();
    const bool idle = waitsForNext.empty();
    for (Fiber* fiber : waitsForNext) wake(fiber);
    waitsForNext.clear();
    if (someReady()) return true;
    if (idle && !moves) return false;
  }
  return false;
}

}  // namespace gossamer::smi
