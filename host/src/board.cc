// SPDX-License-Identifier: Apache-2.0
#include "board.h"

#include <gossamer/device_config.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "verilog_hex.h"

namespace gossamer::host {
namespace {

constexpr uint32_t kWidth = GS_BOARDS_WIDTH;
constexpr uint32_t kHeight = GS_BOARDS_HEIGHT;
constexpr uint32_t kBoards = kWidth * kHeight;
constexpr uint32_t kCores = TinselCoresPerBoard;
constexpr uint32_t kTileCores = TinselCoresPerMailbox;
constexpr uint32_t kTiles = GS_TILES;
constexpr uint32_t kCoreThreads = TinselThreadsPerCore;
constexpr uint32_t kTileThreads = GS_THREADS_PER_TILE;
constexpr uint32_t kLine = GS_LINE_BYTES;
constexpr uint32_t kFlit = machine::kFlitBytes;
constexpr size_t kStores = 1 << 16;    ///< most bytes of stores that are written together
constexpr uint32_t kWindow = 1u << 30;               ///< of unpartitioned DRAM

using machine::Machine;

/// Translates a program's address. Adjacent lines of a partition are not adjacent in memory.
machine::Span translated(uint32_t address) {
  if (address < GS_PARTITION_BASE) return {address, GS_PARTITION_BASE - uint64_t{address}};
  const uint64_t half = TinselBytesPerDRAM / 2;
  const uint64_t offset = address - GS_PARTITION_BASE;
  const uint64_t part = offset / GS_PARTITION_BYTES, line = offset % GS_PARTITION_BYTES / kLine;
  const uint64_t at = half + ((line << GS_LOG_THREADS_PER_DRAM | part) * kLine) + offset % kLine;
  if (offset >= half || at >= kWindow) {
    char text[64];
    std::snprintf(text, sizeof text, "there is no memory at 0x%08x that a host can access", address);
    throw machine::Error(machine::Error::Kind::Input, text);
  }
  return {static_cast<uint32_t>(GS_DRAM_BASE + at), kLine - offset % kLine};
}

/// The instruction memory of a core, as a bit among those of its tile.
unsigned instr_mem(uint32_t core) { return 1u << (core % kTileCores / TinselCoresPerInstrMem); }

std::vector<Part> parts_of(const char* call, const char* path) {
  std::vector<Part> parts;
  std::string why;
  if (!path) reject_call(call, "the name of a file is null");
  if (!read_verilog_hex(path, parts, why)) reject_call(call, why);
  return parts;
}

/// The instructions of a file, padded from address 0.
std::vector<uint8_t> code_of(const char* call, const char* path) {
  std::vector<uint8_t> code;
  for (const Part& part : parts_of(call, path)) {
    const uint64_t end = uint64_t{part.address} + part.data.size();
    if (end > TinselBytesPerInstrMem) {
      reject_call(call, std::string(path) + ": has instructions up to byte " + std::to_string(end) +
                        ", but instruction memory has " + std::to_string(TinselBytesPerInstrMem));
    }
    code.resize(std::max<size_t>(code.size(), end));
    std::copy(part.data.begin(), part.data.end(), code.begin() + part.address);
  }
  return code;
}

}  // namespace

std::shared_ptr<Board> Board::open() {
  // The boards exist until the program ends, independent of HostLinks. A child process does not use them.
  static const auto& board = *new std::shared_ptr<Board>(new Board);
  static const pid_t owner = ::getpid();
  static const int registered = std::atexit([] {
    if (::getpid() == owner) board->finish();
  });
  (void)registered;
  return board;
}

Board::Board()
    : sim_(Settings::read()),
      settings_(Settings::read()),
      cores_(kBoards * kCores),
      code_(cores_.size() / TinselCoresPerInstrMem),
      data_(size_t{kBoards} * TinselDRAMsPerBoard),
      of_board_(kBoards) {
  first_ = std::this_thread::get_id();
  plan_file_ = settings_.plan;
  sim_.use("HostLink", [](Machine& machine) { machine.translate(translated); });
}

Board::~Board() = default;

void Board::finish() { sim_.finish(); }

void Board::lock() {
  std::unique_lock lock(mutex_);
  if (std::this_thread::get_id() != first_) several_ = true;
  const uint64_t mine = ticket_++;
  served_changed_.wait(lock, [&] { return served_ == mine; });
}

void Board::unlock() {
  {
    const std::lock_guard lock(mutex_);
    ++served_;
  }
  served_changed_.notify_all();
}

// ---- Locations ----

uint32_t Board::boards_x() { return kWidth; }
uint32_t Board::boards_y() { return kHeight; }

uint32_t Board::board(const char* call, uint32_t x, uint32_t y) const {
  if (x < kWidth && y < kHeight) return y * kWidth + x;
  reject_call(call, "there is no board " + std::to_string(x) + "," + std::to_string(y) + "; there are boards 0,0 to " +
                    std::to_string(kWidth - 1) + "," + std::to_string(kHeight - 1));
}

uint32_t Board::core(const char* call, uint32_t x, uint32_t y, uint32_t core) const {
  const uint32_t number = board(call, x, y);
  if (core < kCores) return number * kCores + core;
  reject_call(call, "there is no core " + std::to_string(core) + "; a board has cores 0 to " +
                        std::to_string(kCores - 1));
}

uint32_t Board::address(const char* call, uint32_t x, uint32_t y, uint32_t core, uint32_t thread) const {
  const uint32_t number = this->core(call, x, y, core);
  if (thread >= kCoreThreads) {
    reject_call(call, "there is no thread " + std::to_string(thread) + "; a core has threads 0 to " +
                      std::to_string(kCoreThreads - 1));
  }
  const uint32_t tile = number % kCores / kTileCores;
  return number / kCores << GS_ADDRESS_BOARD_LSB | tile / GS_MESH_WIDTH << GS_ADDRESS_TILE_Y_LSB |
         tile % GS_MESH_WIDTH << GS_ADDRESS_TILE_X_LSB | (number % kTileCores * kCoreThreads + thread);
}

bool Board::location(uint32_t address, ThreadLocation& location) {
  const auto field = [address](unsigned lsb, unsigned bits) { return address >> lsb & ((1u << bits) - 1); };
  const uint32_t thread = field(0, GS_ADDRESS_THREAD_BITS);
  const uint32_t x = field(GS_ADDRESS_TILE_X_LSB, GS_ADDRESS_TILE_X_BITS);
  const uint32_t y = field(GS_ADDRESS_TILE_Y_LSB, GS_ADDRESS_TILE_Y_BITS);
  location.board = address >> GS_ADDRESS_BOARD_LSB;
  location.core = (y * GS_MESH_WIDTH + x) * kTileCores + thread / kCoreThreads;
  location.thread = thread % kCoreThreads;
  return location.board < kBoards && x < GS_MESH_WIDTH && y < kTiles / GS_MESH_WIDTH && thread < kTileThreads;
}

ThreadLocation Board::location(uint32_t thread) {
  const uint32_t each = kTiles * kTileThreads;
  return {thread / each, thread % each / kCoreThreads, thread % kCoreThreads};
}

NextHop Board::next_hop(const char* call, uint32_t from, uint32_t to) {
  if (const machine::Hop* hop = sim_.plan().hop(from, to)) return {hop->link, hop->channel, hop->next};
  reject_call(call, "no route leads from board " + std::to_string(from) + " to " + std::to_string(to));
}

// ---- Tables ----

void Board::load_tables(const char* call) {
  if (next_tables_ == settings_.tables.size()) {
    reject_call(call, "there are no " + std::string(next_tables_ ? "further" : "other") +
                      " routing tables; name them, in their order, with --next-routes FILE");
  }
  flush_stores(call);
  const std::string path = settings_.tables[next_tables_++];
  sim_.use(call, [&](Machine& machine) { machine.update(machine::Plan::read_file(path)); });
  plan_file_ = path;
}

NextHop next_hop(const char* call, uint32_t from, uint32_t to) {
  const auto board = Board::open();
  const Board::Lock lock(*board);
  return board->next_hop(call, from, to);
}

// ---- Waiting ----

Woke Board::pass(const char* call, uint32_t wanted, uint64_t space, uint64_t cycles, bool poll, uint64_t messages) {
  flush_stores(call);
  return sim_.wait(call, wanted, space, cycles, poll, messages);
}

bool Board::wait(const char* call, uint32_t wanted, uint64_t space, const std::function<bool()>& satisfied,
                 uint64_t messages) {
  // With several threads, another one may be about to cause the event that this one waits for.
  constexpr uint64_t kSlice = kPoll;
  while (!satisfied()) {
    const uint32_t of_all = several_ ? wanted | sim::kMessages | sim::kBytes : wanted;
    const Woke woke = pass(call, of_all, space, several_ ? kSlice : 0, false, several_ ? 1 : messages);
    if (woke == Woke::AllEnded && !several_) return satisfied();
    if (woke == Woke::Deadlock && !several_) sim_.died(call, "deadlock");
    // No thread of the boards prints any more; but other threads of the program may continue.
    if (woke == Woke::AllEnded && wanted == sim::kBytes && started_ && sim_.stopped() >= started_) return satisfied();
    if (!several_) continue;
    unlock();
    ::usleep(100);
    lock();
  }
  return true;
}

bool Board::poll(const char* call, uint32_t wanted, uint64_t space, const std::function<bool()>& satisfied) {
  if (satisfied()) return true;
  const Woke woke = pass(call, wanted, space, kPoll, true, 1);
  // A polling program may do other work in between, but not for this long.
  if (woke == Woke::AllEnded && !several_) fail_deadlocked(call);
  if (woke == Woke::Deadlock && !several_) sim_.died(call, "deadlock");
  return satisfied();
}

void Board::fail_deadlocked(const char* call) {
  if (started_) sim_.died(call, "ended");
  sim_.died(call, "idle");
}

// ---- Loading ----

void Board::write_back_caches(const char* call) {
  flush_stores(call);
  if (!started_) return;
  const std::vector<uint32_t> running = sim_.use(call, [](Machine& machine) { return machine.flush(); });
  if (running.empty()) return;
  reject_call(call, "thread " + std::to_string(running[0]) + " still runs; load a program when all threads have ended");
}

void Board::load_all(const char* call, const char* code, const char* data) {
  const std::vector<uint8_t> instructions = code_of(call, code);
  const std::vector<Part> parts = parts_of(call, data);
  if (sim_.stopped() < started_) {
    reject_call(call, std::to_string(started_ - sim_.stopped()) +
                          " threads still run; load a program when all have ended");
  }
  write_back_caches(call);
  sim_.note("image " + std::string(code));
  sim_.use(call, [&](Machine& machine) {
    machine.write_code(0, instructions.data(), instructions.size());
    for (const Part& part : parts) machine.write_all(0, part.address, part.data.data(), part.data.size());
  });
  for (const Part& part : parts) flush_record_caches(call, kBoards, part.address, part.data.size());
  for (Core& core : cores_) core = {};
  code_.assign(cores_.size() / TinselCoresPerInstrMem, code);
  data_.assign(size_t{kBoards} * TinselDRAMsPerBoard, {});
  for (auto& dram : data_) {
    for (const Part& part : parts) dram.push_back({data, part.address, uint64_t{part.address} + part.data.size()});
  }
  std::fill(of_board_.begin(), of_board_.end(), 0);
  started_ = 0;
}

void Board::load_code(const char* call, const char* code, uint32_t core) {
  const std::vector<uint8_t> instructions = code_of(call, code);
  check_code(call, code, core);
  code_[core / TinselCoresPerInstrMem] = cores_[core].code = code;
  flush_stores(call);
  const uint32_t first = core / TinselCoresPerInstrMem * TinselCoresPerInstrMem * kCoreThreads;
  sim_.note("image " + std::to_string(first) + " " + std::to_string(TinselCoresPerInstrMem * kCoreThreads) + " " +
            code);
  sim_.use(call, [&](Machine& machine) {
    machine.write_code(core / kTileCores, instr_mem(core), 0, instructions.data(), instructions.size());
  });
}

void Board::load_data(const char* call, const char* data, uint32_t core) {
  constexpr uint32_t kEach = kTiles / TinselDRAMsPerBoard;
  const std::vector<Part> parts = parts_of(call, data);
  const uint32_t tile = core / kTileCores, dram = tile / kEach;
  check_data(call, data, parts, dram);
  flush_stores(call);
  for (const Part& part : parts) {
    write(call, tile, part.address, part.data.data(), part.data.size());
    data_[dram].push_back({data, part.address, uint64_t{part.address} + part.data.size()});
  }
}

void Board::check_code(const char* call, const char* code, uint32_t core) const {
  const uint32_t first = core / TinselCoresPerInstrMem * TinselCoresPerInstrMem;
  const std::string& present = code_[core / TinselCoresPerInstrMem];
  if (present == code || all_ended()) return;
  for (uint32_t other = first; other < first + TinselCoresPerInstrMem; ++other) {
    if (other == core || !has_begun(other)) continue;
    reject_call(call, std::string(code) + " for core " + std::to_string(core % kCores) + " would replace " + present +
                          ", which core " + std::to_string(other % kCores) +
                          " runs from the same instruction memory; load it for another core");
  }
}

void Board::check_data(const char* call, const char* data, const std::vector<Part>& parts, uint32_t dram) {
  if (all_ended()) data_[dram].clear();
  for (const Contents& present : data_[dram]) {
    for (const Part& part : parts) {
      const bool apart = present.end <= part.address || uint64_t{part.address} + part.data.size() <= present.address;
      if (apart || present.file == data) continue;
      char at[16];
      std::snprintf(at, sizeof at, "0x%08x", std::max(present.address, part.address));
      reject_call(call, std::string(data) + " would overwrite " + present.file + " at " + at +
                            " of the same DRAM; link the programs for different addresses, or load the second one when "
                            "all threads have ended");
    }
  }
}

void Board::write(const char* call, uint32_t tile, uint32_t address, const uint8_t* data, size_t size) {
  sim_.use(call, [&](Machine& machine) { machine.write(tile, address, data, size); });
  flush_record_caches(call, tile / kTiles, address, size);
}

void Board::flush_record_caches(const char* call, uint32_t board, uint32_t address, size_t size) {
  const uint64_t first = TinselPOLiteProgRouterBase, end = first + TinselPOLiteProgRouterLength;
  if (!size || address >= end || address + size <= first) return;
  sim_.use(call, [&](Machine& machine) {
    for (uint32_t b = 0; b < kBoards; ++b) {
      if (board == b || board == kBoards) machine.flush_record_cache(b);
    }
  });
}

void Board::store(const char* call, uint32_t core, const uint32_t* words, uint32_t count) {
  Core& its = cores_[core];
  const uint32_t tile = core / kTileCores;
  const size_t bytes = stores_.data.size();
  if (bytes && (stores_.tile != tile || stores_.address + bytes != its.address || bytes > kStores)) {
    flush_stores(call);
  }
  if (stores_.data.empty()) {
    stores_.tile = tile;
    stores_.address = its.address;
  }
  const auto* at = reinterpret_cast<const uint8_t*>(words);
  stores_.data.insert(stores_.data.end(), at, at + size_t{count} * 4);
  its.address += count * 4;
}

void Board::flush_stores(const char* call) {
  if (stores_.data.empty()) return;
  const std::vector<uint8_t> data = std::move(stores_.data);
  stores_.data.clear();
  write(call, stores_.tile, stores_.address, data.data(), data.size());
}

void Board::write_instructions(const char* call, uint32_t core, const uint32_t* words, uint32_t count) {
  Core& its = cores_[core];
  const uint32_t end = its.address + count * 4;
  if (its.address % 4 || end > TinselBytesPerInstrMem) reject_call(call, "instructions beyond instruction memory");
  // A loader writes whole flits: the first and the last one are read first.
  const uint32_t begin = its.address / kFlit * kFlit, length = (end + kFlit - 1) / kFlit * kFlit - begin;
  sim_.use(call, [&](Machine& machine) {
    std::vector<uint8_t> code = machine.read_code(core / kTileCores, instr_mem(core), begin, length);
    std::memcpy(code.data() + (its.address - begin), words, size_t{count} * 4);
    machine.write_code(core / kTileCores, instr_mem(core), begin, code.data(), code.size());
  });
  its.address = end;
}

std::vector<uint32_t> Board::load(const char* call, uint32_t core, uint32_t count) {
  flush_stores(call);
  Core& its = cores_[core];
  if (!count) return {};
  const size_t bytes = size_t{count} * 4;
  // Checked before memory for the requested words is allocated.
  if (its.address + bytes - 1 > UINT32_MAX) {
    reject_call(call, std::to_string(count) + " words to read end beyond the address space");
  }
  const std::vector<uint8_t> data = sim_.use(call, [&](Machine& machine) {
    translated(static_cast<uint32_t>(its.address + bytes - 1));
    return machine.read(core / kTileCores, its.address, bytes);
  });
  std::vector<uint32_t> words(count);
  std::memcpy(words.data(), data.data(), bytes);
  its.address += count * 4;
  return words;
}

// ---- Starting ----

void Board::ready(const char* call, uint32_t core, uint32_t threads) {
  const std::string which = "core " + std::to_string(core % kCores) + " of board " +
                            std::to_string(core / kCores % kWidth) + "," + std::to_string(core / kCores / kWidth);
  if (threads < 1 || threads > kCoreThreads) {
    reject_call(call, std::to_string(threads) + " threads on " + which + ": a core has " +
                          std::to_string(kCoreThreads));
  }
  if (cores_[core].started) reject_call(call, which + " has been started already");
  const std::string &own = cores_[core].code, &present = code_[core / TinselCoresPerInstrMem];
  if (!own.empty() && own != present) {
    reject_call(call, own + " was loaded for " + which + ", and then " + present +
                          " for another core with the same instruction memory");
  }
  cores_[core].ready = threads;
}

void Board::go(const std::vector<uint32_t>& cores) {
  flush_stores("HostLink::go");
  if (const auto then = std::exchange(before_start_, nullptr)) then(*this);
  std::vector<uint64_t> masks(kBoards * kTiles);
  for (const uint32_t core : cores) {
    Core& its = cores_[core];
    if (!its.ready) continue;
    const uint64_t mask = its.ready == 64 ? ~uint64_t{0} : (uint64_t{1} << its.ready) - 1;
    masks[core / kTileCores] |= mask << (core % kTileCores * kCoreThreads);
    started_ += its.ready;
    of_board_[core / kCores] += its.ready;
    its.ready = 0;
    its.started = true;
  }
  for (uint32_t tile = 0; tile < masks.size(); ++tile) {
    if (masks[tile]) sim_.start(tile, masks[tile], of_board_[tile / kTiles]);
  }
}

}  // namespace gossamer::host
