// SPDX-License-Identifier: Apache-2.0
/// An interpreter of RV32IMF programs of vertices, which counts what the compiled softswitch executes.
//
// The timing model runs handlers natively. What they cost on the hardware's cores is counted here: the program that the
// threads of `rtl` run is executed on a small graph, the threads of a few tiles in turn, with messages that arrive at
// once. A row of counts is recorded for each thread and phase (init, messages, step, finish): the events that the model
// knows (sends, entries, messages, edges, ...), and instructions, loads, stores and register accesses.
// gossamer.model.costs solves for the cost of each event.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gossamer/model/probe.h"
#include "gossamer/model/rv32imf.h"

namespace gossamer::model {
namespace {

constexpr uint32_t kScratch = 0x0010'0000, kScratchEnd = 0x1000'0000, kSram = 0x1000'0000;
constexpr uint32_t kArrived = 0x0800'0000;     // addresses of arrived messages: this many slots never run out
constexpr uint32_t kPartitions = 0x8000'0000;  // of the DRAM, one for each thread
constexpr uint32_t kSlotBytes = 64;
constexpr uint32_t kStateParts = 64;  // of a state, the bits of a word
constexpr int kQuantum = 40;          // instructions of a thread before the next thread executes
constexpr int kSendBusy = 4;          // instructions for which a thread cannot send again
constexpr uint64_t kMost = 2'000'000'000;

class Memory {
 public:
  uint8_t* at(uint32_t address) {
    const uint32_t page = address >> 12;
    if (page != lastPage_) {
      auto& found = pages_[page];
      if (!found) found = std::make_unique<uint8_t[]>(4096);  // zeros
      last_ = found.get();
      lastPage_ = page;
    }
    return last_ + (address & 4095);
  }
  void write(uint32_t address, const uint8_t* data, size_t size) {
    for (size_t i = 0; i < size; ++i) *at(address + static_cast<uint32_t>(i)) = data[i];
  }

 private:
  std::unordered_map<uint32_t, std::unique_ptr<uint8_t[]>> pages_;
  uint32_t lastPage_ = ~0u;
  uint8_t* last_ = nullptr;
};

struct Thread {
  uint32_t x[32] = {};
  uint32_t f[32] = {};
  uint32_t pc = 0;
  uint32_t maskLow = 0, maskHigh = 0, slot = 0, guard = 0;
  std::deque<uint32_t> queue;  // addresses of arrived messages
  bool ended = false, idle = false, waiting = false;
  uint32_t vote = 0, wanted = 0;
  int idleResult = 0, idleRegister = 0;
  int busy = 0;  // instructions until it may send again
  uint64_t retired = 0;
  int phase = kInit;
  double counts[kColumns] = {};
  uint64_t lastChanged = ~0ull;
  std::vector<std::pair<uint32_t, bool>> otherLines;  // since the last message or vertex, and whether stored to
  uint32_t flagAddress = 0, visited = 0;              // of the last vertex; vertices in this phase
  uint64_t stateParts = 0, stateStored = 0;           // of a state that this visit has accessed, stored to
  uint32_t stateVertex = ~0u;                         // and its vertex
  int stateKind = -1;
  bool sending = false;     // of `send`, until the vertex's list is read
  uint32_t outAddress = 0;  // of the first word that a send has loaded
};

class Probe {
 public:
  Probe(const gs_model_probe& its, double* rows, size_t most) : its_(its), rows_(rows), most_(most) {
    threads_.resize(its.threads);
    memories.resize(its.memories);
    scratch_.resize(its.threads / its.tileThreads);
    while (statePart_ * kStateParts < its.stride) statePart_ *= 2;
  }

  std::vector<Memory> memories;

  /// Sets the ranges of accesses to states: of each kind from the first to the last part that was ever accessed, and of
  /// what `recv` reads without storing to it in a quarter of its visits or more. A handler may access one of several
  /// parts, depending on its message: the bytes that change show which.
  void setRanges() {
    for (const Thread& t : threads_) visited(t);
    const auto set = [&](int row, const uint64_t* counts, uint64_t least) {
      uint32_t* const range = its_.ranges + 2 * row;
      for (uint32_t part = 0; part < kStateParts; ++part) {
        if (counts[part] < least) continue;
        if (!range[1]) range[0] = part * statePart_;
        range[1] = std::min((part + 1) * statePart_, its_.stride);
      }
    };
    for (int kind = 0; kind < kStateKinds; ++kind) set(kind, stateUse_[kind].accessed, 1);
    const StateUse& use = stateUse_[kStateReceive];
    set(kStateKinds, use.read, std::max<uint64_t>(1, use.visits / 4));
  }

