// SPDX-License-Identifier: Apache-2.0
/// Clusters of boards' networks under saturating traffic, on any number of wirings one after the other.
///
/// saturate_test SEED CYCLES LOSS < WIRINGS: all ports of all boards send without a pause for CYCLES cycles; LOSS is
/// the probability that a frame is lost, and that one is damaged, in units of 2^-20. Then all packets must have arrived
/// once, whole and unchanged, at their destinations.
/// A wiring in the input, one item a line, numbers in decimal except beats and masks:
///
///     wiring NAME BOARDS
///     cable BOARD LINK BOARD LINK
///     entry BOARD INDEX VALUE           of the switch's table
///     beat BOARD NUMBER WORD0 ... WORD7
///     key BOARD KEY COUNT BOARD...      a key of that board's router, and the boards where it has copies
///     end
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "Vsaturate_top.h"
#include "check.h"
#include "flit.h"
#include "verilated.h"

namespace {

constexpr unsigned kPorts = 6, kExits = 2, kControlPort = 2, kHostPort = 3, kStreamPort = 4, kNets = 4, kWindow = 8;
constexpr unsigned kLinks = 4, kJob = 5;
constexpr uint64_t kPatience = 60'000;
enum Kind : uint32_t { kThread, kTile, kStream, kMatch, kKey, kHost, kControl, kAccelerator };
enum FlitKind : unsigned { kBody, kMask, kKeyHead, kHeader };
enum Net : unsigned { kMailbox, kRequest, kReply, kControlNet };

using flit_test::Beat, flit_test::Flit, flit_test::Packet;

uint32_t address(Kind kind, unsigned board, uint32_t rest) {
  return static_cast<uint32_t>(kind) << 29 | board << 14 | rest;
}

struct Wiring {
  struct Cable {
    unsigned a, a_link, b, b_link;
  };
  struct Entry {
    unsigned board, index, value;
  };
  struct Key {
    unsigned board;
    uint32_t key;
    std::vector<unsigned> to;
  };
  std::string name;
  unsigned boards = 0;
  std::vector<Cable> cables;
  std::vector<Entry> entries;
  std::vector<std::map<uint32_t, Beat>> beats;
  std::vector<Key> keys;

  /// Reads the next wiring; false at the end of the input.
  bool read(std::istream& in) {
    for (std::string line, word; std::getline(in, line);) {
      std::istringstream words(line);
      words >> word;
      if (word == "wiring") {
        words >> name >> boards;
        beats.resize(boards);
      } else if (word == "cable") {
        Cable c{};
        words >> c.a >> c.a_link >> c.b >> c.b_link;
        cables.push_back(c);
      } else if (word == "entry") {
        Entry e{};
        words >> e.board >> e.index >> e.value;
        entries.push_back(e);
      } else if (word == "beat") {
        unsigned board = 0, number = 0;
        words >> board >> number >> std::hex;
        for (uint32_t& part : beats.at(board)[number]) words >> part;
      } else if (word == "key") {
        Key key{};
        unsigned count = 0;
        words >> key.board >> key.key >> count;
        key.to.resize(count);
        for (unsigned& board : key.to) words >> board;
        keys.push_back(key);
      } else if (word == "end") {
        return true;
      }
      CHECK(!words.fail(), "an invalid line in the wirings: %s", line.c_str());
    }
    return false;
  }
};

class Test {
 public:
  Test(const Wiring& wiring, uint64_t seed, unsigned loss) : wiring_(wiring), random_(seed), boards_(wiring.boards) {
    for (const auto& key : wiring.keys) boards_.at(key.board).keys.push_back(&key);
    for (unsigned b = 0; b < boards_.size(); ++b) {
      Board& board = boards_[b];
      board.context = std::make_unique<VerilatedContext>();
      board.top = std::make_unique<Vsaturate_top>(board.context.get());
      Vsaturate_top& top = *board.top;
      top.clk_i = top.rst_ni = top.table_we_i = top.rsp_valid_i = 0;
      top.board_i = b;
      top.seed_i = static_cast<uint32_t>(seed) + 100 * b;
      top.loss_i = loss;
      top.wire_valid_i = 0;
      for (unsigned p = 0; p < kPorts; ++p) {
        top.in_valid_i[p] = top.out_credit_i[p] = 0;
        board.credits[p].fill(kWindow);
      }
    }
    for (const auto& c : wiring.cables) {
      boards_[c.a].ahead[c.a_link] = {c.b, c.b_link, true};
      boards_[c.b].ahead[c.b_link] = {c.a, c.a_link, true};
    }
    for (int i = 0; i < 8; ++i) edges();
    for (Board& board : boards_) board.top->rst_ni = 1;
    until("the boards are ready", [](const Board& board) { return board.top->ready_o != 0; });
    for (const auto& e : wiring.entries) {
      boards_[e.board].top->table_we_i = 1;
      boards_[e.board].top->table_index_i = e.index;
      boards_[e.board].top->table_entry_i = e.value;
      tick();
      boards_[e.board].top->table_we_i = 0;
    }
    until("all links are up", [](const Board& board) {
      for (unsigned l = 0; l < kLinks; ++l)
        if (board.ahead[l].plugged && !(board.top->up_o >> l & 1)) return false;
      return true;
    });
  }
  ~Test() {
    for (Board& board : boards_) board.top->final();
  }

