// SPDX-License-Identifier: Apache-2.0
#include "machine/api.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <sstream>

#include "machine/machine.h"

namespace {

using gossamer::machine::Error;
using gossamer::machine::Event;
using gossamer::machine::Fault;
using gossamer::machine::Flit;
using gossamer::machine::Flits;
using gossamer::machine::Machine;
using gossamer::machine::Message;
using gossamer::machine::Record;
namespace sim = gossamer::sim;
namespace config = gossamer::config;

thread_local std::string reason;

int failure(Error::Kind kind) {
  switch (kind) {
    case Error::Kind::Input: return gs_machine_input;
    case Error::Kind::Disconnected: return gs_machine_disconnected;
    case Error::Kind::Interrupted: return gs_machine_interrupted;
    default: return gs_machine_died;
  }
}

template <typename What>
int attempt(What what) {
  try {
    return static_cast<int>(what());
  } catch (const Error& error) {
    reason = error.what();
    return failure(error.kind);
  } catch (const std::exception& error) {
    reason = error.what();
    return gs_machine_died;
  }
}

class Hooks : public gossamer::machine::Waiting {
 public:
  explicit Hooks(const gs_machine_hooks& hooks) : hooks_(hooks) {}
  void begin() override { state_ = hooks_.release(); }
  void end() override { hooks_.acquire(state_); }
  bool interrupted() override { return hooks_.interrupted() != 0; }

 private:
  const gs_machine_hooks hooks_;
  void* state_ = nullptr;
};

config::RegisterAddress place(uint32_t block, uint32_t unit, uint32_t number) {
  config::RegisterAddress address;
  address.block = static_cast<config::RegisterBlock>(block);
  address.unit = static_cast<uint8_t>(unit);
  address.number = static_cast<uint8_t>(number);
  return address;
}

/// A record with its data.
struct Kept {
  gs_machine_record record{};
  std::vector<uint8_t> data;

  Kept(uint32_t kind, uint64_t cycle, uint32_t thread, std::vector<uint8_t> bytes) : data(std::move(bytes)) {
    record.kind = kind;
    record.cycle = cycle;
    record.thread = thread;
    record.bytes = static_cast<uint32_t>(data.size());
  }
};

}  // namespace

struct gs_machine : gossamer::machine::Listener {
  gs_machine(int to, int from, gossamer::machine::Plan plan, const gs_machine_hooks& hooks)
      : hooks(hooks), pipe(to, from, this->hooks), machine(pipe, std::move(plan), *this) {}

  void on_record(const Record& record) override {
    Kept& kept = received.emplace_back(static_cast<uint32_t>(record.kind), record.cycle, record.thread,
                                       std::vector<uint8_t>(record.data, record.data + record.bytes));
    kept.record.flags = record.flags;
  }
  void on_message(const Message& message) override {
    Kept& kept = received.emplace_back(gs_machine_message, message.cycle, message.host, message.data);
    kept.record.what = message.job;
    kept.record.unit = message.epoch;
  }
  void on_event(const Event& event) override {
    Kept& kept = received.emplace_back(gs_machine_event, event.cycle, event.board, std::vector<uint8_t>{});
    kept.record.what = static_cast<uint32_t>(event.what);
    kept.record.unit = event.unit;
    kept.record.value = event.value;
  }
  void on_fault(const Fault& fault) override {
    Kept& kept = received.emplace_back(gs_machine_fault, fault.cycle, fault.accelerator, std::vector<uint8_t>{});
    kept.record.what = fault.cause;
    kept.record.value = fault.address;
  }

  /// Makes results of records, which stay valid until the next call.
  int results_of(std::vector<Kept> all) {
    results = std::move(all);
    records.clear();
    for (Kept& kept : results) {
      kept.record.data = kept.data.data();
      records.push_back(kept.record);
    }
    return static_cast<int>(records.size());
  }

  Hooks hooks;
  gossamer::machine::Pipe pipe;
  Machine machine;
  std::deque<Kept> received;
  std::vector<Kept> results;
  std::vector<gs_machine_record> records;
  std::vector<uint8_t> requests;
};

