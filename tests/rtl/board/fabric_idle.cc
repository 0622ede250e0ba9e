// SPDX-License-Identifier: Apache-2.0
/// Idle detection over boards that are configured in band: tiles are models, everything between them is RTL.
///
/// Two jobs share the boards, each with a random tree. Their threads send each other messages, some by a mask, some by
/// a key with copies on two boards, and some to tiles of the other job, which drop them; hosts send and receive
/// messages as well. Then other jobs get the slots. The checker knows the state of all threads.
#include <algorithm>
#include <set>

#include "fabric.h"
#include "fabric_tests.h"
#include "reduce.h"

namespace {

constexpr unsigned kJobs = 2;
using reduce_test::kMax, reduce_test::kMin, reduce_test::Word;

/// A message in flight: the number of copies that are still to be received.
struct Message {
  unsigned job;
  int epoch;  // -1: a host's message that has not passed its port yet
  unsigned copies;
  bool strays = false;  // to a tile of another job
};

struct Thread {
  int job = -1;
  bool begun = false, busy = false, over = false, vote = true;
  unsigned epoch = 0, budget = 0;
  uint64_t begins = 0, until = 0;
  std::array<Word, 2> words;
  int scan = -1;
  unsigned scan_op = 0;
  std::vector<uint8_t> results;
  struct Came {
    uint64_t at;
    unsigned epoch;
    uint32_t id;
  };
  std::vector<Came> inbox;
  std::vector<Came> strays;
  unsigned cleared = 0;
};

class Idle : public Bench {
 public:
  Idle(uint64_t seed, unsigned loss, bool slow_host) : Bench(seed, loss), slow_host_(slow_host) {}

  /// Runs pairs of jobs, one after the other, each until a number of epochs is over.
  void run(unsigned epochs) {
    epochs_ = epochs;
    configure();
    for (const auto& numbers : {std::array<unsigned, kJobs>{5, 9}, {9, 17}}) {
      numbers_ = numbers;
      one();
    }
  }

  uint64_t releases = 0, keyed = 0, by_hosts = 0, to_hosts = 0, strayed = 0, lost = 0, illegal = 0;

 private:
  std::array<unsigned, kJobs> numbers_{};

  void one() {
    hosts_over_ = false;
    on_packet = [this](unsigned board, unsigned port, const Packet& packet) { arrive(board, port, packet); };
    place();
    acts = [this] { act(); };
    until("the last release", 400'000, [this] {
      return std::all_of(threads_.begin(), threads_.end(), [](const Thread& t) { return t.job < 0 || t.over; });
    });
    drain.fill(1.0);
    hosts_over_ = true;
    until("the last message", 100'000, [this] { return in_flight_.empty(); });
    acts = nullptr;
    // The last message causes reports of idle detection, and another wave if it was late.
    drained();
    for (unsigned b = 0; b < kBoards; ++b) {
      CHECK(counter(b, 31, 0) == lost_[b], "board %u does not count its unroutable messages", b);
      for (unsigned n : {1u, 2u}) CHECK(counter(b, 31, n) == 0, "board %u: counter %u is not 0", b, n);
      CHECK(counter(b, 31, kCountsTileDropped) == dropped_[b], "board %u does not count its tiles' drops", b);
      check_reports(b);
    }
    CHECK(counter(0, 31, 4) == host_sent_[0] && counter(0, 31, 5) == host_received_[0], "host 0's counters are wrong");
    CHECK(counter(2, 31, 4) == host_sent_[1] && counter(2, 31, 5) == host_received_[1], "host 1's counters are wrong");
  }

  /// Checks the reports to the host of board 0 about messages that a board's tiles have dropped since the last call.
  void check_reports(unsigned board) {
    std::set<unsigned> reporting;
    uint64_t most = 0;
    for (const Flit& event : events[0]) {
      if (event.bits(27, 4) != kTileDropped || event.bits(10, 12) != board) continue;
      CHECK(event.bits(109, 4) == kOfJob, "a report of a message dropped for reason %u",
            (unsigned)event.bits(109, 4));
      reporting.insert(static_cast<unsigned>(event.bits(100, 4) * kWidth + event.bits(96, 4)));
      most = std::max(most, event.bits(64, 32));
    }
    for (unsigned t = 0; t < kTiles; ++t) {
      if (strays_[board * kTiles + t]) CHECK(reporting.count(t), "no report of tile %u of board %u", t, board);
    }
    CHECK(most <= dropped_[board] && 2 * most >= dropped_[board], "%llu of %u drops of board %u are reported",
          (unsigned long long)most, dropped_[board], board);
  }

