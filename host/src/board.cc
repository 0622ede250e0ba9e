// SPDX-License-Identifier: Apache-2.0
#include "board.h"

#include <gossamer/device_config.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
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
constexpr uint32_t kFlit = 16;
constexpr uint32_t kPacket = 256;                    ///< bytes of data in a packet to a loader
constexpr uint32_t kPacketsInFlightBytes = 1 << 16;  ///< bytes sent before the host waits for replies
constexpr uint32_t kWindow = 1u << 30;               ///< of unpartitioned DRAM

using Tile = config::AddressTile;
using Header = config::LoadHeader;
constexpr unsigned kSideband = 160;  ///< first bit of a flit's sideband, which follows payload and destination
constexpr uint32_t kHost = static_cast<uint32_t>(config::Endpoint::Host) << Tile::kKindLsb;

/// Address of a tile's loader; tiles are numbered board by board.
uint32_t loader(uint32_t tile) {
  const uint32_t of_board = tile % kTiles;
  return static_cast<uint32_t>(config::Endpoint::Tile) << Tile::kKindLsb | tile / kTiles << Tile::kBoardLsb |
         of_board / GS_MESH_WIDTH << Tile::kTileYLsb | of_board % GS_MESH_WIDTH << Tile::kTileXLsb;
}

/// The sideband word of a flit.
uint32_t sideband_word(config::FlitKind kind, bool last, config::Vnet vnet) {
  return static_cast<uint32_t>(kind) << (config::Flit::kKindLsb - kSideband) |
         static_cast<uint32_t>(last) << (config::Flit::kLastLsb - kSideband) |
         static_cast<uint32_t>(vnet) << (config::Flit::kVnetLsb - kSideband);
}

/// Appends a packet to a loader.
void add_packet(std::vector<Flit>& flits, uint32_t dest, config::LoadOp op, unsigned group, uint32_t address,
                uint32_t length, bool reply, const uint8_t* data) {
  const uint32_t rows = data ? length / kFlit : 0;
  Flit flit;
  flit.words[0] = static_cast<uint32_t>(op) << Header::kOpLsb | group << Header::kGroupLsb;
  flit.words[1] = address;
  flit.words[2] = length;
  flit.words[3] = reply ? kHost : 0;
  flit.words[4] = dest;
  flit.words[5] = sideband_word(config::FlitKind::Header, !rows, config::Vnet::Request);
  flits.push_back(flit);
  for (uint32_t row = 0; row < rows; ++row) {
    std::memcpy(flit.words.data(), data + row * kFlit, kFlit);
    flit.words[5] = sideband_word(config::FlitKind::Body, row + 1 == rows, config::Vnet::Request);
    flits.push_back(flit);
  }
}

/// Translates a program's address to a loader's.
uint32_t loader_address(const char* call, uint32_t address) {
  if (address < GS_PARTITION_BASE) return address;
  const uint64_t half = TinselBytesPerDRAM / 2;
  const uint64_t offset = address - GS_PARTITION_BASE;
  const uint64_t part = offset / GS_PARTITION_BYTES, line = offset % GS_PARTITION_BYTES / kLine;
  const uint64_t at = half + ((line << GS_LOG_THREADS_PER_DRAM | part) * kLine) + offset % kLine;
  if (offset >= half || at >= kWindow) {
    char text[64];
    std::snprintf(text, sizeof text, "there is no memory at 0x%08x that a host can access", address);
    reject_call(call, text);
  }
  return static_cast<uint32_t>(GS_DRAM_BASE + at);
}

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
  next_hops_file_ = settings_.next_hops;
}

Board::~Board() = default;

