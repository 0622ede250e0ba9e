// SPDX-License-Identifier: Apache-2.0
// A mailbox in Verilator with threads as coroutines around it: each awaits its requests as a program would.
#pragma once

#include <array>
#include <coroutine>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "Vmailbox_top.h"
#include "flit.h"

namespace mailbox_test {

#ifndef MAILBOX_THREADS
#error "the build defines the parameters of the model"
#endif
inline constexpr unsigned kThreads = MAILBOX_THREADS;
inline constexpr unsigned kCores = 1U << MAILBOX_CORE_BITS;
inline constexpr unsigned kSlotsPerThread = MAILBOX_SLOTS_PER_THREAD;
inline constexpr unsigned kSlotBytes = MAILBOX_SLOT_BYTES;
inline constexpr unsigned kMaxFlits = MAILBOX_MAX_FLITS;
inline constexpr unsigned kQueueDepth = MAILBOX_QUEUE_DEPTH;
inline constexpr unsigned kSendSlots = MAILBOX_SEND_SLOTS;
inline constexpr bool kMulticast = MAILBOX_MULTICAST;
inline constexpr unsigned kSlots = kThreads * kSlotsPerThread;
inline constexpr uint32_t kBase = 0x0010'0000;

// Numbers from the specification (config/constants), written again on purpose: the test shares no definitions.
enum Csr : uint32_t {
  kSendDest = 0x800, kSendSlot, kSendLength, kSendMaskLow, kSendMaskHigh, kSendTile, kSendKey, kRelease, kWait, kIdle,
  kReceive = 0xCC0, kCanSend, kCanReceive
};
enum Cause : unsigned {
  kBadRegister = 34, kSendNotReady = 24, kBadSlot, kBadLength, kBadDestination, kNotReceived, kNothingToReceive, kBadKey
};

inline constexpr uint32_t kTile = 0u << 29 | 5u << 14 | 2u << 10 | 3u << 6;  // board 5, row 2, column 3

// As in mailbox_top.sv.
inline constexpr unsigned kJob = 0x0B, kMeshWidth = 12, kMeshHeight = 13;

inline uint32_t thread_address(unsigned thread) { return kTile | thread; }
inline uint32_t tile_address() { return kTile | 1u << 29; }
inline uint32_t slot_address(unsigned slot) { return kBase + slot * kSlotBytes; }

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "FAIL: %s\n", what.c_str());
  std::exit(1);
}
template <class... A>
[[noreturn]] void failf(const char* format, A... a) {
  char text[400];
  std::snprintf(text, sizeof text, format, a...);
  fail(text);
}
#define CHECK(condition, ...) \
  do { if (!(condition)) ::mailbox_test::failf(__VA_ARGS__); } while (0)

inline constexpr unsigned kOwnTags = ~0u;

/// A flit at the mailbox's network ports.
struct Flit : flit_test::Flit {
  // tags: outgoing: network, job and epoch. Incoming: job and epoch, or kOwnTags for those of the mailbox at that time.
  /// outgoing: the stream by which it left
  bool far = false;

  Flit() { tags = kOwnTags; }
  Flit(unsigned kind, bool last, uint32_t dest, flit_test::Payload payload, unsigned tags = kOwnTags, bool far = false)
      : flit_test::Flit{.kind = kind, .tags = tags, .last = last, .dest = dest, .payload = payload}, far(far) {}
};
using Packet = std::vector<Flit>;

struct Request {
  unsigned op = 0, funct3 = 0;
  uint32_t addr = 0, data = 0;
};
struct Outcome {
  bool trap = false;
  uint32_t data = 0;
  unsigned cause = 0;
  uint64_t cycle = 0;
};

/// A thread's program. It runs from one request to the next; a trap ends it only if the program does not check.
struct Task {
  struct promise_type {
    std::coroutine_handle<> caller;
    uint32_t value = 0;
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
        return h.promise().caller ? h.promise().caller : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    void return_value(uint32_t v) { value = v; }
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
  Task(std::coroutine_handle<promise_type> h) : handle(h) {}
  Task(Task&& other) noexcept : handle(std::exchange(other.handle, {})) {}
  Task& operator=(Task&& other) noexcept { std::swap(handle, other.handle); return *this; }
  ~Task() { if (handle) handle.destroy(); }
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
    handle.promise().caller = caller;
    return handle;
  }
  uint32_t await_resume() { return handle.promise().value; }
};

class Bench {
 public:
  explicit Bench(uint64_t seed) : random(seed) {
    reset();
  }

  std::mt19937_64 random;
  Vmailbox_top top;
  uint64_t cycle = 0;
  uint64_t active = kThreads == 64 ? ~0ull : (1ull << kThreads) - 1;
  /// Chances in 256 that a side moves in a cycle.
  unsigned request_chance = 256, response_chance = 256, out_chance = 256, in_chance = 256,
           far_chance = 256;
  unsigned epoch = 0;
  unsigned drop_job = 0;  ///< job of the last packet that was dropped
  bool detect = false;
  std::function<void(const Packet&)> on_packet = [](const Packet&) {};
  std::function<void()> on_release = [] {};
  std::deque<Packet> incoming;
  uint64_t sent = 0, received = 0, dropped = 0, in_flits = 0, out_flits = 0;
  std::array<uint64_t, 16> drops{};

