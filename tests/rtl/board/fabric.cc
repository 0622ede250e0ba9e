// SPDX-License-Identifier: Apache-2.0
/// Boards that are configured in band from one host: packets between all ports, broadcast, counters, events,
/// rejections.
///
/// fabric_test packets|debug|keys|broadcast|rejections|events|idle SEED COUNT LOSS: packets or runs; probabilities of
/// loss and of damage of a frame, each in units of 2^-20.
#include <set>
#include <string>

#include "fabric.h"
#include "fabric_tests.h"

namespace {

class Test : public Bench {
 public:
  using Bench::Bench;

  void packets(uint64_t count) {
    on_packet = [this](unsigned board, unsigned port, const Packet& packet) { check_packet(board, port, packet); };
    uint64_t busy = 0;
    for (uint64_t n = 0; n < count; ++n) {
      if (n % 100 == 0) for (double& rate : drain) rate = pick(4) == 0 ? 0.2 : 1.0;
      make();
      if (n % 200 == 100) busy += counter(n / 200 % kBoards, 31, kInFlight) != 0;
      for (unsigned k = pick(6); k; --k) tick();
      while (waiting > 400) tick();
    }
    drain.fill(1.0);
    CHECK(busy != 0, "boards under load report no packet in flight");
    drained();
    CHECK(wanted_.empty() && waiting == 0, "boards report no packet in flight, but %zu are", wanted_.size());
  }

