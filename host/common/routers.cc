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
constexpr unsigned kPlaceBits = config::RouteRouter::kBits;
constexpr unsigned kPlaces = config::RouteBeat::kRecordsBits / kPlaceBits;
constexpr uint32_t kFirstBeat = (TinselPOLiteProgRouterBase - TinselDRAMBase) / kBeatBytes;
constexpr uint32_t kRoom = TinselPOLiteProgRouterLength / kBeatBytes;
constexpr uint32_t kMostBeats = (1u << config::RouteKey::kBeatsBits) - 1;
/// Copies to threads and tiles under one key of a tree: with those to all links and an indirection they fit into its
/// beats.
constexpr size_t kPacketsInFlightBytes = 48;
constexpr size_t kMostRouters = (kMostBeats - kPacketsInFlightBytes / 2) * kPlaces - 1;

/// A board as programs name it.
std::string place_of(uint32_t board) {
  return "board " + std::to_string(board % kWidth) + "," + std::to_string(board / kWidth);
}

/// Writes a place of 48 bits.
void store(uint8_t* at, uint64_t bits) { std::memcpy(at, &bits, kPlaceBits / 8); }

}  // namespace

// ---- One board ----

RouterTable::RouterTable(uint32_t board)
    // Not touched before it is used, so that a table of megabytes costs nothing.
    : board_(board), bytes_(new uint8_t[size_t{kRoom} * kBeatBytes]) {}

RouterTable::~RouterTable() = default;

size_t RouterTable::size() const { return size_t{beat_ + (place_ != 0)} * kBeatBytes; }

uint8_t* RouterTable::beat(const char* call) {
  if (beat_ >= kRoom) {
    reject_call(call, "the router of " + place_of(board_) + " has room for " + std::to_string(kRoom) + " beats of " +
                     std::to_string(kBeatBytes) + " bytes (TinselPOLiteProgRouterLength), and all are used");
  }
  uint8_t* beat = bytes_.get() + size_t{beat_} * kBeatBytes;
  if (!place_) std::memset(beat, 0, kBeatBytes);
  return beat;
}

uint8_t* RouterTable::put(const char* call, unsigned places) {
  if (ended_) reject_call(call, "a record behind addIND; the one to other records is the last under its key");
  if (place_ + places > kPlaces) {
    ++beat_;
    place_ = 0;
  }
  uint8_t* beat = this->beat(call);
  uint16_t count;
  std::memcpy(&count, beat, sizeof count);
  ++count;
  std::memcpy(beat, &count, sizeof count);
  uint8_t* at = beat + sizeof count + place_ * (kPlaceBits / 8);
  place_ += places;
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
  config::Words<2 * kPlaceBits> record;
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
  store(at, record.get(0, kPlaceBits));
  store(at + kPlaceBits / 8, record.get(kPlaceBits, kPlaceBits));
}

void RouterTable::add(const char* call, const NextHop& next_hop, uint32_t key) {
  config::RouteRouter to;
  to.kind = config::RouteRecord::Router;
  to.link = static_cast<uint8_t>(next_hop.link);
  to.vc = static_cast<uint8_t>(next_hop.channel);
  to.key = key;
  store(put(call, 1), to.pack().get(0, kPlaceBits));
}

uint8_t* RouterTable::indirect(const char* call) {
  config::RouteIndirect to;
  to.kind = config::RouteRecord::Indirect;
  uint8_t* at = put(call, 1);
  store(at, to.pack().get(0, kPlaceBits));
  ended_ = true;
  static_assert(config::RouteIndirect::kKeyLsb == 0 && config::RouteIndirect::kKeyBits == 32);
  return at;
}

uint32_t RouterTable::key(const char* call) {
  // A thread's message to a key of no beats traps; a beat of no records is a message to nobody.
  if (beat_ == first_ && !place_) beat(call);
  const uint32_t end = place_ || beat_ == first_ ? beat_ + 1 : beat_;
  config::RouteKey key;
  if (end - first_ > kMostBeats) {
    reject_call(call, std::to_string(end - first_) + " beats of records; a key has " + std::to_string(kMostBeats) +
                     " at most: end them with addIND, and give the rest a key of their own");
  }
  key.beat = kFirstBeat + first_;
  key.beats = static_cast<uint8_t>(end - first_);
  beat_ = first_ = end;
  place_ = 0;
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
      reject_call(call, "a destination is on " + place_of(dest.board) + ", which is not there");
    }
    if (dest.board == board) {
      here.push_back(dest);
    } else {
      const NextHop to = next_hop(call, board, dest.board);
      auto& [over, behind] = away[{to.link, to.channel}];
      over = to;
      behind.push_back(dest);
    }
  }
  // Neighbours' keys and those of indirections come first: a key is known when its records stand.
  std::vector<std::pair<NextHop, uint32_t>> routers;
  for (const auto& [link, group] : away) {
    const auto& [to, behind] = group;
    routers.emplace_back(to, multicast_key(call, to.next, behind));
  }
  if (routers.size() > kMostRouters) reject_call(call, place_of(board) + " has too many links for one key");
  RouterTable& table = *tables_[board];
  uint32_t rest = 0;
  size_t left = here.size();
  do {
    const size_t from = left > kPacketsInFlightBytes ? left - kPacketsInFlightBytes : 0;
    // Routers have furthest to go, so they stand under the key that is read first.
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
    reject_call(call, "there is no board " + std::string(kName[direction]) + " of " + place_of(board));
  };
  if (x < 0 || y < 0 || x >= static_cast<int>(kWidth) || y >= static_cast<int>(kHeight)) none();
  const uint32_t other = static_cast<uint32_t>(y) * kWidth + static_cast<uint32_t>(x);
  const NextHop to = next_hop(call, board, other);
  if (to.next != other) none();
  return to;
}

}  // namespace gossamer::host
