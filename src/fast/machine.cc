// SPDX-License-Identifier: Apache-2.0
/// Boards at the level of instructions: what each thread executes is exact, the time that it takes is estimated.
//
// Result: the sequence of instructions, cache hits, misses and messages of each thread, given the order in which its
// messages are delivered. Method: each tile has a wheel of cycles in which threads issue. An instruction executes at
// its issue, and the thread is inserted at the cycle of its next issue: latencies are those of
// config/model/timing.toml, longer where a core, cache, FPU, mailbox or memory is busy. Tiles run in turn, for kQuantum
// cycles each, which is less than the time of a message between tiles; so no tile misses a message. Only tiles with an
// event in a quantum run. Speed is bound by the misses of the host's branch predictor and caches, a switch and about 15
// ns for an instruction.
#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "tile.h"

namespace gossamer::fast {
namespace {

using namespace rv32imf;

constexpr uint64_t kQuantum = 32;
constexpr uint32_t kPad = 0x0010'0000, kGuard = 12;
/// Flits on their way to a tile beyond which its senders wait: buffers of a mesh, and of a link.
constexpr uint32_t kNetFlits = 64, kLocalFlits = 24;
/// Flits of copies in flight beyond which messages by key wait at their senders.
constexpr uint32_t kCopyFlits = 512;
/// Limits of rtl/multicast: fields of a beat, and indirections of a message.
constexpr uint32_t kBeatBytes = 32, kFields = 5, kIndirections = 4095;
/// Links that a message by key may cross; more are a loop in the tables.
constexpr uint32_t kMostLinks = 4096;

/// Kinds of records (route_record in config/constants/fabric.toml).
namespace record {
enum : uint32_t { kThread, kThreadHalf, kThreadWord, kTile, kTileHalf, kRouter, kIndirect, kThreadDouble };
}  // namespace record

/// Why a packet is dropped, or a DMA engine rejects a transfer (rejection in config/constants/fabric.toml).
namespace rejection {
enum : uint32_t { kJob = 1, kPlace = 3, kThread = 4, kKind = 5, kLength = 6, kMask = 7, kAddress = 8 };
}  // namespace rejection

/// Kinds of addresses (endpoint).
namespace endpoint {
enum : uint32_t { kThread, kTile, kMatch = 3, kHost = 5, kAccelerator = 7 };
}  // namespace endpoint

namespace trap {
enum : uint32_t {
  kFetchMisaligned = 0,
  kFetchFault = 1,
  kIllegal = 2,
  kBreakpoint = 3,
  kLoadMisaligned = 4,
  kLoadFault = 5,
  kStoreMisaligned = 6,
  kStoreFault = 7,
  kCall = 8,
  kSendNotReady = 24,
  kBadSlot = 25,
  kBadLength = 26,
  kBadDestination = 27,
  kNotReceived = 28,
  kNothingToReceive = 29,
  kBadKey = 30,
  kStackOverflow = 31,
  kBadThread = 32,
  kBadInstrAddress = 33,
  kBadRegister = 34
};
}  // namespace trap

namespace csr {
enum : uint32_t {
  kFflags = 0x001,
  kFrm = 0x002,
  kFcsr = 0x003,
  kCycle = 0xC00,
  kCycleHigh = 0xC80,
  kInstret = 0xC02,
  kInstretHigh = 0xC82,
  kSendDest = 0x800,
  kSendSlot = 0x801,
  kSendLength = 0x802,
  kSendMaskLow = 0x803,
  kSendMaskHigh = 0x804,
  kSendTile = 0x805,
  kSendKey = 0x806,
  kRelease = 0x807,
  kWait = 0x808,
  kIdle = 0x809,
  kReduce = 0x80A,
  kReceive = 0xCC0,
  kCanSend = 0xCC1,
  kCanReceive = 0xCC2,
  kThreadId = 0xCC3,
  kHostId = 0xCC4,
  kThreads = 0xCC5,
  kJob = 0xCC6,
  kReducedLow = 0xCD4,
  kReducedLast = 0xCD7,
  kCacheFlush = 0x810,
  kInstrAddress = 0x811,
  kInstrWrite = 0x812,
  kThreadStart = 0x813,
  kThreadStop = 0x814,
  kGuardAt = 0x815,
  kDebugValue = 0x816,
  kEmit = 0x820,
  kUartPut = 0x821,
  kUartGet = 0xCD0,
  kPerfControl = 0x822,
  kPerfHits = 0xCE0,
  kPerfMisses = 0xCE1,
  kPerfWritebacks = 0xCE2,
  kPerfIdle = 0xCE3,
  kPerfIdleHigh = 0xCE4,
  kPerfRouted = 0xCE5,
  kPerfRoutedOff = 0xCE6,
  kPerfCycles = 0xCE7,
  kPerfCyclesHigh = 0xCE8
};

constexpr uint8_t kReadable = 1, kWritable = 2;

/// Access to a register of the tile; 0 if it does not exist.
uint8_t access(uint32_t number) {
  switch (number) {
    case kSendSlot:
    case kSendLength:
    case kSendMaskLow:
    case kSendMaskHigh:
    case kIdle:
    case kInstrAddress:
    case kGuardAt:
    case kUartPut: return kReadable | kWritable;
    case kSendDest:
    case kSendTile:
    case kSendKey:
    case kRelease:
    case kWait:
    case kReduce:
    case kCacheFlush:
    case kInstrWrite:
    case kThreadStart:
    case kThreadStop:
    case kDebugValue:
    case kEmit:
    case kPerfControl: return kWritable;
    case kCycle:
    case kCycleHigh:
    case kInstret:
    case kInstretHigh:
    case kReceive:
    case kCanSend:
    case kCanReceive:
    case kThreadId:
    case kHostId:
    case kThreads:
    case kJob:
    case kUartGet: return kReadable;
    default:
      return (number >= kReducedLow && number <= kReducedLast) || (number >= kPerfHits && number <= kPerfCyclesHigh)
                 ? kReadable
                 : 0;
  }
}

bool ofMailbox(uint32_t number) {
  return (number >= kSendDest && number <= kReduce) || (number >= kReceive && number <= kCanReceive) ||
         (number >= kReducedLow && number <= kReducedLast);
}
}  // namespace csr

/// A message by key that waits for its departure, or is expanded.
struct Keyed {
  uint32_t tile, thread, key, number;
  std::vector<uint8_t> data;
};
/// Messages by key of a board's threads, and the copies of its routers.
struct ByKey {
  uint32_t flits = 0;  ///< of copies in flight
  uint64_t routed = 0, routedOff = 0;
  std::deque<Keyed> waiting;
};

/// The threads of a job, and their messages in flight.
struct Job {
  uint64_t running = 0, waiting = 0, idle = 0, flying = 0, idleSince = 0;
  uint64_t given[2] = {}, reduced[2] = {};
  bool contributed[2] = {};
  uint32_t epoch = 0;

  bool isQuiet() const { return !running && !flying && idle; }
};

/// Packets that the endpoints of a board have dropped.
struct Drops {
  uint32_t count = 0, known = 0;  ///< packets; a bit for each job whose packets were dropped

  /// Counts a packet of a job. Whether it is reported: the first of each job, and each power of two.
  bool add(uint32_t job) {
    const bool due = !(known >> (job & 31) & 1) || !(count & (count + 1));
    ++count;
    known |= 1u << (job & 31);
    return due;
  }
};

class Machine {
 public:
  explicit Machine(const gs_fast_config& its)
      : c_(its),
        nextBoard_(its.next_board, its.next_board + its.boards * its.boards),
        nextLink_(its.next_link, its.next_link + its.boards * its.boards),
        tileThreads_(its.cores * its.core_threads),
        pads_(tileThreads_ * its.slots),
        linkFree_(size_t{its.boards} * std::max(its.links, 1u)),
        relayFree_(its.boards),
        neighbour_(its.neighbour, its.neighbour + size_t{its.boards} * its.links),
        routerFree_(size_t{its.boards} * (its.exits + its.links)),
        byKey_(its.boards),
        boardThreads_(its.boards),
        tileDrops_(its.boards),
        matchDrops_(its.boards),
        jobs_(std::max(its.jobs, 1u)) {
    for (uint32_t board = 0; board < its.boards; ++board) depth_ = std::max(depth_, its.depth[board]);
    threadBits_ = static_cast<uint32_t>(std::bit_width(tileThreads_ - 1));
    xBits_ = static_cast<uint32_t>(std::bit_width(its.width - 1));
    boardAt_ = threadBits_ + xBits_ + static_cast<uint32_t>(std::bit_width(its.tiles / its.width - 1));
    c_.next_board = c_.next_link = c_.depth = c_.neighbour = c_.job_of = nullptr;
    const auto logLine = static_cast<uint32_t>(std::countr_zero(its.line));
    windows_ = {its.half_bits, its.partition_bits, its.direct_bits, static_cast<uint32_t>(its.sram), logLine};
    for (uint32_t i = 0; i < its.boards * its.memories; ++i) memories_.emplace_back(its.dram, its.sram);
    const uint32_t memoryTiles = its.tiles / its.memories;
    tiles_.resize(size_t{its.boards} * its.tiles);
    auto code = std::make_shared<Code>(its.instr_words);
    for (uint32_t i = 0; i < tiles_.size(); ++i) {
      Tile& tile = tiles_[i];
      tile.number = i;
      tile.board = i / its.tiles;
      tile.job = its.job_of ? its.job_of[tile.board] : 0;
      tile.index = i % its.tiles;
      tile.memory = &memories_[tile.board * its.memories + tile.index / memoryTiles];
      tile.threads.resize(tileThreads_);
      tile.cores.resize(its.cores);
      for (uint32_t thread = 0; thread < tileThreads_; ++thread)
        tile.threads[thread].sendSlot = thread * its.slots * its.slot;
      for (Core& core : tile.cores) core.code = code;
      tile.cacheNext.resize(its.cores / std::min(its.cores, its.cache_cores));
      tile.fpuNext.resize(its.cores / std::min(its.cores, its.fpu_cores));
      tile.divideNext.resize(tile.fpuNext.size());
      tile.dividerNext.resize(its.cores);
      tile.caches.resize(tileThreads_, its.ways, its.sets, logLine);
      tile.pad.resize(size_t{pads_} * its.slot);
      tile.holders.resize(pads_);
      tile.pending.resize(pads_);
      for (uint32_t slot = 0; slot < pads_; ++slot) {
        if (slot % its.slots < 2) {
          tile.holders[slot] = 1ull << slot / its.slots;
        } else {
          tile.free.push_back(slot);
        }
      }
      addUnit(tile);
    }
  }