  /// Without multicast routers: messages by key, from an exit, a host and a link, are dropped, counted and reported.
  void keys() {
    on_packet = [](unsigned, unsigned, const Packet& packet) { CHECK(false, "a packet to %08x", packet[0].dest); };
    wait(20'000);
    forget();
    ask(job(0, 0, 4, 0, address(kHost, 0)));
    ask(tree(0, 4, true, true, 0, {}));
    Packet keyed = message(4u << 29, kMailbox, 2, tags(4));
    keyed[0].kind = kKeyHead;
    keyed[0].payload = {9u << 5 | 1, 0, 0, 0};
    for (const unsigned from : {2 * kPorts + 1, host(0)}) {
      send(from, keyed);
      until("the event of a key", 60'000, [&] { return !events[0].empty(); });
      const Flit event = events[0].front();
      events[0].pop_front();
      CHECK(event.bits(27, 4) == kUnroutable && event.bits(10, 12) == from / kPorts &&
                event.bits(64, 32) == keyed[0].dest,
            "event %u of board %u", (unsigned)event.bits(27, 4), (unsigned)event.bits(10, 12));
      CHECK(counter(from / kPorts, 31, 0) == 1 && counter(from / kPorts, 31, 1) == 0, "another counter changed");
    }
    drained();
  }

  /// Packets of loaders to the first board: each tile that they are for receives each once, and answers.
  void broadcast(uint64_t count) {
    std::array<uint64_t, kBoards> members{};
    for (unsigned b = 0; b < kBoards; ++b) {
      members[b] = b == 1 ? 0xE : 1 + pick(15);
      ask(job(b, 1, kJobNumber, members[b], address(kHost, 0)));
    }
    // First a chain, then a star.
    for (const bool star : {false, true}) {
      ask(relay(0, star ? std::vector<unsigned>{1, 2} : std::vector<unsigned>{1}));
      ask(relay(1, star ? std::vector<unsigned>{} : std::vector<unsigned>{2}));
      // A board that the job does not use relays nevertheless.
      for (uint64_t n = 0; n < count; ++n) one_broadcast(members);
    }
    for (unsigned b = 0; b < kBoards; ++b)
      CHECK(counter(b, 31, 3) == 2 * count, "board %u has relayed another number of broadcasts", b);
  }

  /// Bytes for the debug buses of all tiles, within the windows; the complement of each comes back to its job's host.
  void debug_buses(uint64_t count) {
    // The jobs of the tiles report to the host at board 0, and to that at board 2.
    for (unsigned b = 0; b < kBoards; ++b) {
      ask(job(b, 0, 7, 3, address(kHost, 0)));
      ask(job(b, 1, 8, 12, address(kHost, 1)));
    }
    std::array<std::deque<uint8_t>, kAllTiles> wanted;
    std::array<unsigned, kAllTiles> flying{};
    const auto take = [&] {
      for (unsigned b : {0u, 2u}) {
        for (; !bytes[b].empty(); bytes[b].pop_front()) {
          const Flit& flit = bytes[b].front();
          const auto tile = static_cast<unsigned>(flit.bits(16, 6)), length = static_cast<unsigned>(flit.bits(22, 4));
          const unsigned t = static_cast<unsigned>(flit.bits(4, 12)) * kTiles + tile;
          CHECK(b == (tile < 2 ? 0 : 2), "bytes of tile %u arrive at the host of board %u", tile, b);
          CHECK(flying[t] >= flit.bits(26, 3), "tile %u returns more credits than it got packets", t);
          flying[t] -= static_cast<unsigned>(flit.bits(26, 3));
          for (unsigned i = 0; i < length; ++i) {
            CHECK(!wanted[t].empty() && flit.bits(32 + 8 * i, 8) == wanted[t].front(), "tile %u: another byte", t);
            wanted[t].pop_front();
          }
        }
      }
    };
    for (uint64_t n = 0; n < count; ++n) {
      const unsigned t = pick(kAllTiles);
      if (flying[t] < 4) {
        std::vector<uint8_t> data(1 + pick(12));
        for (uint8_t& byte : data) {
          byte = static_cast<uint8_t>(random());
          wanted[t].push_back(static_cast<uint8_t>(~byte));
        }
        // Either host may send to a tile; packets of two hosts would not be ordered.
        send(host(t % 2 * 2), {debug(t / kTiles, t % kTiles, static_cast<unsigned>(data.size()), data)});
        ++flying[t];
      }
      for (unsigned k = pick(40); k; --k) tick();
      take();
    }
    until("all bytes", 20'000, [&] {
      take();
      return std::all_of(flying.begin(), flying.end(), [](unsigned f) { return f == 0; }) &&
             std::all_of(wanted.begin(), wanted.end(), [](const auto& left) { return left.empty(); });
    });
    for (const Flit& event : events[0]) CHECK(event.bits(27, 4) != kRejected, "a board rejects a packet");
  }

  /// Invalid packets are rejected, counted and reported, and change nothing.
  void rejections() {
    on_packet = [](unsigned, unsigned, const Packet& packet) { CHECK(false, "a packet to %08x", packet[0].dest); };
    wait(20'000);
    forget();
    unsigned rejected = 0;
    const unsigned board = 1;
    const auto reject = [&](Packet packet, unsigned why, bool answered) {
      const unsigned op = packet[0].payload[0] & 15;
      // A host's message of no job would be dropped at its port.
      const bool is_message = packet[0].kind != kHeader && packet[0].vnet != kControlNet;
      send(is_message ? 0 : host(0), packet);
      ++rejected;
      if (answered) answer(0, board, op, why);
      until("the event of a rejection", 60'000, [&] { return !events[0].empty(); });
      const Flit event = events[0].front();
      events[0].pop_front();
      CHECK(event.bits(27, 4) == kRejected && event.bits(10, 12) == board, "another event: %u of board %u",
            (unsigned)event.bits(27, 4), (unsigned)event.bits(10, 12));
      CHECK(event.bits(96, 4) == why && event.bits(64, 32) == packet[0].payload[0], "rejected for %u, not %u (%08x)",
            (unsigned)event.bits(96, 4), why, packet[0].payload[0]);
      CHECK(answers[0].empty() && events[0].empty(), "more than one report");
    };
    const uint32_t control = address(kControl, board);
    const auto op = [&](unsigned number) { return Bits().put(number, 4).flit(control); };
    for (unsigned number : {0u, 9u, 10u, 12u, 15u}) reject({op(number)}, kOfKind, false);
    for (unsigned kind : {kMask, kKeyHead, kHeader}) {
      Flit f = op(kRead);
      f.kind = kind;
      reject({f}, kOfKind, false);
    }
    for (unsigned flits : {2u, 3u, 4u, kLongest}) {
      Packet p(flits, cluster(board, address(kHost, 1)));
      for (unsigned i = 0; i + 1 < flits; ++i) p[i].last = false;
      reject(p, kOfLength, true);
    }
    reject({route(board, 0, {})}, kOfLength, true);
    Flit many = route(board, 0, std::vector<unsigned>(12, 0));
    many.payload[0] = (many.payload[0] & ~(15u << 18)) | 13u << 18;
    reject({many}, kOfLength, true);
    // The table has 64 entries.
    reject({route(board, 64, {0})}, kOfAddress, true);
    reject({route(board, 63, {0, 0})}, kOfAddress, true);
    reject({route(board, ~63u - 1, {0})}, kOfAddress, true);
    reject({job(board, 2, 7, 1, 0)}, kOfPlace, true);
    reject({job(board, 15, 7, 1, 0)}, kOfPlace, true);
    reject({job(board, 0, 7, 0x10, 0)}, kOfMask, true);
    ask(job(board, 0, 7, 3, address(kHost, 0)));
    reject({job(board, 1, 7, 4, 0)}, kOfJob, true);
    reject({job(board, 1, 8, 6, 0)}, kOfMask, true);
    ask(job(board, 1, 8, 12, address(kHost, 0)));
    reject({begin(board, 2, 0)}, kOfPlace, true);
    reject({begin(board, 0, 4)}, kOfMask, true);
    ask(begin(board, 1, 8));
    ask(begin(board, 1, 0));
    reject({debug(board, kTiles, 1, {0})}, kOfPlace, false);
    reject({debug(board, 63, 1, {0})}, kOfPlace, false);
    reject({debug(board, 0, 0, {0})}, kOfLength, false);
    reject({debug(board, 0, 13, {0})}, kOfLength, false);
    Flit none = cluster(board, address(kHost, 0));
    none.payload[1] = none.payload[2] = 0;
    reject({none}, kOfLength, true);
    reject({cluster(board, address(kTile, 0))}, kOfAddress, true);
    reject({relay(board, {0, board})}, kOfPlace, true);
    const auto read = [&](unsigned unit, unsigned number) {
      return Bits().put(kRead, 4).put(unit, 5).put(number, 4).flit(control);
    };
    reject({read(2, 0)}, kOfPlace, true);
    reject({read(30, 0)}, kOfPlace, true);
    reject({read(0, 13)}, kOfAddress, true);
    reject({read(31, kNoCounter)}, kOfAddress, true);
    // Registers: no such block, link, streaming port, match engine or number; a counter is written; a job cuts a link.
    const auto access = [&](unsigned block, unsigned unit, unsigned number, bool write) {
      return Bits().put(kRegister, 4).put(write, 1).put(block << 12 | unit << 4 | number, 16).flit(control);
    };
    reject({access(0, 0, 0, false)}, kOfPlace, true);
    reject({access(kLinkBlock, 2, 0, false)}, kOfPlace, true);
    reject({access(kStreamBlock, 0, 0, false)}, kOfPlace, true);
    reject({access(kMatchBlock, 0, 0, false)}, kOfPlace, true);
    reject({access(kLinkBlock, 1, 13, false)}, kOfAddress, true);
    reject({access(kLinkBlock, 1, 3, true)}, kOfAddress, true);
    reject({access(kLinkBlock, 1, kCut, true)}, kOfJob, true);
    reject({job(board, 1, kNoJob, 0, 0)}, kOfJob, true);
    // Idle detection: for no job; words without a second flit, a second flit without words.
    reject({tree(board, 6, true, true, 0, {})}, kOfJob, true);
    const Flit report = Bits().put(kReport, 4).put(0, 20).flit(control, 6);
    reject({report}, kOfJob, false);
    Flit given = Bits().put(kReport, 4).put(0, 9).put(3, 2).flit(control, 7);
    reject({given}, kOfLength, false);
    given.payload[0] = kReport;
    given.last = false;
    reject({given, op(0)}, kOfLength, false);
    Flit verdict = Bits().put(kVerdict, 4).put(2, 2).put(0, 1).put(1, 2).flit(control, 8);
    reject({verdict}, kOfLength, false);
    // Broadcasts: too long, wrong kind, no operation of loaders; other networks.
    for (unsigned flits : {18u, 19u, kLongest}) {
      Packet p = message(control, kRequest, flits, 0);
      p[0].kind = kHeader;
      p[0].payload[0] = 3;
      reject(p, kOfLength, false);
    }
    for (unsigned kind : {kBody, kMask}) {
      Packet p = message(control, kRequest, 2, 0);
      p[0].kind = kind;
      p[0].payload[0] = 3;
      p[0].tags = tags(7);
      reject(p, kOfKind, false);
    }
    Packet p = message(control, kRequest, 2, 0);
    p[0].kind = kHeader;
    p[0].payload[0] = 5;
    reject(p, kOfKind, false);
    for (unsigned net : {kMailbox, kReply}) {
      p = message(control, net, 5, 0);
      p[0].kind = kHeader;
      reject(p, kOfKind, false);
    }
    CHECK(counter(board, 31, 2) == rejected, "%u were rejected, not %u", (unsigned)counter(board, 31, 2), rejected);
    // The rejected packets have set nothing.
    CHECK(top[board]->boards_o == kBoards && top[board]->hosts_o == 2, "a rejected packet has set the cluster");
    for (unsigned t = 0; t < kTiles; ++t)
      CHECK(top[board]->tile_job_o[t] == (t < 2 ? 7 : 8), "tile %u: another job", t);
    slow_host();
  }

  /// Events of boards: links, unroutable packets, invalid records, messages of no job.
  void events_of_boards() {
    on_packet = [this](unsigned board, unsigned port, const Packet& packet) { check_packet(board, port, packet); };
    // After reset each board has reported both its links.
    std::set<std::pair<unsigned, unsigned>> up;
    until("both links of each board", 60'000, [&] {
      for (; !events[0].empty(); events[0].pop_front()) {
        const Flit& event = events[0].front();
        CHECK(event.bits(27, 4) == kUp && event.bits(64, 64) == 1, "event %u, not link up",
              (unsigned)event.bits(27, 4));
        up.insert({event.bits(10, 12), event.bits(22, 5)});
      }
      return up.size() == 2 * kBoards;
    });
    const auto wait_for = [&](unsigned board, unsigned what, unsigned unit, uint64_t value) {
      until("an event", 60'000, [&] { return !events[0].empty(); });
      const Flit event = events[0].front();
      events[0].pop_front();
      CHECK(event.bits(10, 12) == board && event.bits(27, 4) == what && event.bits(22, 5) == unit &&
                event.bits(64, 64) == value,
            "event %u unit %u of board %u: %llx", (unsigned)event.bits(27, 4), (unsigned)event.bits(22, 5),
            (unsigned)event.bits(10, 12), (unsigned long long)event.bits(64, 64));
    };
    // Unroutable: a board and a host without a table entry; each is reported with its address, all are counted.
    send(host(0), message(address(kThread, 7), kMailbox, 3, tags(0)));
    wait_for(0, kStray, 0, 0);
    Packet p = message(address(kTile, 7), kRequest, 3, tags(0));
    p[0].kind = kHeader;
    send(host(0), p);
    wait_for(0, kUnroutable, kHostPort, address(kTile, 7));
    send(1 * kPorts + 1, message(address(kHost, 9), kReply, 1, tags(0)));
    wait_for(1, kUnroutable, 1, address(kHost, 9));
    const uint64_t before = counter(1, 31, 0);
    CHECK(before == 1 && counter(0, 31, 0) == 1, "unroutable packets are not counted");
    for (int n = 0; n < 20; ++n) send(1 * kPorts + n % 2, message(address(kThread, 40 + n), kMailbox, 1, tags(0)));
    wait(5000);
    CHECK(counter(1, 31, 0) == before + 20, "not all unroutable packets are counted");
    CHECK(!events[0].empty() && events[0].size() <= 20, "%zu events of unroutable packets", events[0].size());
    forget();
    // A beat whose count exceeds its number of records.
    beats[2][9] = Beat{6u, 0, 0, 0, 0, 0, 0, 0};
    Packet keyed = message(4u << 29, kMailbox, 2, tags(0));
    keyed[0].kind = kKeyHead;
    keyed[0].payload = {9u << 5 | 1, 0, 0, 0};
    send(2 * kPorts + 1, keyed);
    wait_for(2, kRecord, 1, 0);
    CHECK(counter(2, 31, 1) == 1, "an invalid record is not counted");
    // A key without a payload, from a board's tile, from its host and from the neighbour board.
    ask(job(0, 0, 4, 0, address(kHost, 0)));
    for (const unsigned from : {2 * kPorts + 1, 2 * kPorts, host(0)}) {
      Packet empty{keyed[0]};
      empty[0].last = true;
      empty[0].tags = tags(4);
      if (from == host(0)) ask(tree(0, 4, true, true, 0, {}));
      send(from, empty);
      wait_for(from / kPorts, kRecord, from == host(0) ? 4 : from % kPorts, 0);
    }
    Packet onward = message(4u << 29 | 2, kMailbox, 1, tags(4));
    onward[0].kind = kKeyHead;
    send(1 * kPorts, onward);
    wait_for(1, kRecord, 0, 0);
    ask(job(0, 0, 4, 0, address(kHost, 0)));
    // Messages dropped by tiles: the first of each tile is reported, then each power of two of the count.
    unsigned dropped = 0;
    const auto drop = [&](unsigned tile, unsigned side, unsigned why, unsigned number) {
      tiles[1 * kTiles + tile].drops[side] = {why, number};
      ++dropped;
      tick();
    };
    const auto value = [](unsigned count, unsigned tile, unsigned why, unsigned number) {
      return count | uint64_t(tile % kWidth) << 32 | uint64_t(tile / kWidth) << 36 | uint64_t(number) << 40 |
             uint64_t(why) << 45;
    };
    drop(2, 0, kOfJob, 30);
    wait_for(1, kTileDropped, 0, value(1, 2, kOfJob, 30));
    drop(3, 1, kOfPlace, 3);
    wait_for(1, kTileDropped, 0, value(2, 3, kOfPlace, 3));
    drop(2, 0, kOfLength, 4);
    drop(3, 0, kOfMask, 5);
    wait_for(1, kTileDropped, 0, value(4, 3, kOfMask, 5));
    for (unsigned n = 0; n < 60; ++n) {
      drop(n % 2 + 2, n / 2 % 2, kOfKind, n % 30);
      wait(pick(200));
    }
    wait(5000);
    CHECK(events[0].size() == 4, "64 drops cause %zu more reports, not 4", events[0].size());
    for (unsigned count = 8; count <= 64; count *= 2, events[0].pop_front()) {
      const Flit& event = events[0].front();
      CHECK(event.bits(27, 4) == kTileDropped && event.bits(64, 32) >= count && event.bits(64, 32) < 2 * count,
            "event %u, %u dropped", (unsigned)event.bits(27, 4), (unsigned)event.bits(64, 32));
    }
    // Two in a cycle, and the first of two tiles in one cycle.
    tiles[1 * kTiles + 0].drops = {{{kOfJob, 1}, {kOfJob, 2}}};
    tiles[1 * kTiles + 1].drops[1] = {kOfKind, 3};
    dropped += 3;
    tick();
    wait_for(1, kTileDropped, 0, value(67, 0, kOfJob, 1));
    wait_for(1, kTileDropped, 0, value(67, 1, kOfKind, 3));
    CHECK(counter(1, 31, kCountsTileDropped) == dropped, "not all messages dropped by tiles are counted");
    // A message to a host that is of no job here: it arrives, and is reported.
    Packet out = message(address(kHost, 1), kReply, 2, tags(13));
    wanted_.insert({2, kExits, out});
    send(1 * kPorts, out);
    wait_for(2, kStray, 0, 13);
    until("the message", 100, [&] { return wanted_.empty(); });
    // Too long, from a host: truncated, reported, and the port continues.
    p = message(tile_address(kTile, 1, 0), kRequest, kLongest + 5, tags(4));
    p[0].kind = kHeader;
    Packet cut(p.begin(), p.begin() + kLongest);
    cut.back().last = true;
    wanted_.insert({1, 0, cut});
    send(host(2), p);
    wait_for(2, kStray, 0, 4);
    p = message(tile_address(kTile, 1, 0), kRequest, 2, tags(4));
    p[0].kind = kHeader;
    wanted_.insert({1, 0, p});
    send(host(2), p);
    until("packets after one that was too long", 20'000, [&] { return wanted_.empty(); });
    // A link is cut in both directions: both ends report it, and the others continue. Board 1 reports by the other
    // link.
    if (loss_ == 0) CHECK(events[0].empty(), "an event without a cause");
    forget();
    ask(route(1, 0, {1u << 7 | (kLinkPort + 0)}));
    ask(route(1, ~0u, {1u << 7 | (kLinkPort + 0)}));
    top[0]->cut_i = 1;
    top[1]->cut_i = 2;
    const uint64_t from = now;
    std::set<std::pair<unsigned, unsigned>> down;
    until("both ends of the cut link", 10'000, [&] {
      for (; !events[0].empty(); events[0].pop_front()) {
        const Flit& event = events[0].front();
        CHECK(event.bits(27, 4) == kDown && event.bits(64, 64) == 0, "event %u, not link down",
              (unsigned)event.bits(27, 4));
        down.insert({event.bits(10, 12), event.bits(22, 5)});
      }
      return down.size() == 2;
    });
    std::printf("detected %llu ", (unsigned long long)(now - from));
    CHECK(down == (std::set<std::pair<unsigned, unsigned>>{{0, 0}, {1, 1}}), "the event names another link");
    top[0]->cut_i = top[1]->cut_i = 0;
    until("both ends again", 20'000, [&] { return events[0].size() >= 2; });
    for (; !events[0].empty(); events[0].pop_front())
      CHECK(events[0].front().bits(27, 4) == kUp && events[0].front().bits(64, 64) == 1, "the link is not up again");
    CHECK(counter(0, 0, 12) == 1 && counter(1, 1, 12) == 1, "the link's state is not up");
    counters();
  }

 private:
  static constexpr unsigned kJobNumber = 21;

  void forget() {
    for (auto& list : events) list.clear();
    for (auto& list : answers) list.clear();
  }

  /// Counters at both ends of a link agree if they count the same.
  void counters() {
    wait(3000);
    for (unsigned b = 0; b < kBoards; ++b) {
      const unsigned ahead = (b + 1) % kBoards;
      const uint64_t sent = counter(b, 0, 2), came = counter(ahead, 1, 6);
      CHECK(sent <= came && came <= sent + 2, "board %u sent %llu packets, %llu arrived", b, (unsigned long long)sent,
            (unsigned long long)came);
      const uint64_t frames = counter(ahead, 1, 4), bytes = counter(ahead, 1, 5);
      CHECK(bytes >= 60 * frames && bytes <= 1600 * frames, "%llu bytes in %llu frames", (unsigned long long)bytes,
            (unsigned long long)frames);
      CHECK(counter(b, 0, 0) >= counter(b, 0, 3), "more frames were resent than sent");
      CHECK(counter(b, 0, 11) == 0 && counter(b, 0, 10) == 0, "a session was restarted");
      CHECK((counter(ahead, 1, 7) != 0) == (loss_ != 0), "damaged frames are not counted");
    }
  }

  /// A host that accepts no answers: requests beyond the queue are rejected and counted, all others are answered, and
  /// the control network and the host's other networks continue.
  void slow_host() {
    wait(2000);
    forget();
    block(0, 1u << kReply);
    constexpr unsigned kAsked = 2000;
    for (unsigned n = 0; n < kAsked; ++n)
      send(host(0), {Bits().put(kRead, 4).put(31, 5).put(2, 4).flit(address(kControl, 1))});
    until("all questions", 40'000, [&] { return queued(host(0), kControlNet) == 0; });
    wait(3000);
    // Requests of another host to another board, and packets to this host in other networks.
    send(host(2), {cluster(2, address(kHost, 1))});
    answer(2, 2, kCluster);
    unsigned came = 0;
    on_packet = [&came](unsigned board, unsigned port, const Packet& packet) {
      CHECK(board == 0 && port == kExits && packet[0].vnet == kRequest, "another packet");
      ++came;
    };
    for (unsigned n = 0; n < 50; ++n) {
      Packet p = message(address(kHost, 0), kRequest, 3, tags(0));
      p[0].kind = kHeader;
      p[0].payload[0] = 0;
      send(1 * kPorts, p);
    }
    until("packets to the host in another network", 20'000, [&] { return came == 50; });
    CHECK(answers[0].empty(), "answers arrive at a host that accepts none");
    block(0, 0);
    wait(20'000);
    unsigned done = 0, without_space = 0;
    for (const Flit& flit : answers[0]) {
      CHECK(flit.bits(22, 4) == kRead, "another answer");
      if (flit.bits(35, 4) == 0) ++done;
      else without_space += flit.bits(35, 4) == kOfRoom;
    }
    CHECK(done + without_space == answers[0].size() && done >= 16 && done < kAsked,
          "%u answers, %u without space", done, without_space);
    unsigned reports = 0;
    for (const Flit& flit : events[0])
      reports += flit.bits(27, 4) == kRejected && flit.bits(10, 12) == 1 && flit.bits(96, 4) == kOfRoom;
    CHECK(reports >= 1, "rejections for lack of space are not reported");
    forget();
    const uint64_t now_rejected = counter(1, 31, 2);
    std::printf("answered %u rejected %llu ", done, (unsigned long long)now_rejected);
    CHECK(now_rejected >= kAsked - done, "%u of %u were answered, but only %llu rejected", done, kAsked,
          (unsigned long long)now_rejected);
  }

  void one_broadcast(const std::array<uint64_t, kBoards>& members) {
    const bool code = pick(2), long_one = pick(4) == 0;
    const unsigned flits = long_one ? 17 : 1 + pick(17), tag = pick(256);
    Packet packet = message(address(kControl, 0), kRequest, flits, tags(kJobNumber));
    packet[0].kind = kHeader;
    const unsigned op = code ? 3 : pick(3);
    packet[0].payload = {op | 15u << 4 | tag << 8, uint32_t(random()), 16 * (flits - 1), address(kHost, 0)};
    std::multiset<std::pair<unsigned, unsigned>> expected, replied;
    for (unsigned b = 0; b < kBoards; ++b) {
      for (unsigned t = 0; t < kTiles; ++t) {
        if (!(members[b] >> t & 1)) continue;
        expected.insert({b, t});
        // All tiles of this configuration share the memory.
        if (!code) break;
      }
    }
    auto left = expected;
    size_t replies = 0;
    on_packet = [&](unsigned board, unsigned port, const Packet& copy) {
      if (port == kExits) {
        CHECK(board == 0 && copy.size() == 1 && copy[0].payload[0] == packet[0].payload[0], "another reply");
        ++replies;
        return;
      }
      const unsigned tile = (copy[0].dest >> 10 & 15) * kWidth + (copy[0].dest >> 6 & 15);
      CHECK(copy[0].dest == tile_address(kTile, board, tile) && exit_of(tile) == port, "a copy to %08x", copy[0].dest);
      const auto found = left.find({board, tile});
      CHECK(found != left.end(), "an unexpected or second copy to tile %u of board %u", tile, board);
      left.erase(found);
      CHECK(copy.size() == packet.size(), "a copy of %zu flits of %zu", copy.size(), packet.size());
      for (size_t i = 0; i < copy.size(); ++i) {
        Flit same = packet[i];
        same.dest = copy[i].dest;
        CHECK(same == copy[i], "flit %zu of a copy differs", i);
      }
      Packet reply{copy[0]};
      reply[0].vnet = kReply;
      reply[0].last = true;
      reply[0].dest = copy[0].payload[3];
      send(board * kPorts + port, reply);
    };
    for (double& rate : drain) rate = pick(4) == 0 ? 0.2 : 1.0;
    // From either host: the first board relays it.
    send(host(pick(2) * 2), packet);
    until("a broadcast", 60'000, [&] { return left.empty() && replies == expected.size(); });
    drain.fill(1.0);
  }

  std::multiset<std::tuple<unsigned, unsigned, Packet>> wanted_;

  void check_packet(unsigned board, unsigned port, const Packet& packet) {
    const auto found = wanted_.find({board, port, packet});
    CHECK(found != wanted_.end(), "cycle %llu: board %u port %u: a packet to %08x of %zu flits that nobody sent there, "
          "or twice, or changed", (unsigned long long)now, board, port, packet[0].dest, packet.size());
    wanted_.erase(found);
  }

  void make() {
    const unsigned board = pick(kBoards), to = pick(kBoards), tile = pick(kTiles);
    // From exits any packet; from hosts requests and replies of loaders, since their port drops other headers.
    const unsigned port = board * kPorts + pick(kPorts);
    const bool from_host = port == host(board);
    unsigned to_port = exit_of(tile), at = to;
    Packet packet;
    switch (from_host ? 2 + pick(2) : pick(4)) {
      case 0:
        packet = message(tile_address(kThread, to, tile, pick(64)), kMailbox, 1 + pick(4), tags(pick(32), pick(4)));
        break;
      case 1:
        packet = message(tile_address(kAccelerator, to, tile), kRequest, 1 + pick(8), tags(pick(32), pick(4)));
        break;
      case 2:
        packet = message(tile_address(kTile, to, tile), kRequest, 1 + pick(kLongest), tags(pick(32)));
        packet[0].kind = kHeader;
        break;
      default:
        at = pick(2) ? 0 : 2;
        to_port = kExits;
        packet = message(address(kHost, at / 2), kReply, 1 + pick(16), tags(pick(32), pick(4)));
    }
    if (from_host) packet[0].kind = kHeader;
    if (packet[0].kind == kHeader) packet[0].payload[0] &= ~15u;
    wanted_.insert({at, to_port, packet});
    send(port, packet);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::string what = argv[1];
  const uint64_t seed = std::strtoull(argv[2], nullptr, 10), count = std::strtoull(argv[3], nullptr, 10);
  const auto loss = static_cast<unsigned>(std::strtoul(argv[4], nullptr, 10));
  if (what == "idle") {
    idle_test(seed, count, loss);
    return 0;
  }
  Test test(seed, loss);
  test.configure();
  const uint64_t configured = test.now;
  if (what == "packets") test.packets(count);
  else if (what == "debug") test.debug_buses(count);
  else if (what == "broadcast") test.broadcast(count);
  else if (what == "rejections") test.rejections();
  else if (what == "keys") test.keys();
  else if (what == "events") test.events_of_boards();
  else return 2;
  std::printf("configured %llu over %llu\n", (unsigned long long)configured, (unsigned long long)test.now);
}