  bool chance(unsigned of_256) { return of_256 >= 256 || (random() & 255) < of_256; }
  unsigned below(unsigned n) { return unsigned(random() % n); }

  struct Awaiter {
    Bench& bench;
    unsigned thread;
    Request request;
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> handle) { bench.post(thread, request, handle); }
    Outcome await_resume() { return bench.threads_[thread].outcome; }
  };
  Awaiter request(unsigned thread, Request r) { return {*this, thread, r}; }
  Awaiter write(unsigned t, uint32_t csr, uint32_t value) { return request(t, {2, 1, csr, value}); }
  Awaiter swap(unsigned t, uint32_t csr, uint32_t value) { return request(t, {2, 3, csr, value}); }
  Awaiter read(unsigned t, uint32_t csr) { return request(t, {2, 2, csr, 0}); }
  Awaiter load(unsigned t, uint32_t addr, unsigned funct3 = 2) { return request(t, {0, funct3, addr, 0}); }
  Awaiter store(unsigned t, uint32_t addr, uint32_t data, unsigned funct3 = 2) {
    return request(t, {1, funct3, addr, data});
  }

  void start(unsigned thread, Task task) {
    tasks_.push_back(std::move(task));
    threads_[thread].running = true;
    auto h = tasks_.back().handle;
    h.resume();
  }
  bool all_done() const {
    for (const Task& t : tasks_) if (!t.handle.done()) return false;
    return true;
  }
  void forget_tasks() {
    tasks_.clear();
    for (Thread& t : threads_) t = {};
  }
  /// Runs until all programs have ended; reports the waiting threads if that takes too long.
  void run(uint64_t limit) {
    uint64_t end = cycle + limit;
    while (!all_done()) {
      if (cycle >= end) {
        for (unsigned t = 0; t < kThreads; t++) {
          const Thread& w = threads_[t];
          if (w.state != Thread::kNothing) {
            std::fprintf(stderr, "thread %u waits: op %u csr %x data %x\n", t, w.request.op, w.request.addr,
                         w.request.data);
          }
        }
        failf("no end after %llu cycles", (unsigned long long)limit);
      }
      step();
    }
    forget_tasks();
  }
  void idle_cycles(uint64_t n) { for (uint64_t i = 0; i < n; i++) step(); }
  bool suspended(unsigned t) const { return threads_[t].state == Thread::kInFlight; }

  void reset() {
    top.rst_ni = 0;
    top.tile_i = kTile;
    top.job_i = kJob;
    top.routers_i = 1;
    top.clear_i = 0;
    top.boards_i = 4096;
    top.hosts_i = 4096;
    epoch = 0;
    req_valid_ = false;
    for (int i = 0; i < 4; i++) {
      top.clk_i = 0; top.eval();
      top.clk_i = 1; top.eval();
    }
    top.rst_ni = 1;
    in_at_ = 0;
  }

  void step() {
    // Inputs of this cycle. An offer that was not accepted is stable.
    if (!req_valid_ && chance(request_chance) && !requesting_.empty()) {
      unsigned pick = below(unsigned(requesting_.size()));
      req_thread_ = requesting_[pick];
      requesting_[pick] = requesting_.back();
      requesting_.pop_back();
      req_valid_ = true;
      const Request& r = threads_[req_thread_].request;
      top.req_op_i = r.op;
      top.req_funct3_i = r.funct3;
      top.req_thread_i = req_thread_;
      top.req_addr_i = r.addr;
      top.req_data_i = r.data;
    }
    top.req_valid_i = req_valid_;
    top.rsp_ready_i = chance(response_chance);
    top.trap_ready_i = chance(response_chance);
    top.out_ready_i = chance(out_chance);
    top.far_ready_i = chance(far_chance);
    if (!in_valid_ && !incoming.empty() && chance(in_chance)) {
      const Flit& f = incoming.front()[in_at_];
      in_valid_ = true;
      top.in_kind_i = f.kind;
      top.in_last_i = f.last;
      top.in_dest_i = f.dest;
      top.in_tags_i = f.tags == kOwnTags ? kJob << 2 | epoch : f.tags;
      for (int i = 0; i < 4; i++) top.in_payload_i[i] = f.payload[i];
    }
    top.in_valid_i = in_valid_;
    top.active_i = active;
    top.detect_i = detect;
    top.wave_i = cycle >> 6 & 1;
    top.outside_sent_i = outside_sent_ > 0;
    outside_sent_ -= outside_sent_ > 0;
    top.outside_received_i = outside_received_;
    outside_received_ = 0;
    top.clk_i = 0;
    top.eval();

    bool took_request = req_valid_ && top.req_ready_o;
    bool response = top.rsp_valid_o && top.rsp_ready_i;
    bool trap = top.trap_valid_o && top.trap_ready_i;
    bool took_in = in_valid_ && top.in_ready_o;
    unsigned rsp_thread = top.rsp_thread_o, trap_thread = top.trap_thread_o;
    Outcome good{false, top.rsp_data_o, 0, cycle}, bad{true, top.trap_addr_o, top.trap_cause_o, cycle};
    auto leaves = [&](bool far, unsigned kind, bool last, uint32_t dest, unsigned tags, const auto& payload) {
      Flit f{kind, last, dest, {payload[0], payload[1], payload[2], payload[3]}, tags, far};
      Packet& packet = out_packet_[far];
      packet.push_back(f);
      out_flits++;
      if (!last) return;
      outside_received_++;
      stalled_[far] = false;
      Packet whole;
      std::swap(whole, packet);
      on_packet(whole);
    };
    CHECK((!top.out_valid_o || top.out_wave_o == top.wave_i) && (!top.far_valid_o || top.far_wave_o == top.wave_i),
          "a message with a colour other than the board's");
    // Packets leave whole: a packet that has begun pauses only if its receiver did.
    for (bool far : {false, true}) {
      bool valid = far ? top.far_valid_o : top.out_valid_o, ready = far ? top.far_ready_i : top.out_ready_i;
      CHECK(valid || stalled_[far] || out_packet_[far].empty(), "a packet pauses while it leaves");
      stalled_[far] = stalled_[far] || (valid && !ready);
    }
    if (top.out_valid_o && top.out_ready_i) {
      leaves(false, top.out_kind_o, top.out_last_o, top.out_dest_o, top.out_tags_o, top.out_payload_o);
    }
    if (top.far_valid_o && top.far_ready_i) {
      leaves(true, top.far_kind_o, top.far_last_o, top.far_dest_o, top.far_tags_o, top.far_payload_o);
    }
    if (took_in) {
      in_valid_ = false;
      in_flits++;
      if (++in_at_ == incoming.front().size()) {
        incoming.pop_front();
        in_at_ = 0;
      }
    }
    sent += top.sent_o;
    received += top.received_o;
    dropped += top.dropped_o;
    if (top.dropped_o) {
      drops[top.drop_reason_o]++;
      drop_job = top.drop_job_o;
    }
    epoch = top.epoch_o;
    bool released = top.release_o;
    top.clk_i = 1;
    top.eval();
    cycle++;

    if (took_request) {
      req_valid_ = false;
      threads_[req_thread_].state = Thread::kInFlight;
    }
    if (released) {
      on_release();
      for (unsigned t = 0; t < kThreads; t++) {
        to_leave_[t] = threads_[t].state == Thread::kInFlight && threads_[t].request.addr == kIdle;
      }
    }
    // Idle again only after the release has reached the last thread.
    if (top.idle_o) {
      for (unsigned t = 0; t < kThreads; t++) CHECK(!to_leave_[t], "idle while thread %u is still to be released", t);
    }
    if (response) answer(rsp_thread, good);
    if (trap) answer(trap_thread, bad);
  }

  /// Adds a message from outside. The detector counts it before its first flit.
  void deliver(Packet packet) {
    incoming.push_back(std::move(packet));
    outside_sent_++;
  }

  /// Makes the detector count a message that was put into `incoming` directly.
  void count_sent() { outside_sent_++; }

 private:
  struct Thread {
    enum State { kNothing, kRequesting, kInFlight } state = kNothing;
    bool running = false;
    Request request;
    Outcome outcome;
    std::coroutine_handle<> handle;
  };
  std::array<Thread, kThreads> threads_;
  std::array<bool, kThreads> to_leave_{};
  std::vector<unsigned> requesting_;
  std::deque<Task> tasks_;
  bool req_valid_ = false, in_valid_ = false;
  unsigned outside_sent_ = 0, outside_received_ = 0;
  unsigned req_thread_ = 0;
  size_t in_at_ = 0;
  std::array<Packet, 2> out_packet_;
  std::array<bool, 2> stalled_{};

  void post(unsigned thread, Request r, std::coroutine_handle<> handle) {
    Thread& t = threads_[thread];
    CHECK(t.state == Thread::kNothing, "test error: thread %u has two requests", thread);
    t.request = r;
    t.handle = handle;
    t.state = Thread::kRequesting;
    requesting_.push_back(thread);
  }
  void answer(unsigned thread, Outcome outcome) {
    CHECK(thread < kThreads && threads_[thread].state == Thread::kInFlight,
          "an answer for thread %u, which has no request", thread);
    Thread& t = threads_[thread];
    t.state = Thread::kNothing;
    if (to_leave_[thread]) CHECK(outcome.data, "thread %u was to be released, but received a message", thread);
    to_leave_[thread] = false;
    t.outcome = outcome;
    t.handle.resume();
  }
};

}  // namespace mailbox_test