  void code(uint32_t job, const uint32_t* words, size_t count) {
    auto found = std::make_shared<Code>(c_.instr_words);
    for (size_t i = 0; i < count; ++i) (*found)[i] = decode(words[i]);
    for (Tile& tile : tiles_) {
      if (tile.job != job) continue;
      for (Core& core : tile.cores) core.code = found;
    }
  }

  /// The host's address of physical memory; null beyond its end.
  uint8_t* physical(uint32_t memory, uint32_t address, size_t size) {
    if (memory >= memories_.size()) return nullptr;
    const bool dram = address >> 30 == 1 || address >> 31;
    const uint64_t at = address >> 31 ? address - 0x4000'0000ull : dram ? address & 0x3FFF'FFFF : address & 0x0FFF'FFFF;
    Bytes& bytes = memories_[memory].spaces[!dram];
    if ((!dram && address >> 28 != 1) || at + size > bytes.size()) return nullptr;
    return bytes.at(at);
  }
  void flush() {
    for (Tile& tile : tiles_) {
      for (uint32_t thread = 0; thread < tileThreads_; ++thread) tile.caches.flushAll(thread, *tile.memory);
    }
  }

  Thread& thread(uint32_t number) { return tiles_[number / tileThreads_].threads[number % tileThreads_]; }
  uint32_t threads() const { return static_cast<uint32_t>(tiles_.size()) * tileThreads_; }

  void start(const uint32_t* counts, uint64_t cycle) {
    now_ = std::max(now_, cycle);
    first_ = now_;
    for (uint32_t board = 0; board < c_.boards; ++board) {
      boardThreads_[board] = counts[board];
      for (uint32_t i = 0; i < counts[board]; ++i) {
        Tile& tile = tiles_[board * c_.tiles + i / tileThreads_];
        begin(tile, i % tileThreads_, now_ + c_.timing.begin + c_.timing.begin_thread * (i % tileThreads_));
      }
    }
  }

  int run(uint64_t until, uint64_t quanta) {
    for (; quanta; --quanta) {
      if (!reason_.empty()) return GS_FAST_UNSUPPORTED;
      uint64_t from = kNever;
      for (const Tile& tile : tiles_) from = std::min(from, tile.next);
      bool released = false;
      for (uint32_t job = 0; job < jobs_.size(); ++job) {
        if ((from == kNever || jobs_.size() > 1) && jobs_[job].isQuiet()) {
          release(job);
          released = true;
        }
      }
      if (released) continue;
      if (from == kNever) {
        if (std::all_of(jobs_.begin(), jobs_.end(),
                        [](const Job& its) { return !(its.running + its.waiting + its.idle); })) {
          now_ = std::max(now_, last_ + c_.timing.end);
          return GS_FAST_DONE;
        }
        now_ = std::max(now_, last_);
        return GS_FAST_DEADLOCK;
      }
      if (from >= until) {
        now_ = std::max(now_, until);
        return GS_FAST_RUNS;
      }
      now_ = from;
      const uint64_t end = std::min(from + kQuantum, until);
      for (Tile& tile : tiles_) {
        if (tile.next < end) runTile(tile, from, end);
      }
      now_ = end;
    }
    return GS_FAST_RUNS;
  }

  void order(const uint32_t* words, size_t count) {
    replays_ = true;
    size_t at = 0;
    for (uint32_t i = 0; i < threads() + units_.size() && at < count; ++i) {
      Order& its = i < threads() ? thread(i).order : units_[i - threads()]->order;
      const uint32_t messages = words[at++];
      for (uint32_t k = 0; k < messages && at + 1 < count; ++k, at += 2) {
        its.messages.emplace_back(words[at], words[at + 1]);
        its.hasUnits = its.hasUnits || words[at] >= threads();
      }
    }
  }

  const gs_fast_config& config() const { return c_; }
  std::vector<Tile>& tiles() { return tiles_; }
  uint64_t cycle() const { return now_; }
  uint64_t first() const { return first_; }
  std::vector<gs_fast_record>& records() {
    shown_.swap(records_);
    records_.clear();
    return shown_;
  }
  size_t unfinished(gs_fast_unfinished* found) {
    size_t count = 0;
    for (uint32_t i = 0; i < threads(); ++i) {
      const Thread& t = thread(i);
      if (t.state != State::Runs && t.state != State::Waits && t.state != State::Idle) continue;
      const bool waits = t.state != State::Runs;
      // The states of the cores: running is 1, waiting for the response to a request 2; a request of a register is 2.
      found[count++] = {i,
                        static_cast<uint8_t>(waits ? 2 : 1),
                        2,
                        0,
                        waits ? t.pc - 4 : t.pc,
                        t.state == State::Idle ? csr::kIdle : csr::kWait,
                        t.state == State::Idle ? t.vote : t.events};
    }
    return count;
  }
  size_t held(gs_fast_held* found, size_t most) {
    size_t count = 0;
    for (Tile& tile : tiles_) {
      if (!tile.full || tile.arrivals.empty()) continue;
      if (tile.free.empty() && count < most) found[count++] = {tile.number, 2, 0, 1};
      for (uint32_t i = 0; i < tileThreads_ && count < most; ++i) {
        const uint64_t mask = messages_[tile.arrivals.top().message].mask;
        if ((mask >> i & 1) && tile.threads[i].queue.size() >= c_.queue) found[count++] = {tile.number, 1, i, 1};
      }
    }
    for (const Tile& tile : tiles_) {
      if (!tile.out[1].empty() && count < most) found[count++] = {tile.number, 3, 0, 1};
    }
    return count;
  }

  std::string reason_;
  uint32_t reasonThread_ = 0, reasonPc_ = 0;
  size_t commits_ = 0;
  bool deliveries_ = false;

 private:
  // ---- Threads ----

  void schedule(Tile& tile, uint32_t thread, uint64_t cycle) {
    tile.threads[thread].wake = cycle;
    tile.wheel.insert(thread, cycle);
    tile.next = std::min(tile.next, cycle);
  }
  void begin(Tile& tile, uint32_t thread, uint64_t cycle) {
    Thread& t = tile.threads[thread];
    t.state = State::Runs;
    t.pc = 0;
    ++jobs_[tile.job].running;
    schedule(tile, thread, cycle);
  }
  void report(Tile& tile, uint32_t thread, uint32_t kind, uint64_t cycle, uint32_t value, uint32_t pc = 0,
              uint32_t address = 0, uint32_t count = 0) {
    records_.push_back({kind, tile.number * tileThreads_ + thread, cycle, value, pc, address, count});
  }
  /// When a report of a tile has left, and its thread may continue.
  uint64_t reported(Tile& tile, uint64_t cycle) {
    const uint64_t at = std::max(tile.reportNext, cycle << 8);
    tile.reportNext = at + c_.timing.report;
    uint64_t& relay = relayFree_[tile.board];
    relay = std::max(relay + c_.timing.relay, (cycle << 8) + c_.timing.relay);
    return std::max(at, relay - c_.timing.relay) >> 8;
  }
  void end(Tile& tile, uint32_t thread, State state, uint64_t cycle) {
    tile.threads[thread].state = state;
    --jobs_[tile.job].running;
    last_ = std::max(last_, cycle);
  }
  void trapped(Tile& tile, uint32_t thread, uint64_t cycle, uint32_t cause, uint32_t value) {
    const uint64_t left = reported(tile, cycle + c_.timing.control);
    tile.reportNext += c_.timing.trap;
    end(tile, thread, State::Trapped, left);
    report(tile, thread, GS_FAST_TRAP, left, cause, tile.threads[thread].pc, value);
  }
  void unsupported(Tile& tile, uint32_t thread, const char* why) {
    if (!reason_.empty()) return;
    reason_ = why;
    reasonThread_ = tile.number * tileThreads_ + thread;
    reasonPc_ = tile.threads[thread].pc;
  }

  // ---- Time ----

  /// Occupies a unit that accepts a request a cycle; returns the cycles that the request waits.
  static uint64_t wait(uint64_t& next, uint64_t cycle) {
    const uint64_t at = std::max(next, cycle);
    next = at + 1;
    return at - cycle;
  }
  /// The same for a unit that all tiles share. Tiles run in turn, so requests are not in the order of time: the unit's
  /// work is counted from the begin of the quantum.
  uint64_t share(uint64_t& free, uint64_t cost, uint64_t cycle) {
    free = std::max(free, quantum_ << 8) + cost;
    const uint64_t done = (free - cost) >> 8;
    return done > cycle ? done - cycle : 0;
  }

  void runTile(Tile& tile, uint64_t from, uint64_t end) {
    quantum_ = from;
    for (;;) {
      const uint64_t arrival = tile.arrivals.empty() || tile.full ? kNever : tile.arrivals.top().cycle;
      const uint64_t issue = tile.wheel.next();
      tile.next = std::min(arrival, issue);
      if (tile.unit) {
        const uint64_t unit = tile.unit->next();
        if (unit <= tile.next && unit < end) {
          runUnit(tile, *tile.unit, unit);
          continue;
        }
        tile.next = std::min(tile.next, unit);
      }
      if (tile.next >= end) return;
      if (arrival <= issue) {
        deliver(tile, arrival);
        continue;
      }
      for (uint64_t mask = tile.wheel.take(issue); mask; mask &= mask - 1) {
        const auto thread = static_cast<uint32_t>(std::countr_zero(mask));
        Thread& t = tile.threads[thread];
        if (t.state != State::Runs) continue;
        if (t.wake > issue) {
          tile.wheel.insert(thread, t.wake);
          continue;
        }
        Core& core = tile.cores[thread / c_.core_threads];
        const uint64_t at = std::max(core.next, issue);
        core.next = at + 1;
        const uint64_t taken = step(tile, core, t, thread, at);
        if (taken) {
          t.wake = at + taken;
          tile.wheel.insert(thread, t.wake);
        }
      }
    }
  }