  bool slow_host_, eager_host_ = false, hosts_over_ = false;
  unsigned epochs_ = 0;
  std::array<Thread, kAllTiles> threads_;
  std::map<uint32_t, Message> in_flight_;
  std::array<std::array<unsigned, 2>, kJobs> budgets_{};  // of the hosts
  std::array<unsigned, 2> host_sent_{}, host_received_{};
  std::array<unsigned, kBoards> dropped_{}, lost_{};
  std::array<unsigned, kAllTiles> strays_{};
  std::vector<std::vector<std::array<Word, 2>>> totals_{kJobs};
  std::vector<std::vector<bool>> votes_{kJobs};
  unsigned replies_ = 0, longest_ = 1, linger_ = 1, share_ = 1;
  bool words_ = false, keys_ = false, used_ = false;
  struct Key {
    unsigned job, board;
    uint32_t key;
    unsigned leaves;
  };
  std::vector<Key> keys_of_;

  static unsigned board_of(unsigned t) { return t / kTiles; }
  static uint32_t thread_address(unsigned t) { return tile_address(kThread, board_of(t), t % kTiles, t % 7); }
  unsigned members(unsigned job) const {
    return static_cast<unsigned>(std::count_if(threads_.begin(), threads_.end(),
                                               [job](const Thread& t) { return t.job == int(job); }));
  }

  // ---------------------------------------------------------------- set-up

  void place() {
    longest_ = 1 + pick(4);
    linger_ = pick(2) ? 1 + pick(100) : 1 + pick(4);
    share_ = 1 + pick(4);
    words_ = pick(2);
    eager_host_ = pick(2);
    keys_ = pick(2);
    // Slots give up their tiles before other slots get them.
    for (unsigned b = 0; b < kBoards && used_; ++b) {
      for (unsigned p = 0; p < kJobs; ++p) ask(job(b, p, 20 + p, 0, address(kHost, 0)));
    }
    used_ = true;
    totals_.assign(kJobs, {});
    votes_.assign(kJobs, {});
    replies_ = 0;
    for (Thread& t : threads_) t = {static_cast<int>(pick(3)) - 1};
    acts = [this] {
      for (unsigned t = 0; t < kAllTiles; ++t) {
        if (!commands[t].clear) continue;
        ++threads_[t].cleared;
        tiles[t].sent = tiles[t].received = 0;
      }
    };
    for (unsigned j = 0; j < kJobs; ++j)
      while (members(j) < 2) threads_[pick(kAllTiles)].job = static_cast<int>(j);
    for (unsigned j = 0; j < kJobs; ++j) {
      for (unsigned b = 0; b < kBoards; ++b) {
        uint64_t mask = 0;
        for (unsigned t = 0; t < kTiles; ++t) mask |= uint64_t(threads_[b * kTiles + t].job == int(j)) << t;
        // The slots of the jobs differ from board to board.
        ask(job(b, (j + b) % kJobs, numbers_[j], mask, address(kHost, j)));
        ask(begin(b, (j + b) % kJobs, mask));
      }
    }
    wait(5);
    for (unsigned t = 0; t < kAllTiles; ++t)
      CHECK(threads_[t].job < 0 || threads_[t].cleared, "tile %u is assigned a job but not restarted", t);
    check_places();
    if (keys_) make_keys();
    for (unsigned j = 0; j < kJobs; ++j) plant(j);
    for (Thread& t : threads_) {
      if (t.job < 0) continue;
      t.begins = now + pick(3000);
      t.budget = pick(6);
    }
    for (auto& job : budgets_) for (unsigned& b : job) b = eager_host_ ? 40 : pick(2) ? pick(12) : 0;
    for (unsigned p = 0; p < kAll; ++p) drain[p] = pick(3) ? 1.0 : 0.1 + 0.2 * pick(4);
    if (slow_host_) drain[host(0)] = drain[host(2)] = 0.02;
    if (keys_) for (unsigned b = 0; b < kBoards; ++b) ask(cluster(b, address(kHost, 0), 8, true));
  }