extern "C" {

const char* gs_machine_error(void) { return reason.c_str(); }

gs_machine* gs_machine_new(int to, int from, const char* plan, const gs_machine_hooks* hooks) {
  gs_machine* made = nullptr;
  attempt([&] {
    std::istringstream text(plan);
    made = new gs_machine(to, from, gossamer::machine::Plan::read(text, "plan"), *hooks);
    return 0;
  });
  return made;
}

void gs_machine_free(gs_machine* machine) { delete machine; }

int gs_machine_open(gs_machine* machine, const char* facts) {
  return attempt([&] { return machine->machine.open(facts), 0; });
}

int gs_machine_configure(gs_machine* machine) {
  return attempt([&] {
    machine->machine.configure();
    machine->machine.check_identity();
    return 0;
  });
}

int gs_machine_send_queued(gs_machine* machine) {
  return attempt([&] { return machine->pipe.flush(), 0; });
}

void gs_machine_keep_requests(gs_machine* machine) { machine->pipe.copy_to(&machine->requests); }

const uint8_t* gs_machine_requests(gs_machine* machine, size_t* bytes) {
  *bytes = machine->requests.size();
  return machine->requests.data();
}

int gs_machine_exchange(gs_machine* machine, const uint8_t* flits, size_t bytes, uint32_t replies) {
  return attempt([&] {
    Flits packets(bytes / sizeof(Flit));
    if (!packets.empty()) std::memcpy(packets.data(), flits, packets.size() * sizeof(Flit));
    std::vector<Kept> found;
    for (auto& reply : machine->machine.exchange(packets, replies)) {
      Kept& kept = found.emplace_back(gs_machine_reply, reply.cycle, reply.head.length, std::move(reply.data));
      kept.record.what = static_cast<uint32_t>(reply.head.op);
      kept.record.unit = reply.head.tag;
      kept.record.flags = static_cast<uint32_t>(reply.head.status);
      kept.record.value = reply.head.address;
    }
    return machine->results_of(std::move(found));
  });
}

int gs_machine_ask(gs_machine* machine, uint32_t tile, const uint8_t* commands, size_t bytes, uint32_t replies) {
  return attempt([&] {
    std::vector<Kept> found;
    for (auto& report : machine->machine.ask(tile, {commands, commands + bytes}, replies)) {
      found.emplace_back(static_cast<uint32_t>(sim::Kind::Reply), 0, report.tile, std::move(report.bytes));
    }
    return machine->results_of(std::move(found));
  });
}

const gs_machine_record* gs_machine_results(gs_machine* machine) { return machine->records.data(); }

int gs_machine_counters(gs_machine* machine, const uint32_t* keys, size_t count, uint64_t* values) {
  return attempt([&] {
    Flits packets;
    for (size_t i = 0; i < count; ++i) {
      packets.push_back(gossamer::machine::read_counter(keys[3 * i], keys[3 * i + 1], keys[3 * i + 2]));
    }
    std::ranges::copy(machine->machine.counters(packets), values);
    return 0;
  });
}

int gs_machine_read_register(gs_machine* machine, uint32_t board, uint32_t job, uint32_t block, uint32_t unit,
                             uint32_t number, uint64_t* value) {
  return attempt([&] { return *value = machine->machine.read_register(board, job, place(block, unit, number)), 0; });
}

int gs_machine_write_register(gs_machine* machine, uint32_t board, uint32_t job, uint32_t block, uint32_t unit,
                              uint32_t number, uint64_t value) {
  return attempt([&] { return machine->machine.write_register(board, job, place(block, unit, number), value), 0; });
}

int gs_machine_write_registers(gs_machine* machine, const uint64_t* writes, size_t count) {
  return attempt([&] {
    std::vector<gossamer::machine::RegisterWrite> all(count);
    for (size_t i = 0; i < count; ++i, writes += 4) {
      all[i] = {static_cast<uint32_t>(writes[0]), static_cast<unsigned>(writes[1]), static_cast<uint32_t>(writes[2]),
                writes[3]};
    }
    machine->machine.write_registers(all);
    return 0;
  });
}

int gs_machine_tile_counters(gs_machine* machine, uint64_t* values) {
  return attempt([&] {
    for (const auto& tile : machine->machine.tile_counters()) values = std::ranges::copy(tile, values).out;
    return 0;
  });
}

int gs_machine_drained(gs_machine* machine) {
  return attempt([&] { return machine->machine.drained(); });
}

int gs_machine_update(gs_machine* machine, const char* plan) {
  return attempt([&] {
    std::istringstream text(plan);
    machine->machine.update(gossamer::machine::Plan::read(text, "plan"));
    return 0;
  });
}

int gs_machine_flush_records(gs_machine* machine) {
  return attempt([&] {
    machine->machine.flush_record_caches();
    return 0;
  });
}

int gs_machine_write(gs_machine* machine, uint32_t tile, uint32_t address, const uint8_t* data, size_t bytes) {
  return attempt([&] { return machine->machine.write(tile, address, data, bytes), 0; });
}

int gs_machine_write_all(gs_machine* machine, uint32_t job, uint32_t address, const uint8_t* data, size_t bytes) {
  return attempt([&] { return machine->machine.write_all(job, address, data, bytes), 0; });
}

int gs_machine_fill_all(gs_machine* machine, uint32_t job, uint32_t address, uint64_t bytes) {
  return attempt([&] { return machine->machine.fill_all(job, address, bytes), 0; });
}

int gs_machine_read(gs_machine* machine, uint32_t tile, uint32_t address, uint8_t* data, size_t bytes) {
  return attempt([&] { return std::ranges::copy(machine->machine.read(tile, address, bytes), data), 0; });
}

int gs_machine_write_code(gs_machine* machine, uint32_t job, const uint8_t* code, size_t bytes) {
  return attempt([&] { return machine->machine.write_code(job, code, bytes), 0; });
}

int gs_machine_flush(gs_machine* machine, uint32_t* threads, size_t most) {
  return attempt([&] {
    const auto running = machine->machine.flush();
    std::copy_n(running.begin(), std::min(most, running.size()), threads);
    return running.size();
  });
}

int gs_machine_halt(gs_machine* machine) {
  return attempt([&] { return machine->machine.halt(), 0; });
}

int gs_machine_resume(gs_machine* machine) {
  return attempt([&] { return machine->machine.resume_threads(), 0; });
}

int gs_machine_registers(gs_machine* machine, uint32_t thread, uint32_t* values) {
  return attempt([&] { return std::ranges::copy(machine->machine.registers(thread), values), 0; });
}

int gs_machine_add_input(gs_machine* machine, uint32_t thread, const uint8_t* bytes, size_t count) {
  return attempt([&] { return machine->machine.input(thread, bytes, count), 0; });
}

int gs_machine_symbols(gs_machine* machine, const uint8_t* bytes, size_t count) {
  return attempt([&] { return machine->machine.symbols(bytes, count), 0; });
}

int gs_machine_run(gs_machine* machine, const uint32_t* threads, size_t boards, uint64_t most, uint64_t watchdog) {
  return attempt([&] {
    machine->received.clear();
    machine->machine.run({threads, threads + boards}, most, watchdog);
    return 0;
  });
}

int gs_machine_pause(gs_machine* machine, uint64_t cycle) {
  return attempt([&] { return machine->machine.pause(cycle), 0; });
}

int gs_machine_continue(gs_machine* machine) {
  return attempt([&] { return machine->machine.continue_run(), 0; });
}

int gs_machine_stop(gs_machine* machine) {
  return attempt([&] {
    machine->machine.stop();
    machine->pipe.flush();
    return 0;
  });
}

int gs_machine_watch(gs_machine* machine) {
  return attempt([&] {
    machine->received.clear();
    machine->machine.watch();
    machine->received.emplace_back(static_cast<uint32_t>(sim::Kind::Done), 0, 0, std::vector<uint8_t>{});
    return 0;
  });
}

int gs_machine_next(gs_machine* machine, gs_machine_record* record) {
  return attempt([&] {
    while (machine->received.empty()) machine->machine.next();
    machine->results.assign(1, std::move(machine->received.front()));
    machine->received.pop_front();
    *record = machine->results[0].record;
    record->data = machine->results[0].data.data();
    return 0;
  });
}

int gs_machine_decode(const uint8_t* flits, size_t bytes, gs_machine_record* record) {
  return attempt([&] {
    const auto received = gossamer::machine::decode(flits, bytes, 0);
    *record = {};
    record->kind = gs_machine_reply;
    if (const auto* message = std::get_if<Message>(&received)) {
      record->kind = gs_machine_message;
      record->thread = message->host;
      record->what = message->job;
    } else if (const auto* event = std::get_if<Event>(&received)) {
      record->kind = gs_machine_event;
      record->thread = event->board;
      record->what = static_cast<uint32_t>(event->what);
      record->unit = event->unit;
      record->value = event->value;
    } else if (const auto* fault = std::get_if<Fault>(&received)) {
      record->kind = gs_machine_fault;
      record->thread = fault->accelerator;
      record->what = fault->cause;
      record->value = fault->address;
    }
    return 0;
  });
}
}
