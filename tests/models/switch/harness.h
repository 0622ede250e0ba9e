// SPDX-License-Identifier: Apache-2.0
/// Senders and receivers around a board switch, and a model of its routing, written from the specification.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <map>
#include <random>
#include <vector>

#include "Vswitch_top.h"
#include "check.h"
#include "verilated.h"

namespace switch_test {

constexpr unsigned kPorts = 11, kChannels = 8, kWindow = 8, kLongest = 33, kVcs = 2;
constexpr unsigned kTable = 64, kOwnBoard = 5;
constexpr unsigned kPatience = 200'000;  ///< cycles without any flit after which a test gives up

enum Kind : uint32_t { kThread, kTile, kStream, kMatch, kKey, kHost, kControl, kAccelerator };

inline bool is_link(unsigned port) { return port >= 2 && port <= 4; }

/// A packet in flight. Every flit carries its packet's id and its index.
struct Packet {
  uint64_t id = 0;
  uint32_t dest = 0;
  unsigned flits = 1, in = 0, channel = 0;
  uint64_t sent = 0;  ///< cycle in which its last flit entered
};

/// Port and channel through which a packet must leave; port kPorts: unroutable.
struct Route {
  unsigned port = kPorts, channel = 0;
  bool operator<(const Route& other) const {
    return port != other.port ? port < other.port : channel < other.channel;
  }
};

struct Entry {
  bool valid = false;
  unsigned port = 0, vc = 0;
};

/// A receiver's channel: how fast it drains flits.
struct Drain {
  double rate = 1.0;  ///< chance that a waiting flit is accepted in a cycle
  unsigned period = 1;  ///< accepts at most one flit every so many cycles
  std::deque<int> held;
  std::vector<uint64_t> open;  ///< flits of the incomplete packet
};

class Bench {
 public:
  explicit Bench(uint64_t seed);
  ~Bench();

  std::mt19937_64 random;
  std::unique_ptr<Vswitch_top> top;
  uint64_t now = 0, delivered = 0, dropped = 0, flits_out = 0, latest = 0;
  std::array<std::array<std::deque<Packet>, kChannels>, kPorts> queue;  ///< packets to send, by port and channel
  std::array<std::array<Drain, kChannels>, kPorts> drain;
  std::array<double, kPorts> send_rate;  ///< chance that a port sends in a cycle
  std::array<Entry, kTable> table;
  std::array<std::vector<unsigned>, kPorts> order_out;  ///< for each flit that left by a port: its ingress port
  std::array<std::map<unsigned, uint64_t>, kPorts> flits_from;  ///< flits that left by a port, by ingress port
  bool steady = false;  ///< channels of a port send round-robin instead of at random
  /// cycle in which the last packet of a port's channel left
  std::array<std::array<uint64_t, kChannels>, kPorts> served{};
  uint64_t slowest = 0;                  ///< most cycles from a packet's last flit in to its first flit out
  uint64_t fastest = ~uint64_t{0};

  void tick();
  /// Runs until every packet has left or been dropped.
  void finish();
  uint64_t outstanding() const { return outstanding_; }
  void send(unsigned port, unsigned channel, uint32_t dest, unsigned flits);
  void set(unsigned index, Entry entry);
  Route route_of(const Packet& packet) const;
  unsigned below(unsigned bound) { return static_cast<unsigned>(random() % bound); }
  bool chance(double share) { return std::uniform_real_distribution<double>(0, 1)(random) < share; }

 private:
  struct Sending {
    unsigned credits = kWindow, next = 0;
  };
  std::array<std::array<Sending, kChannels>, kPorts> sending_;
  std::map<uint64_t, Packet> in_flight_;
  /// Order of the packets of one ingress channel that leave through one route.
  std::map<std::pair<unsigned, Route>, std::deque<uint64_t>> order_;
  uint64_t next_id_ = 1, outstanding_ = 0, quiet_ = 0;
  uint64_t flits_in_ = 0, flits_in_before_ = 0, flits_dropped_ = 0;

  void drive();
  void observe();
  void arrive(unsigned port, unsigned channel);
};

/// The check word of flit `index` of packet `id`.
inline uint64_t word_of(uint64_t id, unsigned index) { return (id << 8 | index) * 0x9E3779B97F4A7C15ull; }

/// Address of an endpoint of any kind on a board; `rest` is the bits below the board.
inline uint32_t address(Kind kind, unsigned board, uint32_t rest) {
  return static_cast<uint32_t>(kind) << 29 | board << 14 | rest;
}

}  // namespace switch_test