  /// All threads of a job wait in idle, and none of its messages is in flight.
  void release(uint32_t number) {
    Job& its = jobs_[number];
    bool agreed = true;
    for (Tile& tile : tiles_) {
      for (Thread& t : tile.threads) {
        if (tile.job == number && t.state == State::Idle) agreed = agreed && t.vote;
      }
    }
    uint64_t at = its.idleSince + c_.timing.barrier + 2ull * depth_ * c_.timing.link;
    if (its.contributed[0] || its.contributed[1]) at += c_.timing.words;
    for (int i = 0; i < 2; ++i) {
      its.reduced[i] = its.contributed[i] ? its.given[i] : 0;
      its.given[i] = 0;
      its.contributed[i] = false;
    }
    ++its.epoch;
    for (Tile& tile : tiles_) {
      if (tile.job != number) continue;
      uint32_t count = 0;
      for (uint32_t i = 0; i < tileThreads_; ++i) {
        // The first threads of all cores, then the second ones.
        const uint32_t thread = i % c_.cores * c_.core_threads + i / c_.cores;
        Thread& t = tile.threads[thread];
        if (t.state != State::Idle) continue;
        t.idleResult = agreed ? 2 : 1;
        wakeIdle(tile, thread, at + c_.timing.release * count++);
      }
    }
  }
  void wakeIdle(Tile& tile, uint32_t thread, uint64_t cycle) {
    Thread& t = tile.threads[thread];
    wokenWith(t, t.idleResult);
    t.state = State::Runs;
    --jobs_[tile.job].idle;
    ++jobs_[tile.job].running;
    schedule(tile, thread, cycle);
  }
  void wakeWaiting(Tile& tile, uint32_t thread, uint64_t cycle) {
    Thread& t = tile.threads[thread];
    wokenWith(t, happened(t, cycle) & t.events);
    t.state = State::Runs;
    --jobs_[tile.job].waiting;
    ++jobs_[tile.job].running;
    schedule(tile, thread, cycle + c_.timing.mailbox - kEffect);
  }
  uint32_t happened(const Thread& t, uint64_t cycle) const {
    return static_cast<uint32_t>(!t.blocked && t.busy <= cycle) | static_cast<uint32_t>(!t.queue.empty()) << 1;
  }

  // ---- Messages ----

  void push(Tile& tile, uint32_t thread, uint32_t slot, uint32_t sender, uint32_t number, uint64_t cycle) {
    Thread& t = tile.threads[thread];
    t.queue.push_back(slot);
    if (deliveries_) report(tile, thread, GS_FAST_DELIVERY, cycle, 0, sender, number);
    if (t.state == State::Waits && (t.events & 2)) wakeWaiting(tile, thread, cycle);
    if (t.state == State::Idle) {
      t.idleResult = 0;
      wakeIdle(tile, thread, cycle + c_.timing.mailbox - kEffect);
    }
  }

  /// Takes the first arrived message, unless a queue or all slots are full. In a replay it waits, without a slot, until
  /// it is the next one of all its receivers.
  void deliver(Tile& tile, uint64_t cycle) {
    const uint32_t at = tile.arrivals.top().message;
    if (!replays_ && !accept(tile, at, cycle)) {
      tile.full = true;
      return;
    }
    tile.arrivals.pop();
    if (replays_) {
      tile.coming -= messages_[at].flits;
      tile.early.push_back(at);
      acceptEarly(tile, cycle);
    }
    std::vector<uint32_t> blocked;
    blocked.swap(tile.blockedTiles);
    for (const uint32_t other : blocked) unblock(tiles_[other], cycle);
  }

