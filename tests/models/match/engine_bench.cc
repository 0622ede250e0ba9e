// SPDX-License-Identifier: Apache-2.0
#include "models/match/engine_bench.h"

namespace match_test {

namespace {

void put(uint32_t* words, unsigned at, unsigned bits, uint64_t value) {
  for (unsigned b = 0; b < bits; ++b) {
    const unsigned to = at + b;
    words[to / 32] = (words[to / 32] & ~(1u << to % 32)) | static_cast<uint32_t>(value >> b & 1) << to % 32;
  }
}

uint64_t get(const uint32_t* words, unsigned at, unsigned bits) {
  uint64_t value = 0;
  for (unsigned b = 0; b < bits; ++b) {
    const unsigned from = at + b;
    value |= static_cast<uint64_t>(words[from / 32] >> from % 32 & 1) << b;
  }
  return value;
}

}  // namespace

Bench::Bench(uint64_t seed) : random(seed), top(std::make_unique<Vgs_match>()) {
  if (kArchitecture == 0) {
    fits = kEntries - kReserve;
    fits_together = kEntries;
  } else {
    fits = kEntries;
  }
  top->clk_i = 0;
  top->rst_ni = 0;
  top->cmd_valid_i = 0;
  top->done_ready_i = 0;
  for (int i = 0; i < 4; ++i) top->seed_i[i] = static_cast<uint32_t>(random());
  for (int i = 0; i < 6; ++i) {
    top->clk_i = !top->clk_i;
    top->eval();
  }
  top->rst_ni = 1;
}

Bench::~Bench() { top->final(); }

void Bench::send_strangers(unsigned count, uint16_t rank, uint32_t handle, Op first) {
  const Op second = first == Op::kPost ? Op::kArrive : Op::kPost;
  for (unsigned n = 0; n < count; ++n) {
    Command c;
    c.op = n % 2 ? second : first;
    c.rank = rank;
    c.tag = n;
    c.handle = handle + n;
    send(c);
  }
}

void Bench::send_cancel(uint32_t handle) {
  Command command;
  command.op = Op::kCancel;
  command.handle = handle;
  const auto known = entries.find(handle);
  if (known != entries.end()) {
    command.tag = known->second;
  } else {
    // A canceller knows the post's completion; without one, uses a handle that no post has.
    command.handle |= 1u << 31;
    command.tag = below(2 * kEntries);
  }
  send(command);
}

void Bench::tick() {
  // An offered request stays stable until it is accepted.
  if (!offering_) offering_ = !to_send_.empty() && (send_rate >= 1.0 || chance(send_rate));
  top->cmd_valid_i = offering_;
  if (offering_) {
    const Command& c = to_send_.front();
    uint32_t* words = &top->cmd_i[0];
    for (int i = 0; i < 4; ++i) words[i] = 0;
    put(words, 0, 32, c.handle);
    put(words, 32, 32, c.tag);
    put(words, 64, 16, c.source);
    put(words, 80, 16, c.communicator);
    put(words, 96, 8, c.length);
    put(words, 104, 10, c.rank);
    put(words, 114, 1, c.rendezvous);
    put(words, 115, 1, c.any_tag);
    put(words, 116, 1, c.any_source);
    put(words, 117, 3, static_cast<unsigned>(c.op));
    put(words, 120, 1, c.now);
  }
  top->done_ready_i = take_rate >= 1.0 || chance(take_rate);
  top->clk_i = 0;
  top->eval();
  const bool taken = offering_ && top->cmd_ready_o;
  if (top->done_valid_o && top->done_ready_i) {
    CHECK(!sent_.empty(), "cycle %llu: a completion without a request", (unsigned long long)now);
    const Command command = sent_.front();
    sent_.pop_front();
    check(command);
    given_at = now;
  }
  if (taken) {
    sent_.push_back(to_send_.front());
    to_send_.pop_front();
    offering_ = false;
    taken_at = now;
  }
  top->clk_i = 1;
  top->eval();
  ++now;
}

void Bench::finish() {
  const uint64_t from = now;
  while (in_flight()) {
    CHECK(now < from + kPatience, "%zu requests are not answered", in_flight());
    tick();
  }
}

void Bench::check(const Command& command) {
  const uint32_t* words = &top->done_o[0];
  Completion done;
  done.partner = static_cast<uint32_t>(get(words, 0, 32));
  done.handle = static_cast<uint32_t>(get(words, 32, 32));
  done.tag = static_cast<uint32_t>(get(words, 64, 32));
  done.source = static_cast<uint16_t>(get(words, 96, 16));
  done.length = static_cast<uint8_t>(get(words, 112, 8));
  done.rendezvous = get(words, 120, 1) != 0;
  done.status = static_cast<Status>(get(words, 121, 3));
  done.op = static_cast<Op>(get(words, 124, 3));
  CHECK(get(words, 127, 1) == 0, "the spare bit of a completion is not 0");

  const size_t own = (command.op == Op::kPost ? reference.posts() : reference.messages()).size();
  const size_t all = reference.posts().size() + reference.messages().size();
  const bool reject = done.status == Status::kFull;
  if (reject) {
    CHECK(command.now || own >= fits || all >= fits_together, "rejected as full with %zu entries, %zu in both queues",
          own, all);
    ++rejected;
  }
  const Completion must = reference.apply(command, reject);
  // A queue that uses the space reserved for the other one would starve it later.
  CHECK(kArchitecture != 0 || must.status != Status::kWaiting || (own < fits && all < fits_together),
        "accepted with %zu entries, %zu in both queues: uses reserved space", own, all);
  if (must.status == Status::kWaiting && command.op == Op::kPost) {
    entries[command.handle] = done.partner;
    done.partner = 0;
  }
  if (command.op == Op::kPost && must.status != Status::kWaiting) entries.erase(command.handle);
  CHECK(done == must,
        "request %llu (op %d rank %u comm %u source %u tag %u any %d%d handle %u), %zu receives and %zu messages:\n"
        "  answered op %d status %d source %u tag %u handle %u partner %u length %u rendezvous %d\n"
        "  must be  op %d status %d source %u tag %u handle %u partner %u length %u rendezvous %d",
        (unsigned long long)answered, (int)command.op, command.rank, command.communicator, command.source, command.tag,
        command.any_source, command.any_tag, command.handle, reference.posts().size(), reference.messages().size(),
        (int)done.op, (int)done.status, done.source, done.tag, done.handle, done.partner, done.length, done.rendezvous,
        (int)must.op, (int)must.status, must.source, must.tag, must.handle, must.partner, must.length, must.rendezvous);
  last = done;
  ++answered;
  ++answers[static_cast<int>(done.op)][static_cast<int>(done.status)];
  if (done.status == Status::kMatched && (command.op <= Op::kArrive || command.op == Op::kTake)) ++matched;
}

}  // namespace match_test