  void run(uint64_t cycles) {
    const uint64_t from = now_;
    sends_ = true;
    while (now_ - from < cycles) {
      if (now_ % 512 == 0) {
        for (Board& board : boards_)
          for (double& rate : board.drain) rate = random_() % 4 == 0 ? 0.2 : 1.0;
      }
      tick();
      CHECK(now_ - latest_ < kPatience, "%s: no packet has arrived for %llu cycles", wiring_.name.c_str(),
            (unsigned long long)kPatience);
    }
    sends_ = false;
    for (Board& board : boards_) board.drain.fill(1.0);
    const uint64_t busy = words_;
    while (!wanted_.empty() || waiting_ != 0) {
      tick();
      CHECK(now_ - latest_ < kPatience, "%s: %zu packets did not arrive, %llu flits wait", wiring_.name.c_str(),
            wanted_.size(), (unsigned long long)waiting_);
    }
    for (int i = 0; i < 1500; ++i) tick();
    for (unsigned b = 0; b < boards_.size(); ++b)
      CHECK(!boards_[b].top->in_flight_o, "%s: all arrived, but board %u holds packets: %x", wiring_.name.c_str(),
            b, boards_[b].top->in_flight_o);
    // Payload words of 8 bytes, relative to the capacity of the lines of 5 bytes a cycle in both directions.
    const double most = 2.0 * wiring_.cables.size() * cycles * 5 / 8;
    std::printf("%s boards %u cables %zu packets %llu copies %llu streams %llu replies %llu flits %llu busy %.3f\n",
                wiring_.name.c_str(), wiring_.boards, wiring_.cables.size(), (unsigned long long)next_ - 1,
                (unsigned long long)copies_, (unsigned long long)streams_, (unsigned long long)replies_,
                (unsigned long long)flits_, double(busy) / most);
  }

 private:
  struct Far {
    unsigned board = 0, link = 0;
    bool plugged = false;
  };
  struct Read {
    uint64_t due;
    unsigned tag;
    uint32_t beat;
  };
  struct Board {
    std::unique_ptr<VerilatedContext> context;
    std::unique_ptr<Vsaturate_top> top;
    std::array<Far, kLinks> ahead{};
    std::array<std::array<std::deque<Flit>, kNets>, kPorts> in;
    std::array<std::array<unsigned, kNets>, kPorts> credits{}, held{};
    std::array<std::array<Packet, kNets>, kPorts> part;
    std::array<unsigned, kPorts> turn{};
    std::array<double, kPorts> drain{1, 1, 1, 1, 1, 1};
    std::deque<Read> reads;
    std::vector<const Wiring::Key*> keys;
  };
  /// An outstanding packet: to one destination, or a copy of it to each of some boards.
  struct Wanted {
    Packet packet;
    unsigned board = 0;
    std::vector<unsigned> boards;
  };