  void check_places() {
    for (unsigned b = 0; b < kBoards; ++b)
      for (unsigned t = 0; t < kTiles; ++t) {
        const int j = threads_[b * kTiles + t].job;
        CHECK(top[b]->tile_job_o[t] == (j < 0 ? kNoJob : numbers_[j]), "tile %u of board %u has job %u", t, b,
              top[b]->tile_job_o[t]);
        CHECK(top[b]->tile_host_o[t] == address(kHost, j < 0 ? 0 : j), "tile %u of board %u: wrong host", t, b);
      }
  }

  /// A random tree for the job; parents are set before their children.
  void plant(unsigned j) {
    std::vector<unsigned> order{0, 1, 2};
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::vector<unsigned>> children(kBoards);
    std::vector<unsigned> parent(kBoards);
    for (unsigned i = 1; i < kBoards; ++i) {
      parent[order[i]] = order[pick(i)];
      children[parent[order[i]]].push_back(order[i]);
    }
    for (unsigned b : order) ask(tree(b, numbers_[j], true, b == order[0], parent[b], children[b]));
  }

  void put(Beat& beat, unsigned place, uint64_t value) {
    for (unsigned bit = 0; bit < 48; ++bit) {
      const unsigned to = 16 + 48 * place + bit;
      if (value >> bit & 1) beat[to / 32] |= 1u << to % 32;
    }
  }

  /// Keys of each job on each board: a tile of it here, and one on the next board.
  void make_keys() {
    uint32_t next = 3;
    keys_of_.clear();
    for (unsigned j = 0; j < kJobs; ++j) {
      for (unsigned b = 0; b < kBoards; ++b) {
        const auto tile_record = [&](unsigned board, Beat& beat, unsigned& places) {
          for (unsigned t = 0; t < kTiles; ++t) {
            if (threads_[board * kTiles + t].job != int(j)) continue;
            put(beat, places++, uint64_t{3} << 45 | uint64_t(t / kWidth) << 41 | uint64_t(t % kWidth) << 37 | 1 << 16);
            put(beat, places++, 0);
            return 1u;
          }
          return 0u;
        };
        Beat here{}, there{};
        unsigned places = 0, there_places = 0;
        const unsigned at = next++, at_there = next++, ahead = (b + 1) % kBoards;
        unsigned count = tile_record(b, here, places), leaves = count;
        const unsigned far = tile_record(ahead, there, there_places);
        if (far) {
          there[0] |= 1;
          beats[ahead][at_there] = there;
          put(here, places++, uint64_t{5} << 45 | (at_there << 5 | 1));
          ++count;
          ++leaves;
        }
        if (!leaves) continue;
        here[0] |= count;
        beats[b][at] = here;
        keys_of_.push_back({j, b, at << 5 | 1, leaves});
      }
    }
  }

  // ------------------------------------------------------------- in a cycle

  void post(unsigned port, Packet packet, unsigned job, int epoch, unsigned copies, bool strays = false) {
    in_flight_[packet.back().payload[0]] = {job, epoch, copies, strays};
    send(port, packet);
  }

  /// Sends a message from a port to an endpoint of the job. The last flit has its id: heads have masks and keys.
  bool make(unsigned port, unsigned j, int epoch, unsigned tag) {
    const unsigned board = port / kPorts;
    std::vector<unsigned> mine;
    for (unsigned t = 0; t < kAllTiles; ++t)
      if (threads_[t].job == int(j)) mine.push_back(t);
    const bool strays = members(j) < kAllTiles && pick(12) == 0;
    for (unsigned t = 0; strays && t < kAllTiles; ++t) {
      if (t == 0) mine.clear();
      if (threads_[t].job != int(j)) mine.push_back(t);
    }
    strayed += strays;
    const unsigned to = mine[pick(static_cast<unsigned>(mine.size()))], flits = 1 + pick(longest_);
    if (keys_ && !strays && pick(3) == 0) {
      for (const Key& key : keys_of_) {
        if (key.job != j || key.board != board) continue;
        Packet p = message(4u << 29, kMailbox, flits + 1, tag);
        name(p);
        p[0].kind = kKeyHead;
        p[0].payload = {key.key, 0, 0, 0};
        post(port, p, j, epoch, key.leaves);
        ++keyed;
        return true;
      }
    }
    Packet p;
    switch (pick(4)) {
      case 0:
        p = message(tile_address(kTile, board_of(to), to % kTiles), kMailbox, flits + 1, tag);
        p[0].kind = kMask;
        break;
      case 1:
        p = message(tile_address(kAccelerator, board_of(to), to % kTiles), kRequest, flits, tag);
        break;
      default:
        p = message(thread_address(to), kMailbox, flits, tag);
    }
    name(p);
    post(port, p, j, epoch, 1, strays);
    return true;
  }
  static void name(Packet& p) { p.back().payload[0] = p[0].payload[0]; }

