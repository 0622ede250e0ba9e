// SPDX-License-Identifier: Apache-2.0
/// A sender, a receiver and a memory around a multicast router, and a model of its copies, written from the
/// specification of records (config/constants/fabric.toml) and independent of the generated header.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "Vmulticast_top.h"
#include "check.h"
#include "flit.h"
#include "verilated.h"

namespace multicast_test {

constexpr unsigned kChannels = 8, kKeyed = 2, kWindow = 8, kBoard = 0x5A5;
constexpr unsigned kMaxPayload = 32;  ///< flits of a packet that is stored whole: at most 16 of a message, and a mask
constexpr uint64_t kPatience = 100'000;

using flit_test::Beat, flit_test::Flit, flit_test::Packet;

enum FlitKind { kBody, kMask, kKey, kHeader };
enum RecordKind { kThread, kThreadHalf, kThreadWord, kTile, kTileHalf, kRouter, kIndirect, kThreadDouble };

/// One record: 48 bits, or 96.
struct Record {
  unsigned kind = 0, y = 0, x = 0, thread = 0, link = 0, vc = 0;
  uint32_t word = 0, key = 0;
  uint64_t mask = 0;  ///< of kThreadDouble: both replacement words
  bool wide() const { return kind == kThreadWord || kind == kTile || kind == kTileHalf || kind == kThreadDouble; }
  /// First 48 bits, and the second.
  std::array<uint64_t, 2> bits() const;
};

/// Beats of records, as the host writes them.
class Tables {
 public:
  std::map<uint32_t, Beat> beats;
  /// Puts records into beats from `at` on; returns the key. Some beats are filled only partly.
  uint32_t put(uint32_t at, const std::vector<Record>& records, std::mt19937_64& random);
  /// The records of each key.
  std::map<uint32_t, std::vector<Record>> keys;
};

class Bench {
 public:
  explicit Bench(uint64_t seed);
  ~Bench();

  std::mt19937_64 random;
  std::unique_ptr<Vmulticast_top> top;
  Tables tables;
  uint32_t waves = 0;  ///< the board's colour for each job
  uint64_t now = 0, flits = 0, entered = 0, sent = 0, received = 0, bad = 0, lookups = 0, hits = 0, reads = 0;
  uint64_t messages = 0, copies = 0, latest = 0, first_flit = 0;
  /// Messages and copies by job and epoch (job_tag): expected, and as the router counts them.
  std::array<uint64_t, 128> messages_of{}, copies_of{}, entered_of{}, received_of{}, sent_of{};
  std::array<double, kChannels> drain;  ///< chance that a flit is accepted in a cycle
  double send_rate = 1.0, memory_rate = 1.0;
  unsigned memory_least = 4, memory_most = 60;  ///< latency of a read [cycles]
  bool collect_only = false;

  /// `kept`: flits that leave of a packet that is too long.
  void send(unsigned channel, Packet packet, size_t kept = ~size_t{0});
  /// Flits of all channels that wait to be sent.
  uint64_t waiting() const;
  uint64_t expected() const { return outstanding_; }
  void tick();
  void finish();
  unsigned below(unsigned bound) { return static_cast<unsigned>(random() % bound); }
  bool chance(double share) { return std::uniform_real_distribution<double>(0, 1)(random) < share; }

 private:
  struct Read {
    uint64_t due;
    unsigned tag;
    uint32_t beat;
    Beat data;  ///< when it was requested: a flush must not let it into the cache
  };
  std::array<std::deque<Flit>, kChannels> in_, out_;
  std::array<unsigned, kChannels> credits_;
  std::array<unsigned, kChannels> held_{};
  std::vector<Read> in_flight_;
  std::array<bool, 64> tag_busy_{};
  int answering_ = -1;
  uint64_t outstanding_ = 0;

  void expand(unsigned channel, const Packet& packet);
  void drive();
  void observe();
};

}  // namespace multicast_test