  /// The number of rows, or the negated reason.
  int64_t run() {
    uint64_t executed = 0;
    for (;;) {
      bool any = false, all = true;
      for (uint32_t i = 0; i < threads_.size(); ++i) {
        Thread& t = threads_[i];
        if (t.ended) continue;
        all = false;
        if (blocked(t)) continue;
        any = true;
        for (int n = 0; n < kQuantum && !t.ended && !blocked(t); ++n) {
          if (!step(t, i)) return -1 - static_cast<int64_t>(t.pc);
          if (++executed > kMost) return -3;
        }
      }
      if (all) return static_cast<int64_t>(count_);
      if (!any && !release()) return -2;
    }
  }

 private:
  bool blocked(Thread& t) {
    if (t.idle) {
      if (t.queue.empty() && !t.idleResult) return true;
      t.idle = false;
      if (t.idleRegister) t.x[t.idleRegister] = static_cast<uint32_t>(t.idleResult);
      t.idleResult = 0;
    }
    if (t.waiting) {
      if ((t.wanted & 2) && !t.queue.empty()) t.waiting = false;
      if (t.wanted & 1) {  // the send ends while the thread sleeps
        t.busy = 0;
        t.waiting = false;
      }
      if (t.waiting) return true;
    }
    return false;
  }

  /// All threads wait and no message is in flight: the barrier.
  bool release() {
    bool agreed = true, any = false;
    for (Thread& t : threads_) {
      if (t.ended) continue;
      if (!t.idle) return false;
      any = true;
      agreed = agreed && t.vote;
    }
    if (!any) return false;
    for (int i = 0; i < 2; ++i) {
      reduced_[i] = given_[i];
      given_[i] = 0;
      contributed_[i] = false;
    }
    const bool between = releases_++ % (its_.barriers ? its_.barriers : 1) != 0;
    for (Thread& t : threads_) {
      if (t.ended) continue;
      t.idleResult = agreed ? 2 : 1;
      if (between) continue;
      record(t);
      t.phase = agreed ? kFinish : kStep;
    }
    return true;
  }

  void record(Thread& t) {
    const auto i = static_cast<uint32_t>(&t - threads_.data());
    if (count_ < most_) {
      t.counts[0] = t.phase;
      t.counts[kVertices] = its_.vertices[i];
      std::memcpy(rows_ + count_ * kColumns, t.counts, sizeof t.counts);
      ++count_;
    }
    std::memset(t.counts, 0, sizeof t.counts);
    t.otherLines.clear();
    t.flagAddress = t.visited = 0;
  }

  /// The loop over messages begins: what was before it was init or a step.
  void loop(Thread& t) {
    if (t.phase != kInit && t.phase != kStep) return;
    record(t);
    t.phase = kMessages;
  }

  bool step(Thread& t, uint32_t number);
  bool system(Thread& t, uint32_t number, uint32_t word, uint32_t rd);
  bool floating(Thread& t, uint32_t word, uint32_t rd);
  void send(Thread& t, uint32_t number, uint32_t destination, uint64_t mask);

  static int kindOf(const Thread& t) {
    return t.phase == kMessages ? (t.sending ? kStateSend : kStateReceive)
           : t.phase == kInit   ? kStateInit
           : t.phase == kStep   ? kStateStep
                                : kStateFinish;
  }

  /// The kind of an access outside of the graph's tables.
  int lineKindOf(const Thread& t) const {
    const int kind = kindOf(t);
    if (t.phase == kMessages || (t.visited && t.visited < its_.vertices[&t - threads_.data()])) return kind;
    const int phase = kind == kStateInit ? 0 : kind == kStateStep ? 1 : 2;
    return (t.visited ? kLinesLastInit : kLinesBeforeInit) + phase;
  }