  /// Sends a message that the switch of this board drops, to a thread, an accelerator or a host without a route: it
  /// delays no barrier for ever.
  void lose(unsigned port, unsigned tag) {
    // The switch's table has 64 entries: hosts have the last ones.
    const unsigned board = pick(2) ? 3 + pick(58) : 64 + pick(4000), flits = 1 + pick(longest_);
    switch (pick(3)) {
      case 0:
        send(port, message(tile_address(kAccelerator, board, pick(kTiles)), kRequest, flits, tag));
        break;
      case 1:
        send(port, message(address(kHost, 3 + pick(56)), kReply, flits, tag));
        break;
      default:
        send(port, message(tile_address(kThread, board, pick(kTiles)), kMailbox, flits, tag));
    }
    ++lost_[port / kPorts];
    ++lost;
  }

  /// Sends packets that receivers would count otherwise than the host's port, which drops them.
  void offend(unsigned port, unsigned tag) {
    const unsigned to = pick(kAllTiles), flits = 1 + pick(longest_);
    const Kind kinds[] = {kThread, kTile, kAccelerator};
    const uint32_t dest = tile_address(kinds[pick(3)], board_of(to), to % kTiles);
    Packet p = message(dest, pick(2) ? kMailbox : kReply, flits, tag);
    if (p[0].vnet == kMailbox) p[0].kind = kHeader;
    send(port, p);
    ++illegal;
  }

  void act() {
    for (unsigned t = 0; t < kAllTiles; ++t) {
      Thread& e = threads_[t];
      drop(t, e);
      if (e.job < 0) {
        CHECK(!commands[t].release && !commands[t].scan, "a tile without a job receives a command");
        continue;
      }
      step(t, e);
      show_tile(t, e);
    }
    if (hosts_over_) return;
    for (unsigned h = 0; h < 2; ++h) {
      for (unsigned j = 0; j < kJobs; ++j) {
        if (!budgets_[j][h] || pick(eager_host_ ? 30 : 200) || over(j)) continue;
        // Sometimes several at once, in a burst.
        for (unsigned n = 1 + pick(3); n && budgets_[j][h]; --n, --budgets_[j][h]) {
          if (pick(4) == 0) offend(host(2 * h), tags(numbers_[j], pick(4), pick(2)));
          if (pick(8) == 0) {
            lose(host(2 * h), tags(numbers_[j], pick(4), pick(2)));
            ++host_sent_[h];
          }
          make(host(2 * h), j, -1, tags(numbers_[j], pick(4), pick(2)));
          ++host_sent_[h];
          ++by_hosts;
        }
      }
    }
  }

  /// Messages for other jobs are dropped, and do not affect the tile.
  void drop(unsigned t, Thread& e) {
    for (unsigned side = 0; side < 2 && !e.strays.empty() && e.strays.front().at <= now; ++side) {
      if (side == 0 && pick(2)) continue;
      const auto found = in_flight_.find(e.strays.front().id);
      tiles[t].drops[side] = {kOfJob, numbers_[found->second.job]};
      ++dropped_[board_of(t)];
      ++strays_[t];
      in_flight_.erase(found);
      e.strays.erase(e.strays.begin());
    }
  }

  bool over(unsigned j) const {
    return std::any_of(threads_.begin(), threads_.end(),
                       [j](const Thread& t) { return t.job == int(j) && t.over; });
  }

