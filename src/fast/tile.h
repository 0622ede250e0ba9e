// SPDX-License-Identifier: Apache-2.0
/// A tile of the engine `fast`: threads, cores, caches and mailbox, and the events that wake threads.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "decode.h"
#include "gossamer/fast/machine.h"
#include "match.h"
#include "memory.h"

namespace gossamer::fast {

constexpr uint64_t kNever = ~0ull;
/// Cycles of an access to a register of the mailbox after which it takes effect, and from there to the next issue.
constexpr uint32_t kEffect = 12;

enum class State : uint8_t { Off, Runs, Waits, Idle, Ended, Trapped };

struct Message {
  uint64_t mask = 0;  ///< receiving threads of the tile
  uint32_t tile = 0, flits = 0, sender = 0, number = 0, job = 0;
  uint32_t router = ~0u;  ///< of a copy: the board whose thread sent to a key
  uint32_t port = 0;      ///< of a message to a unit: the thread that it concerns
  std::vector<uint8_t> data;
};

/// The order of a receiver's messages in a replay: sender and number of each.
struct Order {
  std::vector<std::pair<uint32_t, uint32_t>> messages;
  size_t next = 0;
  bool hasUnits = false;  ///< some are from match engines or DMA engines

  bool allows(const Message& message) const {
    return next >= messages.size() || messages[next] == std::pair{message.sender, message.number};
  }
};

struct Thread {
  uint32_t x[32] = {};
  uint32_t f[32] = {};
  uint32_t pc = 0;
  State state = State::Off;
  bool blocked = false;      ///< its message waits for space at the receiver
  bool releaseLate = false;  ///< it has released the slot from which it sends
  uint8_t flags = 0, rounding = 0;
  uint32_t guard = 0;
  uint32_t sendSlot = 0, sendLength = 0, maskLow = 0, maskHigh = 0;
  uint32_t sentSlot = 0;  ///< slot of the message in flight
  uint64_t busy = 0;      ///< cycle from which it may send again
  uint64_t wake = 0;
  uint32_t events = 0;  ///< of a wait
  uint8_t waitRd = 0;
  uint32_t vote = 0, idleResult = 0;
  uint32_t instrAddress = 0;
  uint32_t sent = 0;  ///< messages
  uint64_t retired = 0;
  uint32_t address = 0;        ///< of the last load or store
  std::deque<uint32_t> queue;  ///< slots of arrived messages
  std::deque<uint8_t> input;
  uint64_t inputAt = 0;
  std::vector<gs_fast_commit> commits;
  bool loggedWait = false;  ///< the last of them is a wait without a result yet
  Order order;
};

struct Core {
  uint64_t next = 0;  ///< cycle of the next free issue slot
  uint64_t hits = 0, misses = 0, writebacks = 0, issued = 0;
  // The counters that its threads control: cycles run from reset on, the others from a start.
  bool counts = false, times = true;
  uint64_t perfIdle = 0, perfCycles = 0;
  uint64_t countedAt = 0, countedIssued = 0;  ///< when they were last brought up to date
  std::shared_ptr<Code> code;
};

struct Arrival {
  uint64_t cycle, sequence;
  uint32_t message;
  bool operator<(const Arrival& other) const {
    return cycle != other.cycle ? cycle > other.cycle : sequence > other.sequence;
  }
};

/// Cycles at which threads issue, up to 255 cycles ahead; a thread that sleeps longer is looked at in between.
class Wheel {
 public:
  void insert(uint32_t thread, uint64_t cycle) {
    if (!any()) now_ = std::max(now_, cycle - 1);
    if (cycle <= now_) cycle = now_ + 1;
    if (cycle - now_ > 255) cycle = now_ + 255;
    const auto at = static_cast<uint32_t>(cycle & 255);
    slots_[at] |= 1ull << thread;
    used_[at / 64] |= 1ull << at % 64;
  }
  uint64_t next() const {
    const auto begin = static_cast<uint32_t>((now_ + 1) & 255);
    uint64_t word = used_[begin / 64] & (~0ull << begin % 64);
    for (uint32_t i = 0; i <= 4; ++i) {
      const uint32_t at = (begin / 64 + i) % 4;
      if (i) word = i == 4 ? used_[at] & ~(~0ull << begin % 64) : used_[at];
      if (word) {
        const uint32_t slot = at * 64 + static_cast<uint32_t>(std::countr_zero(word));
        return now_ + 1 + ((slot - begin) & 255);
      }
    }
    return kNever;
  }
  uint64_t take(uint64_t cycle) {
    now_ = cycle;
    const auto at = static_cast<uint32_t>(cycle & 255);
    used_[at / 64] &= ~(1ull << at % 64);
    return std::exchange(slots_[at], 0);
  }