  uint32_t lineOf(uint32_t number, uint32_t address) const {
    const auto within = [&](uint32_t begin, uint32_t size, uint32_t origin) {
      return address - begin < size ? origin | (address / its_.line - begin / its_.line) : 0;
    };
    if (address >= kPartitions) return kPartitionLine | (address - kPartitions) % its_.partition / its_.line;
    if (const uint32_t line = within(its_.headers[number], its_.headerBytes, kHeaderLine)) return line;
    if (const uint32_t line = within(its_.params, its_.paramsBytes, kParamsLine)) return line;
    if (address - its_.blocks < its_.blocksBytes) return kBlockLine;
    return address / its_.line;
  }

  void other(Thread& t, uint32_t number, uint32_t address, bool store) {
    const uint32_t line = lineOf(number, address);
    for (auto& [known, stored] : t.otherLines) {
      if (known != line) continue;
      if (store && !stored) use(t, line).stored += 1;
      stored = stored || store;
      return;
    }
    t.otherLines.emplace_back(line, store);
    gs_model_line_use& its = use(t, line);
    its.touched += 1;
    its.stored += store;
  }

  /// The record of a line for the accesses of a thread's present kind; the last one is for all that do not fit.
  gs_model_line_use& use(const Thread& t, uint32_t line) {
    gs_model_line_use* its = its_.lines + lineKindOf(t) * kOtherLinesMost;
    gs_model_line_use* const last = its + kOtherLinesMost - 1;
    while (its != last && its->touched && its->line != line) ++its;
    if (its != last) its->line = line;
    return *its;
  }

  /// A visit to a state ends.
  void visited(const Thread& t) {
    if (t.stateKind < 0) return;
    StateUse& use = stateUse_[t.stateKind];
    for (uint64_t left = t.stateParts; left; left &= left - 1) {
      const int part = std::countr_zero(left);
      ++use.accessed[part];
      use.read[part] += !(t.stateStored >> part & 1);
    }
  }

  /// Counts an access by the region of its address.
  void touch(Thread& t, uint32_t number, uint32_t address, bool store) {
    if (address < kScratchEnd) {
      ++t.counts[store ? kSlotStores : kSlotLoads];
      return;
    }
    ++t.counts[store ? kStores : kLoads];
    const auto in = [&](const uint32_t* begins, const uint32_t* sizes) {
      return address - begins[number] < sizes[number];
    };
    if (in(its_.states, its_.statesBytes)) {
      ++t.counts[store ? kStateStores : kStateLoads];
      const uint32_t offset = address - its_.states[number], vertex = offset / its_.stride;
      StateUse& use = stateUse_[kindOf(t)];
      if (vertex != t.stateVertex || kindOf(t) != t.stateKind) {
        visited(t);
        t.stateVertex = vertex;
        t.stateKind = kindOf(t);
        t.stateParts = t.stateStored = 0;
        ++use.visits;
      }
      const uint32_t part = offset % its_.stride / statePart_;
      t.stateParts |= uint64_t{1} << part;
      if (store) t.stateStored |= uint64_t{1} << part;
    } else if (in(its_.flags, its_.flagsBytes)) {
      ++t.counts[store ? kFlagStores : kFlagLoads];
      if (address / 2 != t.flagAddress) {
        t.otherLines.clear();
        ++t.visited;
      }
      t.flagAddress = address / 2;
    } else if (in(its_.queues, its_.queuesBytes)) {
      ++t.counts[store ? kQueueStores : kQueueLoads];
      if (store) ++t.counts[kPushes];
      if (!store) t.sending = true;
    } else if (in(its_.outs, its_.outsBytes)) {
      ++t.counts[kOutLoads];
      // A send loads two words: the address of the vertex's list, and that of the next one.
      if (!t.outAddress) {
        t.outAddress = address;
      } else {
        const uint32_t list = load(number, address < t.outAddress ? address : t.outAddress, 4);
        const uint32_t own = load(number, list, static_cast<int>(its_.offset)) / its_.edge;
        ++t.counts[kSends];
        t.counts[kOwnEdges] += own;
        if (own) ++t.counts[kOwnLists];
        t.outAddress = 0;
        t.sending = false;
      }
    } else if (address >= kPartitions || address < its_.tables) {
      ++t.counts[kOtherAccesses];
      other(t, number, address, store);
    } else {
      ++t.counts[kListLoads];
      if (lineOf(number, address) & (kHeaderLine | kParamsLine)) other(t, number, address, store);
    }
  }