  void step(unsigned t, Thread& e) {
    const TileCommand& c = commands[t];
    const unsigned j = static_cast<unsigned>(e.job);
    if (c.chunk_valid) e.results.push_back(c.chunk);
    if (e.scan >= 0 && ++e.scan == 16) e.scan = -1;
    if (c.scan) {
      e.scan = 0;
      e.scan_op = c.op;
    }
    if (c.release) {
      judge(t, j, c.agreed);
      ++releases;
      ++e.epoch;
      e.words = {};
      e.results.clear();
      e.over = e.epoch >= epochs_;
      e.busy = !e.over;
      e.vote = true;
      e.until = now + 2 + pick(linger_);
      e.budget = pick(6);
      return;
    }
    if (!e.begun && e.begins <= now) {
      e.begun = e.busy = true;
    }
    receive(t, e);
    if (!e.busy || now < e.until) return;
    if (totals_[j].size() <= e.epoch) totals_[j].resize(e.epoch + 1);
    if (words_ && pick(3) != 0) {
      const unsigned w = pick(2), op = (e.epoch * 7 + w * 3 + j) % 4;
      int64_t value = static_cast<int64_t>(random());
      if (pick(3) == 0) value >>= 50;
      e.words[w].give(op, value);
      totals_[j][e.epoch][w].give(op, value);
    }
    if (e.budget && pick(2)) {
      --e.budget;
      const unsigned port = board_of(t) * kPorts + exit_of(t % kTiles);
      const unsigned tag = tags(numbers_[j], e.epoch & 3, c.wave);
      ++tiles[t].sent;
      if (pick(16) == 0) {
        lose(port, tag);
      } else if (pick(6) == 0) {
        Packet p = message(address(kHost, pick(2)), kReply, 1 + pick(longest_), tag);
        name(p);
        post(port, p, j, static_cast<int>(e.epoch), 1);
        ++to_hosts;
      } else make(port, j, static_cast<int>(e.epoch), tag);
    }
    if (pick(4) == 0) {
      e.busy = false;
      e.vote = pick(6) != 0;
    } else e.until = now + pick(linger_);
  }

  void receive(unsigned t, Thread& e) {
    std::vector<Thread::Came> stay;
    for (const Thread::Came& m : e.inbox) {
      if (m.at > now || m.epoch == ((e.epoch + 1) & 3)) {
        stay.push_back(m);
        continue;
      }
      CHECK(m.epoch == (e.epoch & 3), "cycle %llu: tile %u receives a message of an old epoch",
            (unsigned long long)now, t);
      ++tiles[t].received;
      const auto found = in_flight_.find(m.id);
      CHECK(found != in_flight_.end() && found->second.job == unsigned(e.job),
            "tile %u receives a message that was not sent",
            t);
      found->second.epoch = static_cast<int>(e.epoch);
      if (--found->second.copies == 0) in_flight_.erase(found);
      if (e.over) continue;
      if (!e.begun) continue;
      e.busy = true;
      e.until = now + 1 + pick(linger_);
      if (pick(share_) == 0 && replies_ < 400) {
        ++e.budget;
        ++replies_;
      }
    }
    e.inbox = stay;
  }

  void show_tile(unsigned t, const Thread& e) {
    TileState& s = tiles[t];
    s.idle = !e.busy && std::none_of(e.inbox.begin(), e.inbox.end(),
                                     [&](const Thread::Came& m) { return m.epoch == (e.epoch & 3); });
    s.started = e.begun && !e.over;
    s.vote = !s.started || e.vote;
    s.given = 0;
    for (unsigned w = 0; w < 2; ++w)
      if (e.words[w].given) s.given |= 16u << w | e.words[w].op << 2 * w;
    s.chunk_valid = e.scan >= 0 && (e.words[0].given || e.words[1].given);
    s.chunk = s.chunk_valid ? chunk(e) : static_cast<uint8_t>(random());
  }

  static uint8_t chunk(const Thread& e) {
    const unsigned w = e.scan / 8, k = e.scan % 8, op = e.scan_op >> (2 * w) & 3;
    uint64_t value = static_cast<uint64_t>(e.words[w].value);
    if (!e.words[w].given) value = op == kMin ? ~uint64_t(0) >> 1 : op == kMax ? uint64_t(1) << 63 : 0;
    return static_cast<uint8_t>(value >> 8 * (op == kMin || op == kMax ? 7 - k : k));
  }