 private:
  bool any() const { return used_[0] | used_[1] | used_[2] | used_[3]; }

  uint64_t now_ = 0;
  std::array<uint64_t, 256> slots_ = {};
  std::array<uint64_t, 4> used_ = {};
};

/// A transfer of a DMA engine.
struct Transfer {
  uint32_t thread;               ///< that has requested it
  std::array<uint32_t, 8> word;  ///< the request: match_move, match_move_places
};

/// The DMA engine of a tile: transfers one after the other, in packets of 256 bytes.
struct Dma {
  uint64_t next = kNever;  ///< cycle of its next packet, or of the end of a transfer
  std::deque<Transfer> queue;
  uint64_t inFlight = 0;      ///< threads with a transfer
  std::vector<uint32_t> bad;  ///< threads whose request is rejected
  uint32_t done = 0;          ///< bytes of the first transfer that have been sent
  uint32_t status = 0;
  bool ends = false;  ///< the first transfer has only to be reported
};

/// A match engine, in a tile or at the board, and the DMA engine of a tile. Its time is that of its tile; an engine at
/// the board belongs to the first tile that it serves.
struct Unit {
  explicit Unit(const MatchEngine::Shape& shape) : match(shape) {}

  MatchEngine match;
  uint32_t number = 0, board = 0;
  uint32_t first = 0;  ///< rank of its first thread on its board
  bool onBoard = false;
  std::priority_queue<Arrival> arrivals;
  uint64_t inNext = 0, outNext = 0;  ///< cycles from which it accepts the next packet, sends the next one
  uint64_t outAt = kNever;
  uint32_t sent = 0;  ///< packets to threads
  bool busy = false;  ///< counts as a message in flight
  Dma dma;
  Order order;
  std::vector<uint32_t> early;  ///< of a replay: packets before their predecessors

  uint64_t next() const {
    const uint64_t in = arrivals.empty() ? kNever : std::max(arrivals.top().cycle, inNext);
    return std::min({in, outAt, dma.next});
  }
};

struct Tile {
  uint32_t number = 0, board = 0, index = 0, job = 0;
  Memory* memory = nullptr;
  std::vector<Thread> threads;
  std::vector<Core> cores;
  std::vector<uint64_t> cacheNext, fpuNext;
  std::vector<uint64_t> divideNext;   ///< of each FPU
  std::vector<uint64_t> dividerNext;  ///< of each core
  Caches caches;
  Wheel wheel;
  uint64_t next = kNever;  ///< a cycle before which nothing happens
  uint64_t mailboxNext = 0, transmitNext = 0, receiveNext = 0, reportNext = 0;
  std::vector<uint8_t> pad;                ///< the scratchpad
  std::vector<uint64_t> holders, pending;  ///< by slot: threads that hold it, threads that have still to receive it
  std::deque<uint32_t> free;
  std::priority_queue<Arrival> arrivals;
  std::deque<uint32_t> out[2];  ///< blocked messages: to this tile, to others
  std::deque<uint32_t> outThreads[2];
  /// Hits, misses and lines written back of all cores while the counters of any core run, and the totals when they
  /// were last brought up to date.
  std::array<uint64_t, 3> perf = {}, counted = {};
  std::unique_ptr<Unit> unit;
  uint64_t loaderNext = 0;             ///< cycle from which a packet of a DMA engine is written
  std::vector<uint32_t> early;         ///< of a replay: messages before their predecessors
  uint64_t refused = 0;                ///< messages to threads that the tile does not have
  uint32_t coming = 0;                 ///< flits of messages on their way to this tile
  bool full = false;                   ///< the first message cannot be delivered
  std::vector<uint32_t> blockedTiles;  ///< tiles whose messages wait for this one
  gs_fast_counters counters = {};
};

}  // namespace gossamer::fast