  /// The memory that an address of a thread means: a message, its tile's scratchpad, or its DRAM.
  Memory& memoryOf(uint32_t number, uint32_t address) {
    if (address >= kSram) return memories[its_.memoryOf[number]];
    return address >= kArrived ? arrived_ : scratch_[number / its_.tileThreads];
  }
  uint32_t load(uint32_t number, uint32_t address, int size) {
    Memory& memory = memoryOf(number, address);
    uint32_t value = 0;
    for (int i = 0; i < size; ++i) {
      value |= static_cast<uint32_t>(*memory.at(address + static_cast<uint32_t>(i))) << (8 * i);
    }
    return value;
  }
  void store(uint32_t number, uint32_t address, uint32_t value, int size) {
    Memory& memory = memoryOf(number, address);
    for (int i = 0; i < size; ++i) {
      *memory.at(address + static_cast<uint32_t>(i)) = static_cast<uint8_t>(value >> (8 * i));
    }
  }

  const gs_model_probe& its_;
  double* rows_;
  size_t most_, count_ = 0;
  std::vector<Thread> threads_;
  std::vector<uint32_t> free_;
  std::unordered_map<uint32_t, int> holders_;
  uint32_t slots_ = 0;
  Memory arrived_;
  std::vector<Memory> scratch_;
  /// Of a kind of access to states: visits to one, and the number of those that access each part.
  struct StateUse {
    uint64_t visits = 0;
    uint64_t accessed[kStateParts] = {}, read[kStateParts] = {};  // `read`: and not stored to
  } stateUse_[kStateKinds];
  uint32_t statePart_ = 4;  // bytes of a part
  uint64_t reduced_[2] = {}, given_[2] = {};
  bool contributed_[2] = {};
  uint64_t releases_ = 0;
};

void Probe::send(Thread& t, uint32_t number, uint32_t destination, uint64_t mask) {
  ++t.counts[kEntries];
  t.busy = kSendBusy;
  if (destination >> 29 == its_.hostKind) {
    ++t.counts[kHostMessages];
    return;
  }
  // The fields of an address that name a tile.
  const uint32_t low = its_.tileThreads - 1, place = destination & 0x1FFF'FFFF & ~low;
  if (!mask) mask = uint64_t{1} << (destination & low);
  uint32_t at;
  if (free_.empty()) {
    at = kArrived + kSlotBytes * slots_++;
  } else {
    at = free_.back();
    free_.pop_back();
  }
  for (uint32_t i = 0; i < kSlotBytes; i += 4) store(number, at + i, load(number, t.slot + i, 4), 4);
  int holders = 0;
  for (uint32_t i = 0; i < threads_.size(); ++i) {
    if ((its_.ids[i] & ~low) != place || !(mask >> (i & low) & 1)) continue;
    threads_[i].queue.push_back(at);
    ++holders;
  }
  holders_[at] = holders;
}

bool Probe::system(Thread& t, uint32_t number, uint32_t word, uint32_t rd) {
  const uint32_t csr = word >> 20, how = word >> 12 & 7, rs = word >> 15 & 31;
  const uint32_t given = how & 4 ? rs : t.x[rs];
  uint32_t value = 0;
  bool mailbox = false;
  switch (csr) {
    case 0x001:
    case 0x002:
    case 0x003: ++t.counts[kPlain]; break;
    case 0x800:
      mailbox = true;
      send(t, number, given, 0);
      break;
    case 0x801:
      mailbox = true;
      t.slot = given;
      break;
    case 0x802: mailbox = true; break;
    case 0x803:
      mailbox = true;
      t.maskLow = given;
      break;
    case 0x804:
      mailbox = true;
      t.maskHigh = given;
      break;
    case 0x805:
      mailbox = true;
      send(t, number, given, t.maskLow | static_cast<uint64_t>(t.maskHigh) << 32);
      break;
    case 0x806: return false;  // no router on a lone tile
    case 0x807: {
      mailbox = true;
      if (given >= kArrived && --holders_[given] == 0) free_.push_back(given);
      break;
    }
    case 0x808:
      mailbox = true;
      loop(t);
      ++t.counts[kWaits];
      t.waiting = true;
      t.wanted = given;
      break;
    case 0x809:
      mailbox = true;
      loop(t);
      ++t.counts[kIdles];
      t.idle = true;
      t.idleResult = 0;
      t.vote = given;
      t.idleRegister = static_cast<int>(rd);
      t.retired += 1;
      t.counts[kMailbox] += 1;
      return true;  // the register is written at the end of the wait
    case 0x80A: {
      mailbox = true;
      const uint32_t slot = given >> 2 & 1, operation = given & 3;
      const uint64_t number64 = t.maskLow | static_cast<uint64_t>(t.maskHigh) << 32;
      uint64_t& sum = given_[slot];
      const auto a = static_cast<int64_t>(sum), b = static_cast<int64_t>(number64);
      if (!contributed_[slot])
        sum = number64;
      else if (operation == 0)
        sum += number64;
      else if (operation == 1)
        sum = static_cast<uint64_t>(a < b ? a : b);
      else if (operation == 2)
        sum = static_cast<uint64_t>(a > b ? a : b);
      else
        sum |= number64;
      contributed_[slot] = true;
      break;
    }
    case 0xCC0: {
      mailbox = true;
      if (t.queue.empty()) return false;
      value = t.queue.front();
      t.queue.pop_front();
      ++t.counts[kReceives];
      t.otherLines.clear();
      t.sending = false;
      const uint32_t key = load(number, value, 4);
      if (its_.direct && (key & 1)) {
        t.counts[kEdges] += 1;
      } else {
        const uint32_t list = its_.direct ? key : its_.keys[number] + key;
        t.counts[kEdges] += static_cast<double>(load(number, list, static_cast<int>(its_.offset)) / its_.edge);
      }
      break;
    }
    case 0xCC1:
      mailbox = true;
      loop(t);
      value = t.busy <= 0;
      break;
    case 0xCC2:
      mailbox = true;
      loop(t);
      value = !t.queue.empty();
      break;
    case 0xCC3: value = its_.ids[number]; break;
    case 0xCC4: value = its_.hostKind << 29; break;
    case 0xCC5: value = its_.threads; break;
    case 0xCC6: value = 0; break;
    case 0xCD4:
    case 0xCD5:
    case 0xCD6:
    case 0xCD7:
      mailbox = true;
      value = static_cast<uint32_t>(reduced_[csr >> 1 & 1] >> (csr & 1 ? 32 : 0));
      break;
    case 0xC02: value = static_cast<uint32_t>(t.retired); break;
    case 0xC82: value = static_cast<uint32_t>(t.retired >> 32); break;
    case 0xC00:
    case 0xC80: t.counts[kClock] += 1; break;
    case 0x810: break;
    case 0x814:
      record(t);
      t.ended = true;
      return true;
    case 0x815: t.guard = given; break;
    default: return false;
  }
  if (csr > 3) ++t.counts[mailbox ? kMailbox : kControl];
  if (rd) t.x[rd] = value;
  return true;
}

bool Probe::floating(Thread& t, uint32_t word, uint32_t rd) {
  using rv32imf::Path;
  const uint32_t rs1 = word >> 15 & 31, rs2 = word >> 20 & 31, funct3 = word >> 12 & 7;
  // The softswitch leaves the rounding mode at its default.
  const uint32_t mode = funct3 < 5 ? funct3 : rv32imf::kNearestEven;
  const rv32imf::Result found = rv32imf::floating(word, t.f[rs1], t.f[rs2], t.f[word >> 27], t.x[rs1], mode);
  switch (found.path) {
    case Path::Move: ++t.counts[kPlain]; break;
    case Path::Short: ++t.counts[kFpuShort]; break;
    case Path::Long: ++t.counts[kFpuLong]; break;
    case Path::Divide: ++t.counts[kFpuDivide]; break;
    default: return false;
  }
  if (!found.integer) {
    t.f[rd] = found.value;
  } else if (rd) {
    t.x[rd] = found.value;
  }
  return true;
}

bool Probe::step(Thread& t, uint32_t number) {
  if (t.pc / 4 >= its_.words) return false;
  const uint32_t word = its_.code[t.pc / 4], op = word & 0x7F, rd = word >> 7 & 31, funct3 = word >> 12 & 7;
  const uint32_t rs1 = word >> 15 & 31, rs2 = word >> 20 & 31, funct7 = word >> 25;
  const uint32_t a = t.x[rs1], b = t.x[rs2];
  const int32_t immediate = rv32imf::immediateI(word);
  uint32_t next = t.pc + 4;
  ++t.counts[kInstructions];
  if (t.busy > 0) --t.busy;
  const auto put = [&](uint32_t value) {
    if (rd) t.x[rd] = value;
  };
  switch (op) {
    case 0x37: put(word & 0xFFFF'F000); break;
    case 0x17: put(t.pc + (word & 0xFFFF'F000)); break;
    case 0x6F:
      put(next);
      next = t.pc + rv32imf::immediateJ(word);
      break;
    case 0x67:
      put(next);
      next = (a + static_cast<uint32_t>(immediate)) & ~1u;
      break;
    case 0x63:
      if (rv32imf::taken(funct3, a, b)) next = t.pc + rv32imf::immediateB(word);
      break;
    case 0x03:
    case 0x07: {
      const uint32_t address = a + static_cast<uint32_t>(immediate);
      const int size = funct3 == 2 ? 4 : (funct3 & 1 ? 2 : 1);
      touch(t, number, address, false);
      uint32_t value = load(number, address, size);
      if (funct3 == 0) value = static_cast<uint32_t>(static_cast<int8_t>(value));
      if (funct3 == 1) value = static_cast<uint32_t>(static_cast<int16_t>(value));
      if (op == 0x07)
        t.f[rd] = value;
      else
        put(value);
      break;
    }
    case 0x23:
    case 0x27: {
      const uint32_t address = a + static_cast<uint32_t>(rv32imf::immediateS(word));
      const int size = 1 << funct3;
      touch(t, number, address, true);
      const uint32_t value = op == 0x27 ? t.f[rs2] : b;
      if (address - its_.states[number] < its_.statesBytes[number]) {
        // A vertex whose state has changed, once for each message.
        const uint32_t mask = size == 4 ? ~0u : (1u << (8 * size)) - 1;
        const uint64_t which = (address - its_.states[number]) / its_.stride |
                               static_cast<uint64_t>(t.counts[kReceives] + t.counts[kSends]) << 32;
        if (load(number, address, size) != (value & mask) && which != t.lastChanged) {
          t.lastChanged = which;
          ++t.counts[kChanged];
        }
      }
      store(number, address, value, size);
      break;
    }
    case 0x13: put(rv32imf::integer(funct3, funct3 == 5 && funct7 & 0x20, a, static_cast<uint32_t>(immediate))); break;
    case 0x33:
      if (funct7 == 1) {
        if (funct3 >= 4) ++t.counts[kDivides];
        put(rv32imf::multiply(funct3, a, b));
      } else {
        put(rv32imf::integer(funct3, funct7 & 0x20, a, b));
      }
      break;
    case 0x0F: break;
    case 0x73:
      if (!funct3 || !system(t, number, word, rd)) return false;
      if (t.ended) return true;
      if ((word >> 20) == 0x809) {
        t.pc = next;
        return true;
      }
      break;
    case 0x43:
    case 0x47:
    case 0x4B:
    case 0x4F:
    case 0x53:
      if (!floating(t, word, rd)) return false;
      break;
    default: return false;
  }
  ++t.retired;
  t.pc = next;
  return true;
}

}  // namespace
}  // namespace gossamer::model

extern "C" int64_t gs_model_probe_run(const gs_model_probe* its, const gs_model_image* images, size_t count,
                                      double* rows, size_t most) {
  gossamer::model::Probe probe(*its, rows, most);
  for (size_t i = 0; i < count; ++i)
    probe.memories[images[i].memory].write(images[i].address, images[i].data, images[i].size);
  const int64_t found = probe.run();
  probe.setRanges();
  return found;
}