  /// Checks a release of tile t, before it takes effect.
  void judge(unsigned t, unsigned j, bool agreed) {
    const Thread& e = threads_[t];
    const auto at = (unsigned long long)now;
    CHECK(!e.over, "cycle %llu: a release after the last one", at);
    for (const Thread& o : threads_) {
      if (o.job != int(j)) continue;
      CHECK(o.epoch >= e.epoch, "cycle %llu: tile %u is released twice before another once", at, t);
      CHECK(o.epoch != e.epoch || (o.begun && !o.busy), "cycle %llu: job %u: release while a thread is busy", at, j);
    }
    for (const auto& [id, m] : in_flight_)
      CHECK(m.job != j || m.epoch != int(e.epoch), "cycle %llu: job %u: release with message %u in flight", at, j, id);
    auto& votes = votes_[j];
    if (votes.size() <= e.epoch) {
      bool all = true;
      for (const Thread& o : threads_) if (o.job == int(j)) all = all && o.vote;
      votes.push_back(all);
    }
    CHECK(agreed == votes[e.epoch], "cycle %llu: tile %u: a wrong vote", at, t);
    for (unsigned w = 0; w < 2 && e.epoch < totals_[j].size(); ++w) {
      const Word& total = totals_[j][e.epoch][w];
      if (!total.given) continue;
      CHECK(e.results.size() == 16, "cycle %llu: tile %u: %zu chunks of results", at, t, e.results.size());
      uint64_t value = 0;
      for (unsigned k = 0; k < 8; ++k) value |= uint64_t(e.results[8 * w + k]) << (8 * k);
      CHECK(value == static_cast<uint64_t>(total.value), "cycle %llu: tile %u: word %u is wrong", at, t, w);
    }
  }

  void arrive(unsigned board, unsigned port, const Packet& packet) {
    const uint32_t id = packet.back().payload[0];
    const unsigned job = packet[0].tags >> 2 & 31, epoch = packet[0].tags & 3;
    if (port == kExits) {
      const auto found = in_flight_.find(id);
      CHECK(found != in_flight_.end() && numbers_[found->second.job] == job,
            "a host receives a message that was not sent");
      in_flight_.erase(found);
      ++host_received_[board / 2];
      return;
    }
    const uint32_t dest = packet[0].dest;
    const unsigned tile = (dest >> 10 & 15) * kWidth + (dest >> 6 & 15);
    CHECK((dest >> 14 & 0xFFF) == board && tile < kTiles && exit_of(tile) == port, "%08x: port %u of board %u", dest,
          port, board);
    Thread& e = threads_[board * kTiles + tile];
    if (const auto found = in_flight_.find(id); found != in_flight_.end() && found->second.strays) {
      CHECK(numbers_[found->second.job] == job && (e.job < 0 || numbers_[e.job] != job), "a message has changed");
      e.strays.push_back({now + 2 + pick(6), epoch, id});
      return;
    }
    CHECK(e.job >= 0 && numbers_[e.job] == job, "tile %u of board %u receives a message of job %u", tile, board, job);
    e.inbox.push_back({now + 2 + pick(6), epoch, id});
  }
};

}  // namespace

void idle_test(uint64_t seed, uint64_t runs, unsigned loss) {
  uint64_t releases = 0, cycles = 0, keyed = 0, by_hosts = 0, to_hosts = 0, strayed = 0, lost = 0, illegal = 0;
  const char* only = std::getenv("FABRIC_RUN");
  for (uint64_t run = only ? std::strtoull(only, nullptr, 10) : 0; run < runs; ++run) {
    std::fprintf(stderr, "run %llu\n", (unsigned long long)run);
    Idle idle(seed * 1'000'003 + run, loss, run % 4 == 3);
    idle.run(2 + idle.pick(4));
    releases += idle.releases;
    cycles += idle.now;
    keyed += idle.keyed;
    by_hosts += idle.by_hosts;
    to_hosts += idle.to_hosts;
    strayed += idle.strayed;
    lost += idle.lost;
    illegal += idle.illegal;
  }
  std::printf("releases %llu cycles %llu keyed %llu by_hosts %llu to_hosts %llu strayed %llu lost %llu illegal %llu\n",
              (unsigned long long)releases, (unsigned long long)cycles, (unsigned long long)keyed,
              (unsigned long long)by_hosts, (unsigned long long)to_hosts, (unsigned long long)strayed,
              (unsigned long long)lost, (unsigned long long)illegal);
}