void Board::finish() { sim_.end(); }

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
  if (next_hops_.empty()) {
    std::vector<NextHop> next_hops(size_t{kBoards} * kBoards);
    std::ifstream file(next_hops_file_);
    for (NextHop one; file >> one.link >> one.channel >> one.next && next_hops_.size() < next_hops.size();)
      next_hops_.push_back(one);
    if (next_hops_.size() < next_hops.size()) reject_call(call, next_hops_file_ + ": is truncated");
  }
  const NextHop& found = next_hops_[size_t{from} * kBoards + to];
  if (found.next == from)
    reject_call(call, "no route leads from board " + std::to_string(from) + " to " + std::to_string(to));
  return found;
}

// ---- Tables ----

bool Board::network_drained(const char* call) {
  // Each board is queried twice, one board at a time, so that no query is in flight while another board answers. The
  // network is drained if no board reports a packet and no packet has entered a switch between the rounds.
  using Read = config::ControlRead;
  constexpr uint32_t kBoardUnit = (1U << Read::kUnitBits) - 1;
  const auto counter = [&](uint32_t board, config::BoardCounter which) {
    Flit flit;
    flit.words[0] = static_cast<uint32_t>(config::ControlOp::Read) << Read::kOpCodeLsb | kBoardUnit << Read::kUnitLsb |
                    static_cast<uint32_t>(which) << Read::kCounterLsb;
    flit.words[4] = static_cast<uint32_t>(config::Endpoint::Control) << Tile::kKindLsb | board << Tile::kBoardLsb;
    flit.words[5] = sideband_word(config::FlitKind::Body, true, config::Vnet::Control);
    return sim_.control(call, {flit});
  };
  std::vector<uint64_t> before;
  for (unsigned round = 0; round < 2; ++round) {
    std::vector<uint64_t> entered;
    for (uint32_t board = 0; board < kBoards; ++board) {
      if (counter(board, config::BoardCounter::InFlight)) return false;
      entered.push_back(counter(board, config::BoardCounter::Entered));
    }
    if (round && entered != before) return false;
    before = entered;
  }
  return true;
}

