// SPDX-License-Identifier: Apache-2.0
#include "machine/machine.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

namespace gossamer::machine {

using config::ControlOp;
using sim::ControlFlit;
using sim::Kind;

namespace {

/// Flits for which a switch input keeps its grant of an output. With streams it is the longest packet, so that inputs
/// with short packets get as many flits as those with long ones.
constexpr unsigned kBurst = 8, kStreamBurst = config::fabric_max_flits;

std::string hex(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

template <typename Enum>
std::string name(Enum value) {
  const char* known = config::name_of(value);
  return known ? known : std::to_string(static_cast<unsigned>(value));
}

}  // namespace

Machine::Machine(Transport& transport, Plan plan, Listener& listener)
    : transport_(transport), plan_(std::move(plan)), listener_(listener) {}

// ---- Records ----

void Machine::dispatch(const Record& record, const std::function<bool(Received&)>& packet) {
  if (record.kind == Kind::Failed) throw Error(Error::Kind::Died, std::string(record.text()));
  if (record.kind != Kind::Packet) return listener_.on_record(record);
  Received received = decode(record.data, record.bytes, record.cycle);
  if (packet && packet(received)) return;
  if (const auto* message = std::get_if<Message>(&received)) return listener_.on_message(*message);
  if (const auto* event = std::get_if<Event>(&received)) return listener_.on_event(*event);
  if (const auto* fault = std::get_if<Fault>(&received)) return listener_.on_fault(*fault);
  // A reply or an answer of an earlier, interrupted request has no receiver.
}

Kind Machine::next() {
  const Record record = transport_.receive();
  cycle_ = std::max(cycle_, record.cycle);
  dispatch(record, {});
  return record.kind;
}

void Machine::until(Kind kind, const std::function<bool(Received&)>& packet,
                    const std::function<bool(const Record&)>& report) {
  for (;;) {
    const Record record = transport_.receive();
    cycle_ = std::max(cycle_, record.cycle);
    if (record.kind == kind && kind == Kind::Done) return;
    if (record.kind != Kind::Reply || !report || !report(record)) dispatch(record, packet);
    if (record.kind == kind) return;
  }
}

// ---- Packets ----

std::vector<Reply> Machine::exchange(const Flits& flits, uint32_t replies) {
  std::vector<Reply> found;
  transport_.request('N', {{&replies, sizeof replies}, {flits.data(), flits.size() * sizeof(Flit)}});
  until(Kind::Done, [&](Received& received) {
    auto* reply = std::get_if<Reply>(&received);
    if (reply) found.push_back(std::move(*reply));
    return reply != nullptr;
  });
  return found;
}

std::vector<Reply> Machine::accepted(const Flits& flits, uint32_t replies) {
  auto found = exchange(flits, replies);
  for (const Reply& reply : found) {
    if (!reply.head.status) continue;
    throw Error(Error::Kind::Input, "there is no memory at " + hex(reply.head.address) + ", or not all of it (" +
                                        name(static_cast<config::Rejection>(reply.head.status)) + ")");
  }
  return found;
}

std::vector<Answer> Machine::control(const Flits& packets, bool answered) {
  // Packets are sent in batches whose answers each board can queue; those to one board stay in order.
  std::vector<Flits> batches;
  std::map<uint32_t, unsigned> sent;
  for (const Flit& packet : packets) {
    const unsigned batch = sent[packet.dest()]++ / kAnswers;
    if (batch == batches.size()) batches.emplace_back();
    batches[batch].push_back(packet);
  }
  std::vector<Answer> found;
  for (const Flits& batch : batches) {
    const auto answers = static_cast<uint32_t>(answered ? batch.size() : 0);
    transport_.request('N', {{&answers, sizeof answers}, {batch.data(), batch.size() * sizeof(Flit)}});
    until(Kind::Done, [&](Received& received) {
      auto* answer = std::get_if<Answer>(&received);
      if (answer) found.push_back(*answer);
      return answer != nullptr;
    });
  }
  for (const Answer& answer : found) {
    if (answer.rejection == config::Rejection{}) continue;
    throw Error(Error::Kind::Died, "board " + plan_.name_of(answer.board) + ": its control unit rejected a packet (" +
                                       name(answer.asked) + ", " + name(answer.rejection) + ")");
  }
  return found;
}

void Machine::send(const Flits& flits) { transport_.request('M', {{flits.data(), flits.size() * sizeof(Flit)}}); }

// ---- Configuration ----

Flit Machine::cluster(uint32_t board, bool flush) const {
  config::ControlCluster cluster;
  cluster.op_code = ControlOp::Cluster;
  const bool streams =
      std::any_of(plan_.streams.begin(), plan_.streams.end(), [](const Plan::Streams& its) { return its.count != 0; });
  cluster.burst = streams ? kStreamBurst : kBurst;
  cluster.boards = static_cast<uint16_t>(plan_.boards());
  cluster.hosts = static_cast<uint16_t>(plan_.hosts.size());
  cluster.host = host_address(0);
  cluster.flush = flush;
  return ControlFlit::to(board, cluster);
}

void Machine::wait_for_link(const Plan::Up& link) {
  for (uint64_t begun = 0;;) {
    const auto state = static_cast<unsigned>(config::LinkCounter::State);
    const Answer answer = control({read_counter(link.board, link.link, state)}).at(0);
    if (answer.value & 1) return;
    if (!begun) begun = answer.cycle;
    if (answer.cycle - begun > plan_.up_cycles) {
      throw Error(Error::Kind::Input, "cluster " + plan_.cluster + ": link " + link.cable + " did not come up");
    }
  }
}

Flits Machine::tables(const Plan::Routes& routes) const {
  Flits packets;
  add_table(packets, routes.board, 0, routes.boards);
  // Entries of hosts are at the end of the table, the first host's entry last.
  const std::vector<uint8_t> hosts(routes.hosts.rbegin(), routes.hosts.rend());
  add_table(packets, routes.board, host_entry(static_cast<uint32_t>(hosts.size()) - 1), hosts);
  return packets;
}

void Machine::configure() {
  if (plan_.alone || plan_.is_guest()) return;
  for (const Plan::Routes& routes : plan_.routes) {
    for (const Plan::Up& link : routes.up) wait_for_link(link);
    // A board answers no packet until it has a route to the host and knows the host's address.
    Flits first;
    add_table(first, routes.board, host_entry(0), {routes.hosts.at(0)});
    control(first, false);
    Flits packets{cluster(routes.board, false)};
    add_table(packets, routes.board, 0, routes.boards);
    for (uint32_t host = 1; host < routes.hosts.size(); ++host) {
      add_table(packets, routes.board, host_entry(host), {routes.hosts[host]});
    }
    control(packets);
  }
  const auto jobs = static_cast<unsigned>(plan_.jobs.size());
  const uint64_t all = plan_.tiles < 64 ? (uint64_t{1} << plan_.tiles) - 1 : ~uint64_t{0};
  for (const Plan::Node& node : plan_.relays) {
    Flits packets;
    for (unsigned job = 0; job < jobs; ++job) {
      config::ControlJob slot;
      slot.op_code = ControlOp::Job;
      const bool has_tiles = plan_.job_of(node.board) == job;
      if (has_tiles) slot.tiles = all;
      if (has_tiles || plan_.jobs[job].empty()) {
        slot.first_stream = static_cast<uint8_t>(plan_.streams[job].first);
        slot.streams = static_cast<uint16_t>(plan_.streams[job].count);
      }
      slot.host = host_address(0);
      slot.place = slot.job = static_cast<uint8_t>(job);
      packets.push_back(ControlFlit::to(node.board, slot));
    }
    config::ControlRelay relay;
    relay.op_code = ControlOp::Relay;
    relay.children = children(node.children);
    packets.push_back(ControlFlit::to(node.board, relay));
    control(packets);
  }
  for (const Plan::Node& node : plan_.idle) {
    Flits packets;
    for (unsigned job = 0; job < jobs; ++job) {
      config::IdleTree tree;
      tree.op_code = ControlOp::IdleTree;
      tree.children = children(node.children);
      tree.root = node.parent == node.board;
      tree.parent = static_cast<uint16_t>(tree.root ? 0 : node.parent);
      tree.enable = 1;
      packets.push_back(ControlFlit::to(node.board, tree, job));
    }
    control(packets);
  }
}

void Machine::update(const Plan& plan) {
  if (plan.boards() != plan_.boards()) throw Error(Error::Kind::Input, "the tables are of another cluster");
  if (!plan.drain.empty()) {
    for (const uint64_t begun = cycle_; !drained();) {
      if (cycle_ - begun <= plan_.drain_cycles) continue;
      throw Error(Error::Kind::Input,
                  "packets are always in flight, and these tables must not be mixed with those in use (" + plan.drain +
                      "); load them when all threads wait or have ended");
    }
  }
  // A board receives its table after the previous board has answered, so that requests to it and its answers pass only
  // boards that have theirs.
  for (const Plan::Routes& routes : plan.routes) control(tables(routes));
  plan_.routes = plan.routes;
  plan_.hops = plan.hops;
}

bool Machine::drained() {
  // Each board is polled twice, one request at a time, so that no request or answer of the poll is in flight. No packet
  // is in flight if no board reports one and none has entered a switch between the rounds.
  std::vector<uint64_t> before;
  for (unsigned round = 0; round < 2; ++round) {
    uint64_t in_flight = 0;
    std::vector<uint64_t> entered;
    for (uint32_t board = 0; board < plan_.boards(); ++board) {
      const auto read = [&](config::BoardCounter which) {
        return counters({read_counter(board, kBoardUnit, static_cast<unsigned>(which))}).at(0);
      };
      in_flight |= read(config::BoardCounter::InFlight);
      entered.push_back(read(config::BoardCounter::Entered));
    }
    if (in_flight || (round && entered != before)) return false;
    before = entered;
  }
  return true;
}

void Machine::flush_record_cache(uint32_t board) { control({cluster(board, true)}); }

void Machine::flush_record_caches() {
  Flits packets;
  for (uint32_t board = 0; board < plan_.boards(); ++board) packets.push_back(cluster(board, true));
  control(packets);
}

std::vector<uint64_t> Machine::counters(const Flits& packets) {
  // Answers of a board are in the order of its packets; boards answer independently.
  std::map<uint32_t, std::vector<size_t>> asked;
  for (size_t i = 0; i < packets.size(); ++i) asked[ControlFlit::board(packets[i])].push_back(i);
  std::map<uint32_t, size_t> answered;
  std::vector<uint64_t> values(packets.size());
  for (const Answer& answer : control(packets))
    values[asked.at(answer.board).at(answered[answer.board]++)] = answer.value;
  return values;
}

namespace {

Flit access(uint32_t board, unsigned job, uint32_t address, bool write, uint64_t value) {
  config::ControlRegister access;
  access.op_code = ControlOp::Register;
  access.write = write;
  access.address = static_cast<uint16_t>(address);
  access.value = value;
  return ControlFlit::to(board, access, job);
}

uint32_t packed(const config::RegisterAddress& address) {
  return static_cast<uint32_t>(address.pack().get(0, config::RegisterAddress::kBits));
}

}  // namespace

uint64_t Machine::read_register(uint32_t board, unsigned job, config::RegisterAddress address) {
  return control({access(board, job, packed(address), false, 0)}).at(0).value;
}

void Machine::write_register(uint32_t board, unsigned job, config::RegisterAddress address, uint64_t value) {
  control({access(board, job, packed(address), true, value)});
}

void Machine::write_registers(const std::vector<RegisterWrite>& writes) {
  Flits packets;
  for (const RegisterWrite& one : writes) {
    packets.push_back(access(one.board, one.job, one.address, true, one.value));
  }
  control(packets);
}

// ---- Runs ----

void Machine::open(const std::string& facts) {
  try {
    transport_.request('O', {{facts.data(), facts.size()}});
    until(Kind::Done);
  } catch (const Error& error) {
    if (error.kind == Error::Kind::Died) throw Error(Error::Kind::Input, error.what());
    throw;
  }
}

void Machine::input(uint32_t thread, const uint8_t* bytes, size_t count) {
  transport_.request('I', {{&thread, sizeof thread}, {bytes, count}});
}

void Machine::run(const std::vector<uint32_t>& threads, uint64_t most, uint64_t watchdog) {
  struct {
    uint32_t threads = 0, spare = 0;
    uint64_t most = 0, watchdog = 0;
  } head;
  for (const uint32_t of_board : threads) head.threads += of_board;
  head.most = most;
  head.watchdog = watchdog;
  transport_.request('R', {{&head, sizeof head}, {threads.data(), threads.size() * sizeof(uint32_t)}});
}

void Machine::pause(uint64_t cycle) { transport_.request('P', {{&cycle, sizeof cycle}}); }
void Machine::continue_run() { transport_.request('C', {}); }
void Machine::stop() { transport_.request('X', {}); }
void Machine::symbols(const uint8_t* bytes, size_t count) { transport_.request('Y', {{bytes, count}}); }

void Machine::watch() {
  transport_.request('T', {});
  until(Kind::Done);
}

// ---- Sessions ----

void Machine::begin_session() {
  transport_.request('V', {});
  until(Kind::Done);
}

void Machine::feed(uint32_t thread, uint8_t byte) { transport_.request('U', {{&thread, sizeof thread}, {&byte, 1}}); }

void Machine::start(uint32_t tile, uint64_t mask, uint32_t threads) {
  const struct {
    uint32_t tile, threads;
    uint64_t mask;
  } head{tile, threads, mask};
  transport_.request('B', {{&head, sizeof head}});
}

void Machine::wait(const sim::Wait& wait) {
  transport_.request('W', {{&wait, sizeof wait}});
  until(Kind::Woken);
}

void Machine::end_session() {
  transport_.request('E', {});
  until(Kind::Woken);
}

}  // namespace gossamer::machine
