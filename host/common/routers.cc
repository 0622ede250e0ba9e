// SPDX-License-Identifier: Apache-2.0
#include <gossamer/config.h>
#include <gossamer/device_config.h>
#include <gossamer/host/routers.h>
#include <gossamer/host/vertices.h>

#include <cstring>
#include <map>
#include <string>
#include <utility>

namespace gossamer::host {
namespace {

constexpr uint32_t kWidth = GS_BOARDS_WIDTH;
constexpr uint32_t kHeight = GS_BOARDS_HEIGHT;
constexpr uint32_t kMeshHeight = GS_TILES / GS_MESH_WIDTH;
constexpr uint32_t kBeatBytes = config::RouteBeat::kBits / 8;
constexpr unsigned kSlotBits = config::RouteRouter::kBits;
constexpr unsigned kBeatSlots = config::RouteBeat::kRecordsBits / kSlotBits;
constexpr uint32_t kFirstBeat = (TinselPOLiteProgRouterBase - TinselDRAMBase) / kBeatBytes;
constexpr uint32_t kTableBeats = TinselPOLiteProgRouterLength / kBeatBytes;
constexpr uint32_t kMostBeats = (1u << config::RouteKey::kBeatsBits) - 1;
/// Copies to threads and tiles under one key of a tree. Together with copies to all links and an indirection, they fit
/// into its beats.
constexpr size_t kMostLocalCopies = 48;
constexpr size_t kMostRouters = (kMostBeats - kMostLocalCopies / 2) * kBeatSlots - 1;

/// A board as programs name it.
std::string board_name(uint32_t board) {
  return "board " + std::to_string(board % kWidth) + "," + std::to_string(board / kWidth);
}

/// Writes the 48 bits of a slot.
void store(uint8_t* at, uint64_t bits) { std::memcpy(at, &bits, kSlotBits / 8); }

}  // namespace

// ---- One board ----

RouterTable::RouterTable(uint32_t board)
    // Left uninitialized, so that an unused table of megabytes costs nothing.
    : board_(board), bytes_(new uint8_t[size_t{kTableBeats} * kBeatBytes]) {}

RouterTable::~RouterTable() = default;

size_t RouterTable::size() const { return size_t{beat_ + (slot_ != 0)} * kBeatBytes; }

uint8_t* RouterTable::beat(const char* call) {
  if (beat_ >= kTableBeats) {
    reject_call(call, "the router of " + board_name(board_) + " has space for " + std::to_string(kTableBeats) +
                          " beats of " + std::to_string(kBeatBytes) +
                          " bytes (TinselPOLiteProgRouterLength), and all are used");
  }
  uint8_t* beat = bytes_.get() + size_t{beat_} * kBeatBytes;
  if (!slot_) std::memset(beat, 0, kBeatBytes);
  return beat;
}

uint8_t* RouterTable::put(const char* call, unsigned slots) {
  if (ended_) reject_call(call, "a record after addIND; an indirection must be the last record of its key");
  if (slot_ + slots > kBeatSlots) {
    ++beat_;
    slot_ = 0;
  }
  uint8_t* beat = this->beat(call);
  uint16_t count;
  std::memcpy(&count, beat, sizeof count);
  ++count;
  std::memcpy(beat, &count, sizeof count);
  uint8_t* at = beat + sizeof count + slot_ * (kSlotBits / 8);
  slot_ += slots;
  return at;
}

void RouterTable::add(const char* call, const RouterDest& dest) {
  if (dest.tile_x >= GS_MESH_WIDTH || dest.tile_y >= kMeshHeight) {
    reject_call(call, "there is no mailbox " + std::to_string(dest.tile_x) + "," + std::to_string(dest.tile_y) +
                     "; a board has mailboxes 0,0 to " + std::to_string(GS_MESH_WIDTH - 1) + "," +
                     std::to_string(kMeshHeight - 1));
  }
  const bool one = !dest.mask;
  const uint32_t last = one ? dest.thread : 63 - static_cast<uint32_t>(__builtin_clzll(dest.mask));
  if (last >= GS_THREADS_PER_TILE) {
    reject_call(call, "there is no thread " + std::to_string(last) + " at a mailbox; there are 0 to " +
                     std::to_string(GS_THREADS_PER_TILE - 1));
  }
  config::Words<2 * kSlotBits> record;
  if (one) {
    config::RouteThreadWord to;
    to.kind = config::RouteRecord::ThreadWord;
    to.tile_x = static_cast<uint8_t>(dest.tile_x);
    to.tile_y = static_cast<uint8_t>(dest.tile_y);
    to.thread = static_cast<uint8_t>(dest.thread);
    to.word = dest.key;
    record = to.pack();
  } else {
    config::RouteTile to;
    to.kind = config::RouteRecord::TileHalf;
    to.tile_x = static_cast<uint8_t>(dest.tile_x);
    to.tile_y = static_cast<uint8_t>(dest.tile_y);
    to.mask_low = static_cast<uint16_t>(dest.mask);
    to.mask_high = dest.mask >> config::RouteTile::kMaskLowBits;
    to.word = static_cast<uint16_t>(dest.key);
    record = to.pack();
  }
  uint8_t* at = put(call, 2);
  store(at, record.get(0, kSlotBits));
  store(at + kSlotBits / 8, record.get(kSlotBits, kSlotBits));
}

void RouterTable::add(const char* call, const NextHop& next_hop, uint32_t key) {
  config::RouteRouter to;
  to.kind = config::RouteRecord::Router;
  to.link = static_cast<uint8_t>(next_hop.link);
  to.vc = static_cast<uint8_t>(next_hop.channel);
  to.key = key;
  store(put(call, 1), to.pack().get(0, kSlotBits));
}

uint8_t* RouterTable::indirect(const char* call) {
  config::RouteIndirect to;
  to.kind = config::RouteRecord::Indirect;
  uint8_t* at = put(call, 1);
  store(at, to.pack().get(0, kSlotBits));
  ended_ = true;
  static_assert(config::RouteIndirect::kKeyLsb == 0 && config::RouteIndirect::kKeyBits == 32);
  return at;
}

uint32_t RouterTable::key(const char* call) {
  // A thread's message to a key without beats would trap; a beat without records drops the message.
  if (beat_ == first_ && !slot_) beat(call);
  const uint32_t end = slot_ || beat_ == first_ ? beat_ + 1 : beat_;
  config::RouteKey key;
  if (end - first_ > kMostBeats) {
    reject_call(call, std::to_string(end - first_) + " beats of records; a key has " + std::to_string(kMostBeats) +
                     " at most: end them with addIND, and give the rest a key of their own");
  }
  key.beat = kFirstBeat + first_;
  key.beats = static_cast<uint8_t>(end - first_);
  beat_ = first_ = end;
  slot_ = 0;
  ended_ = false;
  return keys_.emplace_back(static_cast<uint32_t>(key.pack().get(0, config::RouteKey::kBits)));
}

uint32_t RouterTable::first_beat() { return kFirstBeat; }

// ---- All boards ----

RouterTables::RouterTables(const char* call, uint32_t columns, uint32_t rows) {
  if (columns > kWidth || rows > kHeight) {
    reject_call(call, "the program asks for " + std::to_string(columns) + " x " + std::to_string(rows) +
                     " boards, and there are " + std::to_string(kWidth) + " x " + std::to_string(kHeight));
  }
  for (uint32_t board = 0; board < kWidth * kHeight; ++board) tables_.push_back(std::make_unique<RouterTable>(board));
}

uint32_t RouterTables::multicast_key(const char* call, uint32_t board, const std::vector<RouterDest>& dests) {
  if (board >= tables_.size()) {
    reject_call(call,
           "there is no board " + std::to_string(board) + "; there are 0 to " + std::to_string(tables_.size() - 1));
  }
  std::vector<RouterDest> here;
  std::map<std::pair<uint32_t, uint32_t>, std::pair<NextHop, std::vector<RouterDest>>> away;
  for (const RouterDest& dest : dests) {
    if (dest.board >= tables_.size()) {
      reject_call(call, "a destination is on " + board_name(dest.board) + ", which does not exist");
    }
    if (dest.board == board) {
      here.push_back(dest);
    } else {
      const NextHop to = next_hop(call, board, dest.board);
      auto& [over, beyond] = away[{to.link, to.channel}];
      over = to;
      beyond.push_back(dest);
    }
  }
  // Keys of neighbours and of indirections come first: a key is known once its records are written.
  std::vector<std::pair<NextHop, uint32_t>> routers;
  for (const auto& [link, group] : away) {
    const auto& [to, beyond] = group;
    routers.emplace_back(to, multicast_key(call, to.next, beyond));
  }
  if (routers.size() > kMostRouters) reject_call(call, board_name(board) + " has too many links for one key");
  RouterTable& table = *tables_[board];
  uint32_t rest = 0;
  size_t left = here.size();
  do {
    const size_t from = left > kMostLocalCopies ? left - kMostLocalCopies : 0;
    // Copies to routers travel furthest, so the key that is read first holds them.
    if (!from) {
      for (const auto& [to, key] : routers) table.add(call, to, key);
    }
    for (size_t i = from; i < left; ++i) table.add(call, here[i]);
    if (left < here.size()) {
      uint8_t* location = table.indirect(call);
      std::memcpy(location, &rest, sizeof rest);
    }
    rest = table.key(call);
    left = from;
  } while (left);
  return rest;
}

NextHop RouterTables::neighbour(const char* call, uint32_t board, uint32_t direction) {
  static constexpr int kStepX[] = {0, 0, 1, -1}, kStepY[] = {1, -1, 0, 0};
  static constexpr const char* kName[] = {"north", "south", "east", "west"};
  if (direction > 3) {
    reject_call(call, "there is no direction " + std::to_string(direction) +
                     "; there are 0 north (the next row), 1 south, 2 east (the next column), 3 west");
  }
  const int x = static_cast<int>(board % kWidth) + kStepX[direction];
  const int y = static_cast<int>(board / kWidth) + kStepY[direction];
  const auto none = [&] {
    reject_call(call, "there is no board " + std::string(kName[direction]) + " of " + board_name(board));
  };
  if (x < 0 || y < 0 || x >= static_cast<int>(kWidth) || y >= static_cast<int>(kHeight)) none();
  const uint32_t other = static_cast<uint32_t>(y) * kWidth + static_cast<uint32_t>(x);
  const NextHop to = next_hop(call, board, other);
  if (to.next != other) none();
  return to;
}

}  // namespace gossamer::host