void Board::load_tables(const char* call) {
  constexpr uint64_t kDrainCycles = 200'000;  ///< limit for packets in flight to arrive
  if (next_tables_ == settings_.tables.size()) {
    reject_call(call, "there are no " + std::string(next_tables_ ? "further" : "other") +
                      " routing tables; name them, in their order, with --next-routes FILE");
  }
  const std::string path = settings_.tables[next_tables_++];
  std::ifstream file(path, std::ios::binary);
  const auto word = [&] {
    uint32_t value = 0;
    file.read(reinterpret_cast<char*>(&value), sizeof value);
    return value;
  };
  const bool alone = word() != 0;
  uint32_t groups = word();
  flush_stores(call);
  for (const uint64_t begun = sim_.cycle(); alone && !network_drained(call);) {
    if (sim_.cycle() - begun < kDrainCycles) continue;
    reject_call(call, "packets are always in flight, and these tables must not be mixed with those in use; call it "
                      "when all threads wait or have ended");
  }
  for (; file && groups; --groups) {
    std::vector<Flit> packets(word());
    file.read(reinterpret_cast<char*>(packets.data()), static_cast<std::streamsize>(packets.size() * sizeof(Flit)));
    if (file) sim_.control(call, packets);
  }
  if (!file) reject_call(call, path + ": is truncated");
  next_hops_file_ = path + ".next_hops";
  next_hops_.clear();
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
  for (uint32_t tile = 0; tile < kBoards * kTiles; ++tile) {
    std::vector<uint8_t> commands;
    for (uint32_t thread = 0; thread < kTileThreads; ++thread) {
      commands.push_back(static_cast<uint8_t>(config::DebugCommand::Flush));
      commands.push_back(static_cast<uint8_t>(thread));
    }
    for (const std::vector<uint8_t>& report : sim_.ask(tile, commands, kTileThreads)) {
      if (report[0] == static_cast<uint8_t>(config::DebugReport::Rejected)) {
        reject_call(call, "thread " + std::to_string(tile * kTileThreads + report[2]) +
                          " still runs; load a program when all threads have ended");
      }
    }
  }
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
  write_code(call, settings_.broadcast, 0xF, kBoards * kTiles, 0, instructions);
  for (const Part& part : parts) write_all(call, part.address, part.data.data(), part.data.size());
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
  write_code(call, loader(core / kTileCores), 1u << (core % kTileCores / TinselCoresPerInstrMem), 1, 0, instructions);
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

void Board::write_code(const char* call, uint32_t dest, unsigned group, uint32_t replies, uint32_t address,
                       const std::vector<uint8_t>& code) {
  std::vector<uint8_t> whole = code;
  whole.resize((code.size() + kFlit - 1) / kFlit * kFlit);
  std::vector<Flit> flits;
  for (uint32_t at = 0; at < whole.size(); at += kPacket) {
    const uint32_t length = std::min<uint32_t>(kPacket, static_cast<uint32_t>(whole.size()) - at);
    add_packet(flits, dest, config::LoadOp::WriteInstr, group, address + at, length, at + length == whole.size(),
               whole.data() + at);
  }
  if (!flits.empty()) sim_.exchange(call, flits, replies);
}

void Board::write(const char* call, uint32_t tile, uint32_t address, const uint8_t* data, size_t size) {
  if (!size) return;
  if (uint64_t{address} + size > uint64_t{1} << 32) reject_call(call, "data beyond the end of memory");
  // Memory is written in whole lines: the rest of the first and the last line is read first and kept.
  std::vector<uint8_t> whole;
  const uint32_t before = address % kLine;
  if (before) {
    whole = read(call, tile, address - before, kLine);
    whole.resize(before);
  }
  whole.insert(whole.end(), data, data + size);
  if (const uint32_t tail = static_cast<uint32_t>(whole.size() % kLine)) {
    const std::vector<uint8_t> last =
        read(call, tile, address - before + static_cast<uint32_t>(whole.size()) - tail, kLine);
    whole.insert(whole.end(), last.begin() + tail, last.end());
  }
  write_lines(call, loader(tile), 1, address - before, whole.data(), whole.size());
  // The board's router may have cached the previous contents.
  const uint64_t first = TinselPOLiteProgRouterBase, end = first + TinselPOLiteProgRouterLength;
  if (address < end && address + size > first) flush_record_cache(call, tile / kTiles);
}

void Board::flush_record_cache(const char* call, uint32_t board) {
  std::ifstream file(settings_.forget, std::ios::binary);
  Flit packet;
  file.seekg(static_cast<std::streamoff>(size_t{board} * sizeof packet));
  file.read(reinterpret_cast<char*>(packet.words.data()), sizeof packet.words);
  if (!file) reject_call(call, settings_.forget + ": is truncated");
  sim_.control(call, {packet});
}

void Board::write_lines(const char* call, uint32_t dest, uint32_t replies, uint32_t address, const uint8_t* data,
                        size_t size) {
  // Adjacent lines of a partition are not adjacent in memory.
  const uint32_t most = address < GS_PARTITION_BASE ? kPacket : std::min(kPacket, kLine);
  for (size_t begin = 0; begin < size; begin += kPacketsInFlightBytes) {
    const size_t end = std::min<size_t>(size, begin + kPacketsInFlightBytes);
    std::vector<Flit> flits;
    for (size_t at = begin; at < end; at += most) {
      const auto length = static_cast<uint32_t>(std::min<size_t>(most, end - at));
      add_packet(flits, dest, config::LoadOp::Write, 0,
                 loader_address(call, address + static_cast<uint32_t>(at)), length,
                 at + length == end, data + at);
    }
    sim_.exchange(call, flits, replies);
  }
}

void Board::write_each(const char* call, uint32_t address, const uint8_t* data, size_t size) {
  constexpr uint32_t kEach = kTiles / TinselDRAMsPerBoard;
  for (uint32_t tile = 0; tile < kBoards * kTiles; tile += kEach) write(call, tile, address, data, size);
}

void Board::write_all(const char* call, uint32_t address, const uint8_t* data, size_t size) {
  // The rest of a line may differ between boards.
  const size_t before = std::min<size_t>(size, (kLine - address % kLine) % kLine);
  const size_t whole = (size - before) / kLine * kLine;
  if (!whole) return write_each(call, address, data, size);
  const uint32_t first = address + static_cast<uint32_t>(before);
  write_each(call, address, data, before);
  write_lines(call, settings_.broadcast, kBoards * TinselDRAMsPerBoard, first, data + before, whole);
  write_each(call, first + static_cast<uint32_t>(whole), data + before + whole, size - before - whole);
}

std::vector<uint8_t> Board::read(const char* call, uint32_t tile, uint32_t address, size_t size) {
  std::vector<uint8_t> found;
  found.reserve(size);
  while (found.size() < size) {
    // Requests are answered in order. Adjacent lines of a partition are not adjacent in memory.
    std::vector<Flit> flits;
    uint32_t replies = 0;
    const size_t end = std::min<size_t>(size, found.size() + kPacketsInFlightBytes);
    for (size_t at = found.size(); at < end;) {
      const auto from = static_cast<uint32_t>(address + at);
      const uint64_t most = from < GS_PARTITION_BASE ? GS_PARTITION_BASE - uint64_t{from} : kLine;
      const auto length = static_cast<uint32_t>(std::min<uint64_t>(most, end - at));
      add_packet(flits, loader(tile), config::LoadOp::Read, 0, loader_address(call, from), length, true, nullptr);
      replies += (length + kPacket - 1) / kPacket;
      at += length;
    }
    for (const Reply& reply : sim_.exchange(call, flits, replies)) {
      found.insert(found.end(), reply.data.begin(), reply.data.end());
    }
  }
  return found;
}

void Board::store(const char* call, uint32_t core, const uint32_t* words, uint32_t count) {
  Core& its = cores_[core];
  const uint32_t tile = core / kTileCores;
  const size_t bytes = stores_.data.size();
  if (bytes && (stores_.tile != tile || stores_.address + bytes != its.address || bytes > kPacketsInFlightBytes)) {
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
  const uint32_t dest = loader(core / kTileCores);
  const unsigned group = 1u << (core % kTileCores / TinselCoresPerInstrMem);
  // A loader writes whole flits: the first and the last one are read first.
  const uint32_t begin = its.address / kFlit * kFlit, length = (end + kFlit - 1) / kFlit * kFlit - begin;
  std::vector<Flit> flits;
  add_packet(flits, dest, config::LoadOp::ReadInstr, group, begin, length, true, nullptr);
  std::vector<uint8_t> code;
  for (const Reply& reply : sim_.exchange(call, flits, 1)) {
    code.insert(code.end(), reply.data.begin(), reply.data.end());
  }
  std::memcpy(code.data() + (its.address - begin), words, size_t{count} * 4);
  write_code(call, dest, group, 1, begin, code);
  its.address = end;
}

std::vector<uint32_t> Board::load(const char* call, uint32_t core, uint32_t count) {
  flush_stores(call);
  Core& its = cores_[core];
  if (!count) return {};
  const uint32_t before = its.address % kLine;
  const size_t bytes = size_t{count} * 4, lines = (before + bytes + kLine - 1) / kLine;
  // Checked before memory for the requested words is allocated.
  if (const uint64_t last = its.address + bytes - 1; last > UINT32_MAX) {
    reject_call(call, std::to_string(count) + " words to read end beyond the address space");
  } else {
    loader_address(call, static_cast<uint32_t>(last));
  }
  std::vector<uint32_t> words(count);
  const std::vector<uint8_t> data = read(call, core / kTileCores, its.address - before, lines * kLine);
  std::memcpy(words.data(), data.data() + before, bytes);
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