  const Wiring& wiring_;
  std::mt19937_64 random_;
  std::vector<Board> boards_;
  std::unordered_map<uint32_t, Wanted> wanted_;
  uint64_t now_ = 0, latest_ = 0, waiting_ = 0, flits_ = 0, copies_ = 0, streams_ = 0, replies_ = 0, words_ = 0;
  uint32_t next_ = 1;
  bool sends_ = false;

  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }

  template <typename Ready>
  void until(const char* what, Ready ready) {
    for (uint64_t n = 0;; ++n) {
      bool all = true;
      for (const Board& board : boards_) all &= ready(board);
      if (all) return;
      CHECK(n < 50'000, "%s: not before 50,000 cycles: %s", wiring_.name.c_str(), what);
      tick();
    }
  }

  /// Queues a packet; its number is in the first word after the head flit.
  Packet message(uint32_t dest, unsigned net, unsigned flits, unsigned head) {
    Packet packet(flits);
    const unsigned tags = kJob << 2 | pick(4);
    for (unsigned i = 0; i < flits; ++i) {
      packet[i] = {kBody, net, tags, i + 1 == flits, dest, {}};
      for (uint32_t& word : packet[i].payload) word = static_cast<uint32_t>(random_());
    }
    packet[0].kind = head;
    packet[head == kBody ? 0 : 1].payload[0] = next_;
    return packet;
  }

  /// The flit that contains the number.
  static uint32_t number(const Packet& packet) {
    return packet[packet[0].kind == kBody || packet.size() < 2 ? 0 : 1].payload[0];
  }

  void make(unsigned b, unsigned p, unsigned net) {
    Board& board = boards_[b];
    const unsigned to = pick(wiring_.boards);
    const uint32_t place = static_cast<uint32_t>(random_()) & 0x3FFF;
    Packet packet;
    Wanted wanted{{}, to, {}};
    if (net == kMailbox) {
      if (p < kExits && !board.keys.empty() && pick(3) == 0) {
        const Wiring::Key& key = *board.keys[pick(static_cast<unsigned>(board.keys.size()))];
        packet = message(address(kKey, 0, 0), net, 2 + pick(4), kKeyHead);
        packet[0].payload = {key.key, 0, 0, 0};
        wanted.boards = key.to;
        copies_ += key.to.size();
      } else if (pick(2)) {
        packet = message(address(kThread, to, place), net, 1 + pick(4), kBody);
      } else {
        packet = message(address(kTile, to, place & ~63u), net, 2 + pick(4), kMask);
        packet[0].payload[2] = packet[0].payload[3] = 0;
      }
    } else if (net == kRequest) {
      if (p >= kStreamPort) {
        packet = message(address(kStream, to, pick(2)), net, 2 + pick(32), kHeader);
        packet[0].payload[1] = packet[0].payload[2] = packet[0].payload[3] = 0;
        ++streams_;
      } else if (pick(2)) {
        packet = message(address(kAccelerator, to, place), net, 1 + pick(8), kBody);
      } else {
        packet = message(address(kTile, to, place & ~63u), net, 2 + pick(32), kHeader);
      }
    } else if (net == kReply) {
      if (p >= kStreamPort) {
        // Credits of a receiver.
        packet = message(address(kStream, to, pick(2)), net, 1, kBody);
      } else if (pick(4) == 0) {
        packet = message(address(kHost, 0, 0), net, 1 + pick(16), kBody);
        wanted.board = 0;
      } else {
        packet = message(address(kTile, to, place & ~63u), net, 1 + pick(5), kBody);
      }
      ++replies_;
    } else {
      packet = message(address(kControl, to, 0), net, 1 + pick(2), kBody);
    }
    wanted.packet = packet;
    for (const Flit& flit : packet) board.in[p][net].push_back(flit);
    waiting_ += packet.size();
    wanted_.emplace(next_, std::move(wanted));
    ++next_;
  }

  /// Networks in which a port sends: tiles in all except control, which is for control units and hosts.
  static bool has(unsigned port, unsigned net) {
    if (port < kExits) return net != kControlNet;
    if (port == kControlPort) return net != kMailbox;
    if (port == kHostPort) return true;
    return net == kRequest || net == kReply;
  }

  void drive(unsigned b) {
    Board& board = boards_[b];
    Vsaturate_top& top = *board.top;
    for (unsigned p = 0; p < kPorts; ++p) {
      top.in_valid_i[p] = 0;
      for (unsigned k = 1; k <= kNets; ++k) {
        const unsigned net = (board.turn[p] + k) % kNets;
        if (sends_ && has(p, net) && board.in[p][net].empty()) make(b, p, net);
        if (board.in[p][net].empty() || board.credits[p][net] == 0) continue;
        const Flit flit = board.in[p][net].front();
        board.in[p][net].pop_front();
        --board.credits[p][net];
        --waiting_;
        board.turn[p] = net;
        top.in_valid_i[p] = 1u << net;
        top.in_kind_i[p] = flit.kind;
        top.in_last_i[p] = flit.last;
        top.in_vnet_i[p] = flit.vnet;
        top.in_tags_i[p] = flit.tags;
        top.in_dest_i[p] = flit.dest;
        for (unsigned w = 0; w < 4; ++w) top.in_payload_i[p][w] = flit.payload[w];
        break;
      }
    }
    top.rsp_valid_i = !board.reads.empty() && board.reads.front().due <= now_;
    if (top.rsp_valid_i) {
      top.rsp_tag_i = board.reads.front().tag;
      const auto found = wiring_.beats[b].find(board.reads.front().beat);
      CHECK(found != wiring_.beats[b].end(), "%s: board %u reads beat %u, which has no key", wiring_.name.c_str(), b,
            board.reads.front().beat);
      for (unsigned w = 0; w < 8; ++w) top.rsp_i[w] = found->second[w];
    }
  }

  void arrive(unsigned b, unsigned p, unsigned net) {
    Board& board = boards_[b];
    const Vsaturate_top& top = *board.top;
    Flit flit{top.out_kind_o[p], top.out_vnet_o[p], top.out_tags_o[p], top.out_last_o[p] != 0, top.out_dest_o[p], {}};
    for (unsigned w = 0; w < 4; ++w) flit.payload[w] = top.out_payload_o[p][w];
    Packet& part = board.part[p][net];
    part.push_back(flit);
    ++flits_;
    latest_ = now_;
    if (!flit.last) return;
    judge(b, p, part);
    part.clear();
  }

  void judge(unsigned b, unsigned p, const Packet& packet) {
    const char* const name = wiring_.name.c_str();
    const uint32_t kind = packet[0].dest >> 29;
    const unsigned port = kind == kControl  ? kControlPort
                          : kind == kHost   ? kHostPort
                          : kind == kStream ? kStreamPort + (packet[0].dest & 1)
                          : (packet[0].dest >> 6 & 15) == 0 ? 0
                                                            : 1;
    CHECK(p == port, "%s: board %u: a packet to %08x left through port %u, not %u", name, b, packet[0].dest, p, port);
    const auto found = wanted_.find(number(packet));
    CHECK(found != wanted_.end(), "%s: board %u port %u: packet %u to %08x, not sent or duplicated", name, b, p,
          number(packet), packet[0].dest);
    Wanted& wanted = found->second;
    if (wanted.packet[0].kind != kKeyHead) {
      CHECK(wanted.board == b && wanted.packet == packet, "%s: board %u: packet %u to %08x was changed, or is for %u",
            name, b, found->first, packet[0].dest, wanted.board);
      wanted_.erase(found);
      return;
    }
    // A copy: to threads of tile 0,0 by a mask; the rest is unchanged.
    const auto at = std::find(wanted.boards.begin(), wanted.boards.end(), b);
    CHECK(at != wanted.boards.end(), "%s: board %u: an unexpected or duplicated copy of %u", name, b, found->first);
    Packet copy = wanted.packet;
    copy[0].kind = kMask;
    copy[0].payload = {3, 0x80000000, 0, 0};
    for (Flit& flit : copy) flit.dest = address(kTile, b, 0);
    CHECK(copy == packet, "%s: board %u: a copy of %u was changed", name, b, found->first);
    wanted.boards.erase(at);
    if (wanted.boards.empty()) wanted_.erase(found);
  }

  void edges() {
    for (Board& board : boards_) {
      board.top->clk_i = 0;
      board.top->eval();
      board.top->clk_i = 1;
      board.top->eval();
    }
  }

  void tick() {
    for (unsigned b = 0; b < boards_.size(); ++b) {
      drive(b);
      boards_[b].top->clk_i = 0;
      boards_[b].top->eval();
    }
    for (unsigned b = 0; b < boards_.size(); ++b) {
      Board& board = boards_[b];
      Vsaturate_top& top = *board.top;
      const bool answered = top.rsp_valid_i && top.rsp_ready_o;
      const bool asks = top.req_valid_o;
      const Read read{now_ + 30, top.req_tag_o, top.req_beat_o};
      top.clk_i = 1;
      top.eval();
      if (answered) board.reads.pop_front();
      if (asks) board.reads.push_back(read);
    }
    ++now_;
    for (unsigned b = 0; b < boards_.size(); ++b) {
      Board& board = boards_[b];
      Vsaturate_top& top = *board.top;
      CHECK(top.unroutable_o == 0 && top.bad_o == 0, "%s: board %u drops a packet or rejects a record: %x %x",
            wiring_.name.c_str(), b, top.unroutable_o, top.bad_o);
      for (unsigned p = 0; p < kPorts; ++p) {
        unsigned credits = 0;
        for (unsigned net = 0; net < kNets; ++net) {
          if (top.in_credit_o[p] >> net & 1) ++board.credits[p][net];
          if (top.out_valid_o[p] >> net & 1) {
            arrive(b, p, net);
            ++board.held[p][net];
          }
          if (board.held[p][net] && std::uniform_real_distribution<double>(0, 1)(random_) < board.drain[p]) {
            --board.held[p][net];
            credits |= 1u << net;
          }
        }
        top.out_credit_i[p] = credits;
      }
      carry(board);
    }
  }

  /// Words that have arrived at the ends of a board's wires enter the boards there.
  void carry(Board& board) {
    Vsaturate_top& top = *board.top;
    for (unsigned l = 0; l < kLinks; ++l) {
      const Far& far = board.ahead[l];
      if (!far.plugged) continue;
      Vsaturate_top& other = *boards_[far.board].top;
      const unsigned bit = 1u << far.link;
      const auto set = [bit](CData& all, bool value) { all = value ? all | bit : all & ~bit; };
      const bool valid = top.wire_valid_o >> l & 1;
      words_ += sends_ && valid;
      set(other.wire_valid_i, valid);
      set(other.wire_last_i, top.wire_last_o >> l & 1);
      set(other.wire_error_i, top.wire_error_o >> l & 1);
      other.wire_data_i[far.link] = top.wire_data_o[l];
      other.wire_keep_i[far.link] = top.wire_keep_o[l];
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const uint64_t seed = std::strtoull(argv[1], nullptr, 10), cycles = std::strtoull(argv[2], nullptr, 10);
  const auto loss = static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10));
  for (uint64_t n = 0;; ++n) {
    Wiring wiring;
    if (!wiring.read(std::cin)) return 0;
    Test(wiring, seed + n, loss).run(cycles);
    std::fflush(stdout);
  }
}
