// SPDX-License-Identifier: Apache-2.0
/// Senders and receivers around a board switch, and what it must do with each packet, typed from the specification.
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
constexpr unsigned kPatience = 200'000;  ///< cycles without any flit in which a test that waits gives up

enum Kind : uint32_t { kThread, kTile, kStream, kMatch, kKey, kHost, kControl, kAccelerator };

inline bool is_link(unsigned port) { return port >= 2 && port <= 4; }

/// A packet on its way. Every flit names it and its place in it.
struct Packet {
  uint64_t id = 0;
  uint32_t dest = 0;
  unsigned flits = 1, in = 0, channel = 0;
  uint64_t sent = 0;  ///< cycle in which its last flit went in
};

/// Port and channel by which a packet must leave; port kPorts: nobody.
struct Way {
  unsigned port = kPorts, channel = 0;
  bool operator<(const Way& other) const {
    return port != other.port ? port < other.port : channel < other.channel;
  }
};

struct Entry {
  bool valid = false;
  unsigned port = 0, vc = 0;
};

/// A receiver's channel: how readily it takes flits.
struct Drain {
  double rate = 1.0;  ///< chance that a flit that is there is taken in a cycle
  unsigned period = 1;  ///< a flit is taken in every so manieth cycle at most
  std::deque<int> held;
  std::vector<uint64_t> open;  ///< flits of the packet that is under way
};

class Bench {
 public:
  explicit Bench(uint64_t seed);
  ~Bench();

  std::mt19937_64 random;
  std::unique_ptr<Vswitch_top> top;
  uint64_t now = 0, delivered = 0, dropped = 0, flits_out = 0, latest = 0;
  std::array<std::array<std::deque<Packet>, kChannels>, kPorts> queue;  ///< packets to be sent, by port and channel
  std::array<std::array<Drain, kChannels>, kPorts> drain;
  std::array<double, kPorts> send_rate;  ///< chance that a port sends in a cycle
  std::array<Entry, kTable> table;
  std::array<std::vector<unsigned>, kPorts> order_out;  ///< of each flit that left by a port: the port it came in
  std::array<std::map<unsigned, uint64_t>, kPorts> flits_from;  ///< flits that left by a port, by the port they came in
  bool steady = false;  ///< channels of a port send in turn, not by chance
  /// cycle in which a packet of a port's channel left last
  std::array<std::array<uint64_t, kChannels>, kPorts> served{};
  uint64_t slowest = 0;                  ///< most cycles from a packet's last flit in to its first flit out
  uint64_t fastest = ~uint64_t{0};

  void tick();
  /// Runs until everything sent has left or been dropped.
  void finish();
  uint64_t outstanding() const { return outstanding_; }
  void send(unsigned port, unsigned channel, uint32_t dest, unsigned flits);
  void set(unsigned index, Entry entry);
  Way way(const Packet& packet) const;
  unsigned below(unsigned bound) { return static_cast<unsigned>(random() % bound); }
  bool chance(double share) { return std::uniform_real_distribution<double>(0, 1)(random) < share; }

 private:
  struct Sending {
    unsigned credits = kWindow, next = 0;
  };
  std::array<std::array<Sending, kChannels>, kPorts> sending_;
  std::map<uint64_t, Packet> flying_;
  /// Order of packets of one ingress channel that leave by one way.
  std::map<std::pair<unsigned, Way>, std::deque<uint64_t>> order_;
  uint64_t next_id_ = 1, outstanding_ = 0, quiet_ = 0;
  uint64_t flits_in_ = 0, flits_in_before_ = 0, flits_dropped_ = 0;

  void drive();
  void observe();
  void arrive(unsigned port, unsigned channel);
};

/// The word that flit `index` of packet `id` carries.
inline uint64_t word_of(uint64_t id, unsigned index) { return (id << 8 | index) * 0x9E3779B97F4A7C15ull; }

/// Address of any kind of endpoint on a board; `rest` fills the bits below it.
inline uint32_t address(Kind kind, unsigned board, uint32_t rest) {
  return static_cast<uint32_t>(kind) << 29 | board << 14 | rest;
}

}  // namespace switch_test