  void acceptEarly(Tile& tile, uint64_t cycle) {
    for (size_t i = 0; i < tile.early.size();) {
      const Message& message = messages_[tile.early[i]];
      bool due = true;
      for (uint64_t mask = message.mask & known(); mask; mask &= mask - 1) {
        const Thread& t = tile.threads[static_cast<uint32_t>(std::countr_zero(mask))];
        due = due && (isOutOfOrder(t, message) || t.order.allows(message));
      }
      if (!due || !accept(tile, tile.early[i], cycle)) {
        ++i;
        continue;
      }
      tile.early.erase(tile.early.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    }
  }

  /// Whether a packet of a unit is delivered as it arrives: the replayed order has none of them.
  bool isOutOfOrder(const Thread& t, const Message& message) const {
    return message.sender >= threads() && !t.order.hasUnits;
  }

  uint64_t known() const { return tileThreads_ == 64 ? ~0ull : (1ull << tileThreads_) - 1; }

  /// Stores a message in a slot for its receivers. False if a queue or all slots are full.
  bool accept(Tile& tile, uint32_t at, uint64_t cycle) {
    Message& message = messages_[at];
    const bool good = message.mask && !(message.mask & ~known()) && message.job == tile.job;
    if (good) {
      if (tile.free.empty()) return false;
      for (uint64_t mask = message.mask; mask; mask &= mask - 1) {
        if (tile.threads[static_cast<uint32_t>(std::countr_zero(mask))].queue.size() >= c_.queue) return false;
      }
    }
    tile.counters.received += good;
    landed(message.job, cycle);
    if (!replays_) tile.coming -= message.flits;
    if (good) {
      const uint32_t slot = tile.free.front();
      tile.free.pop_front();
      std::memcpy(&tile.pad[size_t{slot} * c_.slot], message.data.data(), message.data.size());
      tile.pending[slot] = message.mask;
      uint32_t count = 0;
      for (uint64_t mask = message.mask; mask; mask &= mask - 1) {
        const auto thread = static_cast<uint32_t>(std::countr_zero(mask));
        if (!isOutOfOrder(tile.threads[thread], message)) ++tile.threads[thread].order.next;
        push(tile, thread, slot, message.sender, message.number, cycle + count++ / 4);
      }
    } else {
      const uint32_t why = message.job != tile.job ? rejection::kJob
                           : !message.mask         ? rejection::kMask
                                                   : rejection::kThread;
      drop(tile, why, message.job, cycle);
    }
    freeMessages_.push_back(at);
    if (message.router != ~0u) delivered(message, cycle);
    return true;
  }

  /// A tile drops a message of a job.
  void drop(Tile& tile, uint32_t why, uint32_t job, uint64_t cycle) {
    ++tile.refused;
    Drops& drops = tileDrops_[tile.board];
    if (drops.add(job)) report(tile, 0, GS_FAST_TILE_DROPPED, cycle, why, 0, job, drops.count);
  }
  /// A message of a job is in flight no longer.
  void landed(uint32_t job, uint64_t cycle) {
    --jobs_[job].flying;
    jobs_[job].idleSince = std::max(jobs_[job].idleSince, cycle);
    last_ = std::max(last_, cycle);
  }

  /// Space may be free for the messages that wait in a tile.
  void unblock(Tile& tile, uint64_t cycle) {
    for (int route = 0; route < 2; ++route) {
      while (!tile.out[route].empty()) {
        const uint32_t at = tile.out[route].front(), thread = tile.outThreads[route].front();
        if (!hasSpace(tile, messages_[at])) {
          blockOn(tile, messages_[at].tile);
          break;
        }
        tile.out[route].pop_front();
        tile.outThreads[route].pop_front();
        Thread& t = tile.threads[thread];
        t.blocked = false;
        depart(tile, t, at, cycle);
        sent(tile, thread);
      }
    }
  }
  void blockOn(Tile& tile, uint32_t other) {
    auto& blocked = tiles_[other].blockedTiles;
    if (std::find(blocked.begin(), blocked.end(), tile.number) == blocked.end()) blocked.push_back(tile.number);
  }
  bool hasSpace(const Tile& tile, const Message& message) const {
    const uint32_t most = message.tile == tile.number ? kLocalFlits : kNetFlits;
    const Tile& other = tiles_[message.tile];
    return !other.coming || other.coming + message.flits <= most;
  }
  /// A message has left its thread, which may send again at `busy`.
  void sent(Tile& tile, uint32_t thread) {
    Thread& t = tile.threads[thread];
    if (t.releaseLate) {
      t.releaseLate = false;
      freeSlot(tile, t.sentSlot, thread);
    }
    if (t.state == State::Waits && (t.events & 1)) wakeWaiting(tile, thread, t.busy);
  }

  /// Hops of the mesh between two tiles, by their numbers on their boards.
  uint32_t distance(uint32_t a, uint32_t b) const {
    const auto apart = [](uint32_t p, uint32_t q) { return p > q ? p - q : q - p; };
    return apart(a % c_.width, b % c_.width) + apart(a / c_.width, b / c_.width);
  }
  /// When a packet that would arrive in a cycle on its board arrives on another one. The links are occupied meanwhile.
  uint64_t overLinks(uint32_t board, uint32_t last, uint32_t flits, uint64_t arrival) {
    while (board != last) {
      const size_t entry = size_t{board} * c_.boards + last;
      uint64_t& free = linkFree_[board * c_.links + nextLink_[entry]];
      // A message that overtakes another one of its sender would change the order: the link serves them in turn.
      free = std::max(free, arrival << 8) + uint64_t{c_.timing.link_flit} * flits;
      arrival = (free >> 8) + c_.timing.link;
      board = nextBoard_[entry];
    }
    return arrival;
  }

  /// A message leaves a tile.
  void depart(Tile& tile, Thread& t, uint32_t at, uint64_t cycle) {
    Message& message = messages_[at];
    Tile& other = tiles_[message.tile];
    const bool local = &other == &tile;
    uint64_t arrival = leave(tile, t, message.flits, cycle);
    if (local) {
      arrival += c_.timing.local_message;
    } else {
      tile.counters.flits_out += message.flits;
      arrival = overLinks(tile.board, other.board, message.flits,
                          arrival + c_.timing.mesh_message + c_.timing.hop * distance(tile.index, other.index));
      other.counters.flits_in += message.flits;
    }
    receive(other, at, arrival);
  }

  bool send(Tile& tile, Thread& t, uint32_t thread, uint64_t at, uint32_t number, uint32_t to) {
    const auto fail = [&](uint32_t cause, uint32_t value) {
      trapped(tile, thread, at, cause, value);
      return false;
    };
    const auto field = [to](uint32_t at, uint32_t bits) { return to >> at & ((1u << bits) - 1); };
    const uint32_t kind = to >> 29, low = field(0, threadBits_), x = field(threadBits_, xBits_);
    const uint32_t y = field(threadBits_ + xBits_, boardAt_ - threadBits_ - xBits_);
    const uint32_t board = field(boardAt_, 29 - boardAt_);
    const bool inside = board < c_.boards && x < c_.width && y * c_.width + x < c_.tiles;
    uint64_t mask = t.maskLow | static_cast<uint64_t>(t.maskHigh) << 32;
    if (number == csr::kSendKey) {
      if (!(to & 31)) return fail(trap::kBadKey, to);
    } else if (number == csr::kSendTile) {
      if (!inside || kind != endpoint::kTile || low) return fail(trap::kBadDestination, to);
    } else if (kind == endpoint::kHost) {
      if ((to >> 26 & 7) || (to >> 14 & 0xFFF) || (to & 0x3FFF)) return fail(trap::kBadDestination, to);
    } else if (kind == endpoint::kAccelerator) {
      if (!inside) return fail(trap::kBadDestination, to);
    } else if (kind == endpoint::kMatch) {
      if (!c_.match_on_board || (to >> 26 & 7) || (to >> 14 & 0xFFF) >= c_.boards)
        return fail(trap::kBadDestination, to);
    } else {
      if (!inside || kind != endpoint::kThread || low >= tileThreads_) return fail(trap::kBadDestination, to);
      mask = 1ull << low;
    }
    if (t.blocked || t.busy > at + kEffect) return fail(trap::kSendNotReady, to);
    if (number == csr::kSendTile && (!mask || (mask & ~known()))) return fail(trap::kBadDestination, to);
    const uint32_t slot = t.sendSlot / c_.slot;
    if (!(tile.holders[slot] >> thread & 1)) return fail(trap::kNotReceived, t.sendSlot + kPad);
    const size_t bytes = size_t{t.sendLength + 1} * c_.flit;
    const uint8_t* data = &tile.pad[size_t{slot} * c_.slot];
    ++tile.counters.sent;
    t.sentSlot = slot;
    if (number == csr::kSendKey) {
      ByKey& its = byKey_[tile.board];
      ++jobs_[tile.job].flying;
      Keyed sending{tile.number, thread, to, t.sent++, {data, data + bytes}};
      if (its.waiting.empty() && its.flits < kCopyFlits) {
        departKeyed(sending, at + kEffect);
      } else {
        its.waiting.push_back(std::move(sending));
        t.blocked = true;
      }
      return true;
    }
    if (kind == endpoint::kHost) {
      t.busy = at + c_.timing.send_busy + t.sendLength;
      tile.counters.flits_out += t.sendLength + 1;
      report(tile, thread, GS_FAST_MESSAGE, at + c_.timing.mesh_message, static_cast<uint32_t>(bytes));
      const size_t count = (bytes + sizeof(gs_fast_record) - 1) / sizeof(gs_fast_record), first = records_.size();
      records_.resize(first + count);
      std::memcpy(static_cast<void*>(&records_[first]), data, bytes);
      ++t.sent;
      return true;
    }
    const uint32_t made = newMessage();
    Message& message = messages_[made];
    if (kind == endpoint::kAccelerator || kind == endpoint::kMatch) {
      message.job = tile.job;
      message.flits = t.sendLength + 1;
      message.sender = tile.number * tileThreads_ + thread;
      message.number = t.sent++;
      message.data.assign(data, data + bytes);
      ++jobs_[tile.job].flying;
      if (kind == endpoint::kAccelerator) {
        message.port = low;
        departToTile(tile, t, made, board * c_.tiles + y * c_.width + x, at + kEffect);
      } else {
        message.port = to & 0x3FFF;
        departToBoard(tile, t, made, to >> 14 & 0xFFF, at + kEffect);
      }
      return true;
    }
    message.mask = mask;
    message.tile = board * c_.tiles + y * c_.width + x;
    const bool local = message.tile == tile.number;
    // A mask is a flit of its own in the network.
    message.flits = t.sendLength + 1 + (number == csr::kSendTile && !local);
    message.sender = tile.number * tileThreads_ + thread;
    message.number = t.sent++;
    message.data.assign(data, data + bytes);
    message.job = tile.job;
    ++jobs_[tile.job].flying;
    if (tile.out[!local].empty() && hasSpace(tile, message)) {
      depart(tile, t, made, at + kEffect);
    } else {
      tile.out[!local].push_back(made);
      tile.outThreads[!local].push_back(thread);
      t.blocked = true;
      blockOn(tile, messages_[tile.out[!local].front()].tile);
    }
    return true;
  }

  uint32_t newMessage() {
    if (freeMessages_.empty()) {
      messages_.emplace_back();
      return static_cast<uint32_t>(messages_.size() - 1);
    }
    const uint32_t made = freeMessages_.back();
    freeMessages_.pop_back();
    messages_[made].router = ~0u;
    return made;
  }

  // ---- Match engines and DMA engines ----

  /// Adds the engine of a tile, or the one at the board that serves this tile first.
  void addUnit(Tile& tile) {
    const bool begins = c_.match_on_board && rankOf(tile.index, 0) % c_.match_ranks == 0;
    if (!c_.match_in_tiles && !begins) return;
    tile.unit =
        std::make_unique<Unit>(MatchEngine::Shape{c_.match_ranks, c_.match_cam, c_.match_entries, c_.match_receives,
                                                  c_.match_eager, c_.match_announced, c_.match_window});
    Unit& unit = *tile.unit;
    unit.number = static_cast<uint32_t>(units_.size());
    unit.board = tile.board;
    unit.onBoard = c_.match_on_board;
    unit.first = unit.onBoard ? rankOf(tile.index, 0) : 0;
    units_.push_back(&unit);
  }
  /// The rank of a thread at the board's match engines: the thread's part of a program's address.
  uint32_t rankOf(uint32_t tile, uint32_t thread) const {
    return (tile / c_.width) << (threadBits_ + xBits_) | (tile % c_.width) << threadBits_ | thread;
  }

  /// A message leaves for the unit of a tile. Units accept all packets, so it never waits for space.
  void departToTile(Tile& tile, Thread& t, uint32_t at, uint32_t to, uint64_t cycle) {
    Tile& other = tiles_[to];
    const uint32_t flits = messages_[at].flits;
    uint64_t arrival = leave(tile, t, flits, cycle);
    if (&other == &tile) {
      arrival += c_.timing.own_unit;
    } else {
      tile.counters.flits_out += flits;
      other.counters.flits_in += flits;
      arrival = overLinks(tile.board, other.board, flits,
                          arrival + c_.timing.tile_unit + c_.timing.hop * distance(tile.index, other.index));
    }
    if (!other.unit || tile.job != other.job) {
      drop(other, tile.job != other.job ? rejection::kJob : rejection::kKind, tile.job, arrival);
      discard(at, arrival);
      return;
    }
    arrive(other, *other.unit, at, arrival);
  }
  /// A message leaves for a match engine at a board, whose port follows the mesh's exit.
  void departToBoard(Tile& tile, Thread& t, uint32_t at, uint32_t board, uint64_t cycle) {
    Message& message = messages_[at];
    const uint32_t x = tile.index % c_.width, exit = std::min(x, c_.exits - 1);
    tile.counters.flits_out += message.flits;
    uint64_t arrival = leave(tile, t, message.flits, cycle) + c_.timing.board_unit +
                       uint64_t{c_.timing.hop} * (x - exit + tile.index / c_.width);
    arrival = overLinks(tile.board, board, message.flits, arrival);
    const uint32_t inTile = message.port >> threadBits_, column = inTile & ((1u << xBits_) - 1);
    const uint32_t row = inTile >> xBits_, home = message.port / c_.match_ranks * c_.match_ranks;
    const bool known = column < c_.width && row < c_.tiles / c_.width;
    const uint32_t first = board * c_.tiles;
    if (!known || tiles_[first].job != tile.job) {
      Drops& drops = matchDrops_[board];
      if (drops.add(tile.job))
        report(tiles_[first], 0, GS_FAST_MATCH_DROPPED, arrival, known ? rejection::kJob : rejection::kThread,
               message.port, tile.job, drops.count);
      discard(at, arrival);
      return;
    }
    const uint32_t homeTile = home >> threadBits_;
    Tile& other = tiles_[first + (homeTile >> xBits_) * c_.width + (homeTile & ((1u << xBits_) - 1))];
    message.port -= home;
    arrive(other, *other.unit, at, arrival);
  }
  /// A message occupies the transmitter of its tile. Returns the cycle of its last flit.
  uint64_t leave(Tile& tile, Thread& t, uint32_t flits, uint64_t cycle) {
    const uint64_t begin = std::max(tile.transmitNext, cycle);
    tile.transmitNext = begin + flits;
    t.busy = begin + c_.timing.send_busy + flits - 1 - kEffect;
    return begin + flits - 1 - kEffect;
  }
  void discard(uint32_t at, uint64_t cycle) {
    landed(messages_[at].job, cycle);
    freeMessages_.push_back(at);
  }
  void arrive(Tile& home, Unit& unit, uint32_t at, uint64_t cycle) {
    unit.arrivals.push({cycle, sequence_++, at});
    home.next = std::min(home.next, unit.next());
  }

  /// Executes the next event of a unit.
  void runUnit(Tile& tile, Unit& unit, uint64_t cycle) {
    if (unit.outAt <= cycle) {
      answer(tile, unit, cycle);
    } else if (unit.dma.next <= cycle) {
      runDma(tile, unit, cycle);
    } else {
      const uint32_t at = unit.arrivals.top().message;
      unit.arrivals.pop();
      unit.early.push_back(at);
      // In a replay a packet waits for those before it.
      for (size_t i = 0; i < unit.early.size();) {
        if (replays_ && !unit.order.allows(messages_[unit.early[i]])) {
          ++i;
          continue;
        }
        const uint32_t due = unit.early[i];
        unit.early.erase(unit.early.begin() + static_cast<std::ptrdiff_t>(i));
        ++unit.order.next;
        execute(tile, unit, due, std::max(cycle, unit.inNext));
        i = 0;
      }
    }
  }
  /// Executes a packet that has arrived at a unit.
  void execute(Tile& tile, Unit& unit, uint32_t at, uint64_t cycle) {
    const Message& message = messages_[at];
    if (deliveries_)
      records_.push_back({GS_FAST_DELIVERY, threads() + unit.number, cycle, 0, message.sender, message.number, 0});
    if (c_.dma && message.data[0] == packet::kMove) {
      requestTransfer(unit, message, cycle);
    } else {
      unit.match.acknowledge(message.port, message.data);
      if (unit.outAt == kNever && unit.outNext <= cycle && unit.match.hasPacket()) answer(tile, unit, cycle);
      const MatchEngine::Cycles its = unit.match.receive(message.port, message.data);
      unit.inNext = cycle + its.next;
      // The next packet has its first flit by then.
      if (!unit.arrivals.empty()) unit.inNext += messages_[unit.arrivals.top().message].flits;
      if (unit.outAt == kNever && unit.match.hasPacket()) unit.outAt = std::max(unit.outNext, cycle + its.result);
      keepBusy(tile, unit, cycle + its.result);
    }
    discard(at, cycle);
  }
  /// Packets that wait in a match engine are in flight.
  void keepBusy(const Tile& tile, Unit& unit, uint64_t cycle) {
    const bool busy = unit.match.busy();
    if (busy && !unit.busy) ++jobs_[tile.job].flying;
    if (!busy && unit.busy) landed(tile.job, cycle);
    unit.busy = busy;
  }
  /// A match engine sends its next packet.
  void answer(Tile& tile, Unit& unit, uint64_t cycle) {
    MatchEngine::Packet packet = unit.match.next();
    const auto flits = static_cast<uint32_t>(packet.data.size() / c_.flit);
    unit.outNext = cycle + 3 + flits;
    unit.outAt = unit.match.hasPacket() ? unit.outNext : kNever;
    const uint32_t rank = unit.first + packet.thread;
    const uint32_t row = rank >> (threadBits_ + xBits_), column = rank >> threadBits_ & ((1u << xBits_) - 1);
    Tile& other = unit.onBoard ? tiles_[tile.board * c_.tiles + row * c_.width + column] : tile;
    toThread(tile, unit, other, rank & (tileThreads_ - 1), std::move(packet.data), cycle);
    keepBusy(tile, unit, cycle + flits);
  }
  /// A packet of a unit leaves for a thread.
  void toThread(Tile& tile, Unit& unit, Tile& other, uint32_t thread, std::vector<uint8_t> data, uint64_t cycle) {
    const uint32_t made = newMessage();
    Message& message = messages_[made];
    message.flits = static_cast<uint32_t>(data.size() / c_.flit);
    message.mask = 1ull << thread;
    message.tile = other.number;
    message.sender = threads() + unit.number;
    message.number = unit.sent++;
    message.job = tile.job;
    message.data = std::move(data);
    ++jobs_[tile.job].flying;
    uint64_t arrival = cycle + message.flits - 1;
    if (unit.onBoard) {
      other.counters.flits_in += message.flits;
      const uint32_t x = other.index % c_.width;
      arrival += c_.timing.from_board_unit +
                 uint64_t{c_.timing.hop} * (x - std::min(x, c_.exits - 1) + other.index / c_.width);
    } else if (&other == &tile) {
      arrival += c_.timing.from_unit;
    } else {
      tile.counters.flits_out += message.flits;
      other.counters.flits_in += message.flits;
      arrival = overLinks(tile.board, other.board, message.flits,
                          arrival + c_.timing.unit_tile + c_.timing.hop * distance(tile.index, other.index));
    }
    receive(other, made, arrival);
  }
  /// A message is on its way to a tile, and arrives at its mailbox in a cycle.
  void receive(Tile& other, uint32_t made, uint64_t arrival) {
    const uint32_t flits = messages_[made].flits;
    other.receiveNext = std::max(other.receiveNext + flits, arrival);
    other.coming += flits;
    other.arrivals.push({other.receiveNext, sequence_++, made});
    if (!other.full) other.next = std::min(other.next, other.arrivals.top().cycle);
  }

  void requestTransfer(Unit& unit, const Message& message, uint64_t cycle) {
    Dma& dma = unit.dma;
    ++jobs_[message.job].flying;
    if (message.data.size() != 32 || (dma.inFlight >> message.port & 1)) {
      // One answer for several such requests
      if (std::find(dma.bad.begin(), dma.bad.end(), message.port) == dma.bad.end()) {
        dma.bad.push_back(message.port);
      } else {
        --jobs_[message.job].flying;
      }
    } else {
      dma.inFlight |= 1ull << message.port;
      Transfer transfer{message.port, {}};
      std::memcpy(transfer.word.data(), message.data.data(), sizeof transfer.word);
      dma.queue.push_back(transfer);
    }
    if (dma.next == kNever) dma.next = cycle + 1;
  }

  /// The number of the tile of a thread's address; ~0 if it does not exist.
  uint32_t tileOf(uint32_t address) const {
    const auto field = [address](uint32_t at, uint32_t bits) { return address >> at & ((1u << bits) - 1); };
    const uint32_t x = field(threadBits_, xBits_), y = field(threadBits_ + xBits_, boardAt_ - threadBits_ - xBits_);
    const uint32_t board = field(boardAt_, 29 - boardAt_);
    if (address >> 29 || board >= c_.boards || x >= c_.width || y >= c_.tiles / c_.width) return ~0u;
    return board * c_.tiles + y * c_.width + x;
  }
  /// Why a transfer is rejected before it begins (rejection in config/constants/fabric.toml); 0 if it is not.
  uint32_t rejectionOf(const Transfer& its) const {
    const uint32_t length = its.word[3], source = its.word[4], target = its.word[5];
    if (tileOf(its.word[1]) == ~0u) return rejection::kPlace;
    if (length % c_.line) return rejection::kLength;
    if (!length) return 0;
    const uint32_t lastSource = source + length - 1, lastTarget = target + length - 1;
    const bool wraps = lastSource >> 30 != source >> 30 || lastTarget >> 30 != target >> 30 || lastSource < source ||
                       lastTarget < target;
    const bool good = target % c_.line == 0 && !wraps && windows_.isMapped(source) && windows_.isMapped(lastSource) &&
                      windows_.isMapped(target) && windows_.isMapped(lastTarget);
    return good ? 0 : rejection::kAddress;
  }

  /// Continues the transfers of a DMA engine: a packet, or the end of a transfer.
  void runDma(Tile& tile, Unit& unit, uint64_t cycle) {
    Dma& dma = unit.dma;
    const auto flit = [](const std::array<uint32_t, 4>& words) {
      std::vector<uint8_t> data(16);
      std::memcpy(data.data(), words.data(), 16);
      return data;
    };
    const auto goOn = [&](uint64_t next) { dma.next = dma.bad.empty() && dma.queue.empty() ? kNever : next; };
    if (!dma.bad.empty() && !dma.done && !dma.ends) {
      const auto lowest = std::min_element(dma.bad.begin(), dma.bad.end());
      const uint32_t thread = *lowest;
      dma.bad.erase(lowest);
      toThread(tile, unit, tile, thread, flit({packet::kBad, 0, 0, 0}), cycle);
      landed(tile.job, cycle);
      goOn(cycle + 2);
      return;
    }
    const Transfer its = dma.queue.front();
    const uint32_t length = its.word[3];
    if (!dma.done && !dma.ends) {
      dma.status = rejectionOf(its);
      if (dma.status || !length) {
        dma.ends = true;
        dma.next = cycle + 2;
        return;
      }
    }
    if (dma.ends) {
      const uint32_t handles = its.word[2];
      if (!dma.status) {
        Tile& other = tiles_[tileOf(its.word[1])];
        toThread(tile, unit, other, its.word[1] & (tileThreads_ - 1),
                 flit({packet::kLanded, its.word[1], handles >> 16, length}), cycle);
      }
      toThread(tile, unit, tile, its.thread,
               flit({packet::kMoved | dma.status << 8, its.word[1], handles & 0xFFFF, length}), cycle + !dma.status);
      dma.inFlight &= ~(1ull << its.thread);
      dma.queue.pop_front();
      dma.done = 0;
      dma.ends = false;
      landed(tile.job, cycle);
      goOn(cycle + 3);
      return;
    }
    Tile& other = tiles_[tileOf(its.word[1])];
    const uint32_t bytes = std::min(256u, length - dma.done), flits = bytes / 16 + 1;
    const bool first = !dma.done, last = dma.done + bytes == length, accepted = tile.job == other.job;
    uint64_t begin = cycle;
    if (first) begin += c_.timing.dma_begin;
    uint64_t arrival = begin + flits;
    if (&other != &tile) {
      tile.counters.flits_out += flits;
      other.counters.flits_in += flits;
      arrival = overLinks(tile.board, other.board, flits,
                          arrival + c_.timing.dma_mesh + c_.timing.hop * distance(tile.index, other.index));
    }
    uint64_t memories = 0;
    if (accepted) {
      for (uint32_t i = 0; i < bytes; ++i)
        *byteOf(other, its.word[5] + dma.done + i) = *byteOf(tile, its.word[4] + dma.done + i);
      const bool sram[] = {windows_.place(its.word[4]).sram, windows_.place(its.word[5]).sram};
      for (const bool end : {false, true}) {
        uint64_t& free = (end ? other : tile).memory->free[sram[end]];
        share(free, uint64_t{sram[end] ? c_.timing.sram_line : c_.timing.dram_line} * (bytes / c_.line), begin);
        memories = std::max(memories, free >> 8);
      }
    }
    other.loaderNext = std::max({other.loaderNext + c_.timing.dma_packet, arrival, memories});
    dma.done += bytes;
    const uint32_t between = tile.board == other.board ? c_.timing.dma_packet : c_.timing.dma_far;
    dma.next = std::max(begin + between, memories);
    if (first || last) {
      // The loader's reply: one flit, back over the same number of links
      uint64_t reply = other.loaderNext + c_.timing.dma_reply;
      if (&other != &tile) {
        other.counters.flits_out += 1;
        tile.counters.flits_in += 1;
        reply = overLinks(other.board, tile.board, 1,
                          reply + c_.timing.dma_mesh + c_.timing.hop * distance(tile.index, other.index));
      }
      dma.next = reply;
      if (!accepted) {
        dma.status = rejection::kJob;
        ++other.refused;
      }
      if (last || !accepted) dma.ends = true;
    }
  }
  /// A byte of a tile's memory, past the caches.
  uint8_t* byteOf(Tile& tile, uint32_t address) {
    const Place place = windows_.place(address);
    return tile.memory->spaces[place.sram].at(place.address);
  }

  // ---- Multicast routers ----

  /// A message by key leaves its tile for the nearest exit of the mesh.
  void departKeyed(const Keyed& its, uint64_t cycle) {
    Tile& tile = tiles_[its.tile];
    Thread& t = tile.threads[its.thread];
    const auto flits = static_cast<uint32_t>(its.data.size() / c_.flit) + 1;
    tile.counters.flits_out += flits;
    const uint32_t x = tile.index % c_.width, exit = std::min(x, c_.exits - 1);
    const uint64_t arrival = leave(tile, t, flits, cycle) + c_.timing.to_router +
                             uint64_t{c_.timing.hop} * (x - exit + tile.index / c_.width);
    uint32_t links = 0;
    expand(tile.board, tile.board * (c_.exits + c_.links) + exit, its.key, its, arrival, links);
    landed(tile.job, arrival);
  }

  /// Makes the copies of a message that has arrived at a router of a board.
  void expand(uint32_t board, uint32_t router, uint32_t key, const Keyed& its, uint64_t cycle, uint32_t& links) {
    Bytes& table = memories_[size_t{board} * c_.memories].spaces[0];
    const auto flits = static_cast<uint32_t>(its.data.size() / c_.flit);
    uint64_t& free = routerFree_[router];
    free = std::max(free, cycle) + c_.timing.router;
    for (uint32_t indirections = 0, more = 1; more && indirections <= kIndirections; ++indirections) {
      more = 0;
      const uint64_t first = key >> 5, end = first + (key & 31);
      for (uint64_t beat = first; beat < end && !more; ++beat) {
        if ((beat + 1) * kBeatBytes > table.size()) return;
        const uint8_t* const at = table.at(beat * kBeatBytes);
        uint16_t count;
        std::memcpy(&count, at, 2);
        const auto field = [at](uint32_t number) {
          uint64_t found = 0;
          std::memcpy(&found, at + 2 + 6 * size_t{number}, 6);
          return found;
        };
        for (uint32_t i = 0, place = 0; i < count && count <= kFields && !more; ++i) {
          const uint64_t low = field(place);
          const auto kind = static_cast<uint32_t>(low >> 45);
          const bool wide = kind == record::kThreadWord || kind == record::kThreadDouble || kind == record::kTile ||
                            kind == record::kTileHalf;
          if (place + wide >= kFields) break;
          const uint64_t high = wide ? field(place + 1) : 0;
          place += wide ? 2 : 1;
          if (kind == record::kIndirect) {
            key = static_cast<uint32_t>(low);
            more = 1;
          } else if (kind == record::kRouter) {
            free += flits + 1;
            toRouter(board, static_cast<uint32_t>(low >> 41 & 15), static_cast<uint32_t>(low), its, free, links);
          } else {
            const bool toTile = kind == record::kTile || kind == record::kTileHalf;
            free += flits + toTile;
            copy(board, kind, low, high, its, flits + toTile, free);
          }
        }
      }
    }
  }

  /// Sends a message over a link, to the router at its other end.
  void toRouter(uint32_t board, uint32_t link, uint32_t key, const Keyed& its, uint64_t cycle, uint32_t& links) {
    const uint32_t next = link < c_.links ? neighbour_[size_t{board} * c_.links + link] : ~0u;
    if (next == ~0u) return;
    ++byKey_[board].routed;
    ++byKey_[board].routedOff;
    if (++links > kMostLinks) {
      unsupported(tiles_[its.tile], its.thread, "sent to a key whose tables form a loop of boards");
      return;
    }
    uint64_t& free = linkFree_[size_t{board} * c_.links + link];
    free = std::max(free, cycle << 8) + c_.timing.link_flit * (its.data.size() / c_.flit + 1);
    uint32_t back = 0;
    while (back < c_.links && neighbour_[size_t{next} * c_.links + back] != board) ++back;
    const size_t router = size_t{next} * (c_.exits + c_.links) + c_.exits + back % c_.links;
    if (key & 31) expand(next, static_cast<uint32_t>(router), key, its, (free >> 8) + c_.timing.link, links);
  }

  /// Sends a copy to threads of a tile of its router's board.
  void copy(uint32_t board, uint32_t kind, uint64_t low, uint64_t high, const Keyed& its, uint32_t flits,
            uint64_t cycle) {
    const auto y = static_cast<uint32_t>(low >> 41 & 15), x = static_cast<uint32_t>(low >> 37 & 15);
    if (x >= c_.width || y * c_.width + x >= c_.tiles) return;
    ++byKey_[board].routed;
    const uint32_t made = newMessage();
    Message& message = messages_[made];
    const bool toTile = kind == record::kTile || kind == record::kTileHalf;
    message.mask = toTile ? high << 16 | (low >> 16 & 0xFFFF) : 1ull << (low >> 31 & 63);
    message.tile = board * c_.tiles + y * c_.width + x;
    message.flits = flits;
    message.sender = its.tile * tileThreads_ + its.thread;
    message.number = its.number;
    message.router = tiles_[its.tile].board;
    message.data = its.data;
    // The new first bits of the payload.
    const uint64_t words = kind == record::kThreadWord ? high & 0xFFFF'FFFF : high << 16 | (low & 0xFFFF);
    const size_t bytes = kind == record::kThreadDouble                              ? 8
                         : kind == record::kThreadWord                              ? 4
                         : kind == record::kThreadHalf || kind == record::kTileHalf ? 2
                                                                                    : 0;
    std::memcpy(message.data.data(), &words, bytes);
    message.job = tiles_[its.tile].job;
    ++jobs_[message.job].flying;
    byKey_[message.router].flits += flits;
    Tile& other = tiles_[message.tile];
    other.counters.flits_in += flits;
    const uint64_t arrival =
        cycle + c_.timing.from_router + uint64_t{c_.timing.hop} * (x - std::min(x, c_.exits - 1) + y);
    receive(other, made, arrival);
  }

  /// A copy has been delivered: messages by key of its sender's board may depart.
  void delivered(const Message& message, uint64_t cycle) {
    ByKey& its = byKey_[message.router];
    its.flits -= message.flits;
    while (!its.waiting.empty() && its.flits < kCopyFlits) {
      const Keyed next = std::move(its.waiting.front());
      its.waiting.pop_front();
      tiles_[next.tile].threads[next.thread].blocked = false;
      departKeyed(next, cycle);
      sent(tiles_[next.tile], next.thread);
    }
  }

  void freeSlot(Tile& tile, uint32_t slot, uint32_t thread) {
    const uint64_t bit = 1ull << thread;
    if (!(tile.holders[slot] & bit)) return;
    tile.holders[slot] &= ~bit;
    if (!tile.holders[slot] && !tile.pending[slot]) tile.free.push_back(slot);
  }
  /// Delivery continues after a slot or a place in a queue has become free.
  void proceed(Tile& tile, uint64_t cycle) {
    if (!tile.early.empty()) acceptEarly(tile, cycle);
    if (!tile.full) return;
    tile.full = false;
    if (tile.arrivals.empty()) return;
    Arrival first = tile.arrivals.top();
    if (first.cycle < cycle) {
      tile.arrivals.pop();
      // The sequence keeps it the first of those that have arrived.
      first.cycle = cycle;
      std::vector<Arrival> late{first};
      while (!tile.arrivals.empty() && tile.arrivals.top().cycle < cycle) {
        late.push_back(tile.arrivals.top());
        tile.arrivals.pop();
      }
      for (Arrival& one : late) {
        one.cycle = cycle;
        tile.arrivals.push(one);
      }
    }
    tile.next = std::min(tile.next, tile.arrivals.top().cycle);
  }

  // ---- Instructions ----

  /// Executes an instruction that issues in a cycle. Returns the cycles to the thread's next issue; 0 if it sleeps.
  uint64_t step(Tile& tile, Core& core, Thread& t, uint32_t thread, uint64_t at) {
    const uint32_t pc = t.pc;
    const Code& code = *core.code;
    if (pc / 4 >= code.size()) {
      trapped(tile, thread, at, trap::kFetchFault, 0);
      return 0;
    }
    const Instruction& i = code[pc / 4];
    const uint32_t a = t.x[i.rs1], b = t.x[i.rs2];
    const auto immediate = static_cast<uint32_t>(i.immediate);
    uint32_t next = pc + 4;
    uint64_t taken = c_.timing.issue;
    ++core.issued;
    const auto put = [&](uint32_t value) {
      t.x[i.rd] = value;
      t.x[0] = 0;
    };
    const auto fail = [&](uint32_t cause, uint32_t value) -> uint64_t {
      trapped(tile, thread, at, cause, value);
      return 0;
    };
    switch (i.op) {
      case Op::Illegal: return fail(trap::kIllegal, i.word);
      case Op::Lui: put(immediate); break;
      case Op::Auipc: put(pc + immediate); break;
      case Op::Jal:
      case Op::Jalr: {
        const uint32_t target = i.op == Op::Jal ? pc + immediate : (a + immediate) & ~1u;
        if (target & 2) return fail(trap::kFetchMisaligned, target);
        if (target / 4 >= code.size()) return fail(trap::kFetchFault, target);
        put(next);
        next = target;
        break;
      }
      case Op::Branch:
        if (rv32imf::taken(i.funct3, a, b)) {
          next = pc + immediate;
          if (next & 2) return fail(trap::kFetchMisaligned, 0);
          if (next / 4 >= code.size()) return fail(trap::kFetchFault, 0);
        }
        break;
      case Op::Load:
      case Op::LoadFloat: {
        const uint32_t address = a + immediate;
        uint8_t* const found = access(tile, core, t, thread, at, address, 1u << (i.funct3 & 3), false, taken);
        if (!found) return 0;
        uint32_t value = 0;
        if (i.funct3 == 2) {
          std::memcpy(&value, found, 4);
        } else if (i.funct3 & 1) {
          uint16_t half;
          std::memcpy(&half, found, 2);
          value = i.funct3 == 1 ? static_cast<uint32_t>(static_cast<int16_t>(half)) : half;
        } else {
          value = i.funct3 == 0 ? static_cast<uint32_t>(static_cast<int8_t>(*found)) : *found;
        }
        if (i.op == Op::LoadFloat) {
          t.f[i.rd] = value;
        } else {
          put(value);
        }
        break;
      }
      case Op::Store:
      case Op::StoreFloat: {
        const uint32_t value = i.op == Op::Store ? b : t.f[i.rs2];
        uint8_t* const found = access(tile, core, t, thread, at, a + immediate, 1u << i.funct3, true, taken);
        if (!found) return 0;
        std::memcpy(found, &value, size_t{1} << i.funct3);
        break;
      }
      case Op::Immediate: put(integer(i.funct3, i.other, a, immediate)); break;
      case Op::Register: put(integer(i.funct3, i.other, a, b)); break;
      case Op::Subtract: put(a - b); break;
      case Op::Multiply: put(multiply(i.funct3, a, b)); break;
      case Op::Divide: {
        put(multiply(i.funct3, a, b));
        const uint64_t waits = waitFor(tile.dividerNext[thread / c_.core_threads], at, 33);
        const bool isSigned = !(i.funct3 & 1);
        const bool negative = isSigned && (i.funct3 == 4 ? (a ^ b) >> 31 && b : a >> 31);
        taken = c_.timing.divide + waits;
        if (negative) {
          // The second pass of the pipeline.
          taken += c_.timing.issue;
          ++core.issued;
        }
        break;
      }
      case Op::Fence: break;
      case Op::Call: return fail(trap::kCall, 0);
      case Op::Break: return fail(trap::kBreakpoint, 0);
      case Op::Csr: {
        if (at < c_.timing.ready && csr::ofMailbox(i.word >> 20)) [[unlikely]] {
          // The mailbox initializes its slots; the thread issues again.
          --core.issued;
          return c_.timing.ready - at;
        }
        taken = system(tile, core, t, thread, at, i);
        if (!taken) {
          if (t.state == State::Trapped || !reason_.empty()) return 0;
          // Waits, idle and the end of a thread: it goes on, if at all, with the next instruction.
          retire(t, pc, i, t.state != State::Ended);
          t.pc = next;
          return 0;
        }
        break;
      }
      case Op::Float: {
        const uint32_t dynamic = i.funct3 == 7 ? t.rounding : i.funct3;
        const bool rounds = (i.word & 0x7F) != 0x53 || ((i.word >> 25) <= 0x0C) || (i.word >> 25) == 0x2C ||
                            (i.word >> 25) == 0x60 || (i.word >> 25) == 0x68;
        if (rounds && dynamic > 4) return fail(trap::kIllegal, i.word);
        const Result found = floating(i.word, t.f[i.rs1], t.f[i.rs2], t.f[i.word >> 27], a, rounds ? dynamic : 0);
        t.flags |= static_cast<uint8_t>(found.flags);
        if (found.integer) {
          put(found.value);
        } else {
          t.f[i.rd] = found.value;
        }
        if (found.path == Path::Move) break;
        ++tile.counters.fpu;
        const uint32_t fpu = thread / c_.core_threads / std::min(c_.cores, c_.fpu_cores);
        taken = found.path == Path::Long    ? c_.timing.fpu_long
                : found.path == Path::Short ? c_.timing.fpu_short
                                            : c_.timing.fpu_divide;
        taken += wait(tile.fpuNext[fpu], at);
        if (found.path == Path::Divide) taken += waitFor(tile.divideNext[fpu], at, 20);
        break;
      }
    }
    retire(t, pc, i, true);
    t.pc = next;
    return taken;
  }

  static uint64_t waitFor(uint64_t& next, uint64_t cycle, uint64_t cycles) {
    const uint64_t at = std::max(next, cycle);
    next = at + cycles;
    return at - cycle;
  }
  void retire(Thread& t, uint32_t pc, const Instruction& i, bool counts) {
    t.retired += counts;
    if (t.commits.size() < commits_) [[unlikely]]
      log(t, pc, i);
  }
  /// Adds an instruction that has just executed to a thread's log.
  void log(Thread& t, uint32_t pc, const Instruction& i) {
    gs_fast_commit its{255, 0, 0, pc, i.word, 0, 0, 0};
    const bool store = i.op == Op::Store || i.op == Op::StoreFloat;
    if (store || i.op == Op::Load || i.op == Op::LoadFloat) its.address = t.address;
    if (store) {
      its.stored = static_cast<uint8_t>(1u << i.funct3);
      its.data = (i.op == Op::Store ? t.x : t.f)[i.rs2] & (~0u >> (32 - 8 * its.stored));
    } else if (i.op == Op::LoadFloat || (i.op == Op::Float && !isInteger(i.word))) {
      its.reg = 32 + i.rd;
      its.value = t.f[i.rd];
    } else if (i.op != Op::Branch && i.op != Op::Fence && i.rd) {
      its.reg = i.rd;
      its.value = t.x[i.rd];
    }
    t.commits.push_back(its);
    t.loggedWait = t.state == State::Waits || t.state == State::Idle;
  }
  /// Whether a floating-point operation writes an integer register.
  static bool isInteger(uint32_t word) {
    const uint32_t funct7 = word >> 25;
    return (word & 0x7F) == 0x53 && (funct7 == 0x50 || funct7 == 0x60 || funct7 == 0x70);
  }
  /// The result of a wait is known when its thread wakes.
  static void wokenWith(Thread& t, uint32_t value) {
    const bool logged = std::exchange(t.loggedWait, false);
    if (!t.waitRd) return;
    t.x[t.waitRd] = value;
    if (logged) t.commits.back().value = value;
  }

  /// The host's address of a thread's byte, and the time of the access; null if it traps.
  uint8_t* access(Tile& tile, Core& core, Thread& t, uint32_t thread, uint64_t at, uint32_t address, uint32_t size,
                  bool store, uint64_t& taken) {
    t.address = address;
    if (address & (size - 1)) {
      trapped(tile, thread, at, store ? trap::kStoreMisaligned : trap::kLoadMisaligned, address);
      return nullptr;
    }
    if (t.guard && address >> kGuard == t.guard >> kGuard) {
      trapped(tile, thread, at, trap::kStackOverflow, address);
      return nullptr;
    }
    if (windows_.isMapped(address)) {
      const Place place = windows_.place(address);
      const auto its = tile.caches.access(thread, *tile.memory, place, store);
      const uint32_t cache = thread / c_.core_threads / std::min(c_.cores, c_.cache_cores);
      taken = (store ? c_.timing.store : c_.timing.load) + wait(tile.cacheNext[cache], at);
      if (its.hit) {
        ++core.hits;
        return its.word;
      }
      ++core.misses;
      const uint32_t cost = place.sram ? c_.timing.sram_line : c_.timing.dram_line;
      taken += place.sram ? c_.timing.sram_miss : c_.timing.dram_miss;
      taken += share(tile.memory->free[place.sram], cost, at);
      if (its.wroteBack) {
        ++core.writebacks;
        taken += its.toSram ? c_.timing.sram_write_back : c_.timing.write_back;
        share(tile.memory->free[its.toSram], its.toSram ? c_.timing.sram_line : c_.timing.dram_line, at);
      }
      return its.word;
    }
    if (address - kPad < tile.pad.size()) {
      taken = c_.timing.slot + wait(tile.mailboxNext, at);
      return &tile.pad[address - kPad];
    }
    trapped(tile, thread, at, store ? trap::kStoreFault : trap::kLoadFault, address);
    return nullptr;
  }

  uint64_t system(Tile& tile, Core& core, Thread& t, uint32_t thread, uint64_t at, const Instruction& i) {
    const uint32_t number = i.word >> 20, operand = i.funct3 & 4 ? i.rs1 : t.x[i.rs1];
    const bool swaps = (i.funct3 & 3) == 1;
    const auto put = [&](uint32_t value) {
      t.x[i.rd] = value;
      t.x[0] = 0;
    };
    const auto fail = [&](uint32_t cause, uint32_t value) -> uint64_t {
      trapped(tile, thread, at, cause, value);
      return 0;
    };
    if (number >= csr::kFflags && number <= csr::kFcsr) {
      const uint32_t whole = t.flags | static_cast<uint32_t>(t.rounding) << 5;
      const uint32_t old = number == csr::kFflags ? t.flags : number == csr::kFrm ? t.rounding : whole;
      const uint32_t value = swaps ? operand : (i.funct3 & 3) == 2 ? old | operand : old & ~operand;
      if (swaps || i.rs1) {
        if (number != csr::kFrm) t.flags = value & 31;
        if (number != csr::kFflags) t.rounding = (number == csr::kFrm ? value : value >> 5) & 7;
      }
      put(old);
      return c_.timing.issue;
    }
    if ((!swaps && i.rs1) || (swaps && number >> 10 == 3)) return fail(trap::kIllegal, i.word);
    const bool reads = !swaps || i.rd;
    const uint8_t allowed = csr::access(number);
    const bool mailbox = csr::ofMailbox(number);
    const bool readable = allowed & csr::kReadable, writable = allowed & csr::kWritable;
    // The control unit checks both accesses of a swap, the mailbox accepts either, the cache checks the write.
    const bool legal = mailbox                      ? (swaps && writable) || (reads && readable)
                       : number == csr::kCacheFlush ? swaps
                                                    : allowed && (!reads || readable) && (!swaps || writable);
    if (!legal) return fail(trap::kBadRegister, number);
    uint64_t taken = mailbox ? c_.timing.mailbox + wait(tile.mailboxNext, at) : c_.timing.control;
    const uint64_t effect = at + kEffect;
    // What a swap with a register of the mailbox returns that cannot be read
    uint32_t value = mailbox && !readable ? operand : 0;
    switch (number) {
      case csr::kSendDest:
      case csr::kSendTile:
      case csr::kSendKey:
        if (!send(tile, t, thread, at, number, operand)) return 0;
        break;
      case csr::kSendSlot:
        value = t.sendSlot + kPad;
        if (swaps) {
          if (!isSlot(tile, operand)) return fail(trap::kBadSlot, operand);
          t.sendSlot = operand - kPad;
        }
        break;
      case csr::kSendLength:
        value = t.sendLength;
        if (swaps) {
          if (operand >= c_.max_flits) return fail(trap::kBadLength, operand);
          t.sendLength = operand;
        }
        break;
      case csr::kSendMaskLow:
        value = t.maskLow;
        if (swaps) t.maskLow = operand;
        break;
      case csr::kSendMaskHigh:
        value = t.maskHigh;
        if (swaps) t.maskHigh = operand;
        break;
      case csr::kRelease: {
        if (!isSlot(tile, operand)) return fail(trap::kBadSlot, operand);
        const uint32_t slot = (operand - kPad) / c_.slot;
        if (t.blocked && slot == t.sentSlot) {
          t.releaseLate = true;
        } else {
          freeSlot(tile, slot, thread);
          proceed(tile, effect);
        }
        break;
      }
      case csr::kWait: {
        t.events = operand & 3;
        t.waitRd = i.rd;
        const uint32_t now = happened(t, effect) & t.events;
        if (now) {
          put(now);
          return taken;
        }
        if ((t.events & 1) && !t.blocked) {
          // The end of the send is known.
          t.x[i.rd] = 1;
          t.x[0] = 0;
          if (!(t.events & 2)) return std::max(taken, t.busy + c_.timing.mailbox - kEffect - at);
        }
        t.state = State::Waits;
        --jobs_[tile.job].running;
        ++jobs_[tile.job].waiting;
        if ((t.events & 1) && !t.blocked) wakeWaiting(tile, thread, t.busy);
        return 0;
      }
      case csr::kIdle:
        if (!swaps) {
          value = t.idleResult;
          break;
        }
        t.vote = operand;
        t.waitRd = i.rd;
        if (!t.queue.empty()) {
          t.idleResult = 0;
          break;
        }
        t.state = State::Idle;
        --jobs_[tile.job].running;
        ++jobs_[tile.job].idle;
        jobs_[tile.job].idleSince = std::max(jobs_[tile.job].idleSince, effect);
        return 0;
      case csr::kReduce: {
        if (operand >> 3) return fail(trap::kBadRegister, operand);
        const uint32_t word = operand >> 2 & 1;
        const uint64_t mine = t.maskLow | static_cast<uint64_t>(t.maskHigh) << 32;
        Job& its = jobs_[tile.job];
        uint64_t& sum = its.given[word];
        const auto x = static_cast<int64_t>(sum), y = static_cast<int64_t>(mine);
        if (!its.contributed[word]) {
          sum = mine;
        } else {
          switch (operand & 3) {
            case 0: sum += mine; break;
            case 1: sum = static_cast<uint64_t>(std::min(x, y)); break;
            case 2: sum = static_cast<uint64_t>(std::max(x, y)); break;
            default: sum |= mine;
          }
        }
        its.contributed[word] = true;
        break;
      }
      case csr::kReceive: {
        if (t.queue.empty()) return fail(trap::kNothingToReceive, 0);
        const uint32_t slot = t.queue.front();
        t.queue.pop_front();
        tile.pending[slot] &= ~(1ull << thread);
        tile.holders[slot] |= 1ull << thread;
        value = kPad + slot * c_.slot;
        proceed(tile, effect);
        break;
      }
      case csr::kCanSend: value = happened(t, effect) & 1; break;
      case csr::kCanReceive: value = !t.queue.empty(); break;
      case csr::kThreadId:
        value = tile.board << boardAt_ | (tile.index / c_.width) << (threadBits_ + xBits_) |
                (tile.index % c_.width) << threadBits_ | thread;
        break;
      case csr::kHostId: value = 5u << 29; break;
      case csr::kThreads: value = boardThreads_[tile.board]; break;
      case csr::kJob: value = tile.job << 2 | (jobs_[tile.job].epoch & 3); break;
      case csr::kReducedLow:
      case csr::kReducedLow + 1:
      case csr::kReducedLow + 2:
      case csr::kReducedLast:
        value = static_cast<uint32_t>(jobs_[tile.job].reduced[number >> 1 & 1] >> (number & 1 ? 32 : 0));
        break;
      case csr::kCycle: value = static_cast<uint32_t>(effect); break;
      case csr::kCycleHigh: value = static_cast<uint32_t>(effect >> 32); break;
      case csr::kInstret: value = static_cast<uint32_t>(t.retired); break;
      case csr::kInstretHigh: value = static_cast<uint32_t>(t.retired >> 32); break;
      case csr::kCacheFlush: {
        uint32_t dirty;
        if (operand == ~0u) {
          dirty = tile.caches.flushAll(thread, *tile.memory);
          taken = c_.timing.load + c_.sets * c_.ways;
        } else {
          dirty = tile.caches.flush(thread, *tile.memory, operand / c_.line, operand % c_.line);
          taken = c_.timing.load;
        }
        core.writebacks += dirty;
        // The response follows the memory's acknowledgement.
        if (dirty) taken += c_.timing.dram_miss + (c_.timing.write_back * (dirty - 1));
        for (uint32_t k = 0; k < dirty; ++k) share(tile.memory->free[0], c_.timing.dram_line, at);
        break;
      }
      case csr::kInstrAddress:
        value = t.instrAddress;
        if (swaps) {
          if (operand / 4 >= c_.instr_words || operand & 3) return fail(trap::kBadInstrAddress, operand);
          t.instrAddress = operand;
        }
        break;
      case csr::kInstrWrite: {
        // The cores of a memory have a copy of their own from now on.
        const uint32_t each = std::min(c_.cores, c_.instr_cores), first = thread / c_.core_threads / each * each;
        if (core.code.use_count() > static_cast<long>(each)) {
          auto own = std::make_shared<Code>(*core.code);
          for (uint32_t k = 0; k < each; ++k) tile.cores[first + k].code = own;
        }
        (*core.code)[t.instrAddress / 4] = decode(operand);
        break;
      }
      case csr::kThreadStart: {
        const uint32_t other = thread / c_.core_threads * c_.core_threads + operand;
        if (operand >= c_.core_threads) return fail(trap::kBadThread, operand);
        const State state = tile.threads[other].state;
        if (state == State::Runs || state == State::Waits || state == State::Idle)
          return fail(trap::kBadThread, operand);
        begin(tile, other, at + c_.timing.control);
        report(tile, other, GS_FAST_STARTED, effect, 0);
        break;
      }
      case csr::kThreadStop: {
        const uint64_t left = reported(tile, at + c_.timing.control);
        end(tile, thread, State::Ended, left);
        report(tile, thread, GS_FAST_STOPPED, left, operand);
        return 0;
      }
      case csr::kGuardAt:
        value = t.guard;
        if (swaps) t.guard = operand >> kGuard << kGuard;
        break;
      case csr::kEmit:
      case csr::kUartPut:
      case csr::kDebugValue:
        if (swaps) {
          const uint64_t left = reported(tile, at + c_.timing.control);
          if (number != csr::kDebugValue)
            report(tile, thread, number == csr::kEmit ? GS_FAST_EMIT : GS_FAST_BYTE, left, operand);
          taken = left - at + c_.timing.text;
          value = 1;
        }
        break;
      case csr::kUartGet:
        if (!t.input.empty() && t.inputAt <= effect) {
          value = 0x100 | t.input.front();
          t.input.pop_front();
          const uint64_t left = reported(tile, at + c_.timing.control);
          taken = left - at + c_.timing.text;
          t.inputAt = left + 2 * c_.timing.begin;
        }
        break;
      case csr::kPerfControl: controlCounters(tile, core, operand & 3, effect); break;
      case csr::kPerfHits:
      case csr::kPerfMisses:
      case csr::kPerfWritebacks:
      case csr::kPerfIdle:
      case csr::kPerfIdleHigh:
      case csr::kPerfCycles:
      case csr::kPerfCyclesHigh: {
        count(tile, core, effect);
        const bool idle = number == csr::kPerfIdle || number == csr::kPerfIdleHigh;
        const bool high = number == csr::kPerfIdleHigh || number == csr::kPerfCyclesHigh;
        const uint64_t its = number <= csr::kPerfWritebacks ? tile.perf[number - csr::kPerfHits]
                             : idle                         ? core.perfIdle
                                                            : core.perfCycles;
        value = static_cast<uint32_t>(high ? its >> 32 : its);
        break;
      }
      case csr::kPerfRouted: value = static_cast<uint32_t>(byKey_[tile.board].routed); break;
      case csr::kPerfRoutedOff: value = static_cast<uint32_t>(byKey_[tile.board].routedOff); break;
      default: break;
    }
    if (reads) put(value);
    return taken;
  }
  /// Brings the counters of a tile and a core up to date.
  void count(Tile& tile, Core& core, uint64_t cycle) {
    std::array<uint64_t, 3> now = {};
    bool any = false;
    for (const Core& other : tile.cores) {
      now[0] += other.hits;
      now[1] += other.misses;
      now[2] += other.writebacks;
      any = any || other.counts;
    }
    for (size_t i = 0; i < now.size(); ++i) tile.perf[i] += any ? now[i] - tile.counted[i] : 0;
    tile.counted = now;
    const uint64_t cycles = cycle - core.countedAt;
    if (core.times) core.perfCycles += cycles;
    if (core.counts) core.perfIdle += cycles - std::min(cycles, core.issued - core.countedIssued);
    core.countedAt = cycle;
    core.countedIssued = core.issued;
  }
  /// Clears, starts or stops the counters of a core (perf_command); a clear affects the tile's cache counters.
  void controlCounters(Tile& tile, Core& core, uint32_t command, uint64_t cycle) {
    count(tile, core, cycle);
    if (command == 0) {
      tile.perf = {};
      core.perfIdle = core.perfCycles = 0;
    } else if (command <= 2) {
      core.counts = core.times = command == 1;
    }
  }
  bool isSlot(const Tile& tile, uint32_t address) const {
    return address - kPad < tile.pad.size() && (address - kPad) % c_.slot == 0;
  }

  gs_fast_config c_;
  std::vector<uint32_t> nextBoard_, nextLink_;
  uint32_t tileThreads_, pads_;
  uint32_t depth_ = 0;
  uint32_t threadBits_ = 0, xBits_ = 0, boardAt_ = 0;  ///< fields of addresses
  Windows windows_{};
  std::vector<Memory> memories_;
  std::vector<Tile> tiles_;
  std::vector<uint64_t> linkFree_, relayFree_;
  std::vector<uint32_t> neighbour_;
  std::vector<uint64_t> routerFree_;  ///< of each board's exits, then of its links
  std::vector<ByKey> byKey_;          ///< of each board
  std::vector<uint32_t> boardThreads_;
  std::deque<Message> messages_;
  std::vector<uint32_t> freeMessages_;
  std::vector<gs_fast_record> records_, shown_;
  std::vector<Job> jobs_;
  std::vector<Drops> tileDrops_, matchDrops_;  ///< of each board
  std::vector<Unit*> units_;
  uint64_t now_ = 0, first_ = 0, last_ = 0, quantum_ = 0, sequence_ = 0;
  bool replays_ = false;
};

}  // namespace
}  // namespace gossamer::fast

using gossamer::fast::Machine;
using gossamer::fast::Thread;

namespace {
Machine& of(void* machine) { return *static_cast<Machine*>(machine); }
}  // namespace

extern "C" {

void* gs_fast_new(const gs_fast_config* its) {
  try {
    return new Machine(*its);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void gs_fast_free(void* machine) { delete static_cast<Machine*>(machine); }
void gs_fast_code(void* machine, uint32_t job, const uint32_t* words, size_t count) {
  of(machine).code(job, words, count);
}
int gs_fast_write(void* machine, uint32_t memory, uint32_t address, const uint8_t* data, size_t size) {
  uint8_t* const at = of(machine).physical(memory, address, size);
  if (!at) return -1;
  if (data) {
    std::memcpy(at, data, size);
  } else {
    std::memset(at, 0, size);
  }
  return 0;
}
int gs_fast_read(void* machine, uint32_t memory, uint32_t address, uint8_t* data, size_t size) {
  of(machine).flush();
  const uint8_t* const at = of(machine).physical(memory, address, size);
  if (!at) return -1;
  std::memcpy(data, at, size);
  return 0;
}
void gs_fast_input(void* machine, uint32_t thread, const uint8_t* data, size_t size) {
  auto& input = of(machine).thread(thread).input;
  input.insert(input.end(), data, data + size);
}
void gs_fast_order(void* machine, const uint32_t* words, size_t count) { of(machine).order(words, count); }
void gs_fast_record_deliveries(void* machine) { of(machine).deliveries_ = true; }
void gs_fast_keep_commits(void* machine, size_t most) { of(machine).commits_ = most; }
const gs_fast_commit* gs_fast_commits(void* machine, uint32_t thread, size_t* count) {
  const Thread& t = of(machine).thread(thread);
  *count = t.commits.size();
  return t.commits.data();
}
void gs_fast_start(void* machine, const uint32_t* threads, uint64_t cycle) { of(machine).start(threads, cycle); }
int gs_fast_run(void* machine, uint64_t until, uint64_t quanta) { return of(machine).run(until, quanta); }
uint64_t gs_fast_cycle(void* machine) { return of(machine).cycle(); }
uint64_t gs_fast_first(void* machine) { return of(machine).first(); }
uint64_t gs_fast_instructions(void* machine) {
  uint64_t sum = 0;
  for (const auto& tile : of(machine).tiles()) {
    for (const auto& core : tile.cores) sum += core.issued;
  }
  return sum;
}
const gs_fast_record* gs_fast_records(void* machine, size_t* count) {
  const auto& found = of(machine).records();
  *count = found.size();
  return found.data();
}
void gs_fast_counters_of(void* machine, gs_fast_counters* tiles) {
  for (const auto& tile : of(machine).tiles()) {
    gs_fast_counters its = tile.counters;
    for (const auto& core : tile.cores) {
      its.instructions += core.issued;
      its.hits += core.hits;
      its.misses += core.misses;
      its.writebacks += core.writebacks;
    }
    its.refused = tile.refused;
    for (const Thread& t : tile.threads) its.retired += t.retired;
    *tiles++ = its;
  }
}
size_t gs_fast_unfinished_of(void* machine, gs_fast_unfinished* threads) { return of(machine).unfinished(threads); }
size_t gs_fast_held_of(void* machine, gs_fast_held* queues, size_t most) { return of(machine).held(queues, most); }
const char* gs_fast_reason(void* machine, uint32_t* thread, uint32_t* pc) {
  *thread = of(machine).reasonThread_;
  *pc = of(machine).reasonPc_;
  return of(machine).reason_.c_str();
}

}  // extern "C"
