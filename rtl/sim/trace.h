// SPDX-License-Identifier: Apache-2.0
/// Writes what the threads of a tile did, in the trace event format that Perfetto and Chrome open.
///
/// A track a thread, with spans "runs" and spans of what it waited for; marks for messages sent and received, traps and
/// ends; and the instructions a cycle of the whole tile. One nanosecond of the picture is one cycle.
/// A wait shorter than a limit counts as running: a thread that computes waits for memory or the FPU every
/// few cycles, and a picture of millions of such spans shows nothing.
#pragma once

#include <gossamer/config.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "probe.h"

namespace gossamer::sim {

/// A function of the program: where it begins and ends, and its name.
struct Symbol {
  uint32_t begin = 0;
  uint32_t end = 0;
  std::string name;
};

/// What a thread waits for, in words.
inline const char* in_words(const State& state) {
  using config::Csr;
  switch (state.doing) {
    case Doing::Nothing: return "nothing";
    case Doing::Runs: return "runs";
    case Doing::Float: return "float";
    case Doing::Divide: return "divide";
    case Doing::Parked: return "parked";
    case Doing::Request: break;
  }
  switch (state.asked) {
    case Asked::Load: return "load";
    case Asked::Store: return "store";
    case Asked::Trap: return "trap";
    case Asked::Csr: break;
  }
  switch (static_cast<Csr>(state.address)) {
    case Csr::Wait: {
      static const char* const kEvents[] = {"waits for nothing", "waits to send", "waits for a message",
                                            "waits for a message or to send"};
      return kEvents[state.data & 3];
    }
    case Csr::Idle: return "waits for idleness";
    default: break;
  }
  const char* name = config::name_of(static_cast<Csr>(state.address));
  return name ? name : "csr";
}

/// The file, written as the run goes on.
class Trace {
 public:
  ~Trace() { close(0); }

  bool open(const char* path, unsigned threads, unsigned threads_per_core, unsigned least) {
    file_ = std::fopen(path, "wb");
    if (!file_) return false;
    std::setvbuf(file_, nullptr, _IOFBF, 1 << 20);
    least_ = least;
    tracks_.assign(threads, Track{});
    std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", file_);
    std::fputs(R"({"ph":"M","pid":0,"name":"process_name","args":{"name":"tile, 1 ns = 1 cycle"}})", file_);
    for (unsigned t = 0; t < threads; ++t) {
      std::fprintf(file_, ",\n{\"ph\":\"M\",\"pid\":0,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":", t);
      std::fprintf(file_, "\"thread %u (core %u)\"}}", t, t / threads_per_core);
    }
    return true;
  }
  bool is_open() const { return file_ != nullptr; }
  void symbols(std::vector<Symbol> symbols) { symbols_ = std::move(symbols); }

  /// Looks at all threads, once a cycle.
  void sample(const Probe& probe, uint64_t cycle) {
    for (unsigned t = 0; t < tracks_.size(); ++t) {
      const Doing doing = probe.doing(t);
      if (doing == tracks_[t].state.doing) continue;
      if (tracks_[t].over && doing != Doing::Runs) continue;
      tracks_[t].over = false;
      change(t, probe.state(t), cycle);
    }
    if (cycle % kWindow == 0) {
      const uint64_t issued = probe.issued();
      if (counted_) {
        const double share = static_cast<double>(issued - issued_) / kWindow;
        begin("C", cycle - kWindow);
        std::fprintf(file_, ",\"name\":\"instructions a cycle\",\"args\":{\"all cores\":%.3f}}", share);
      }
      counted_ = true;
      issued_ = issued;
    }
  }

  /// A mark on a thread's track.
  void mark(unsigned thread, const char* what, uint64_t cycle) {
    if (!file_) return;
    begin("i", cycle);
    std::fprintf(file_, ",\"tid\":%u,\"s\":\"t\",\"name\":\"%s\"}", thread, what);
  }

  /// The end of a thread. In the core it goes on waiting for the answer to its last request.
  void end(unsigned thread, const char* how, uint64_t cycle) {
    if (!file_) return;
    change(thread, State{}, cycle);
    tracks_[thread].over = true;
    mark(thread, how, cycle);
  }

  /// Ends all spans and the file. False if it could not be written whole.
  bool close(uint64_t cycle) {
    if (!file_) return true;
    for (unsigned t = 0; t < tracks_.size(); ++t) change(t, State{}, cycle);
    std::fputs("\n]}\n", file_);
    bool good = !std::ferror(file_);
    good = !std::fclose(file_) && good;
    file_ = nullptr;
    return good;
  }

 private:
  static constexpr unsigned kWindow = 1024;

  struct Track {
    State state;
    uint64_t since = 0;    ///< when it got into this state
    uint64_t running = 0;  ///< when its span "runs" began
    bool runs = false;     ///< whether such a span is open
    bool over = false;     ///< whether it has ended or trapped, and not been started again
  };

  void begin(const char* kind, uint64_t cycle) {
    std::fprintf(file_, ",\n{\"ph\":\"%s\",\"pid\":0,\"ts\":%" PRIu64 ".%03u", kind, cycle / 1000,
                 static_cast<unsigned>(cycle % 1000));
  }

  void span(unsigned thread, const char* name, uint64_t from, uint64_t to) {
    begin("X", from);
    const uint64_t cycles = to - from;
    std::fprintf(file_, ",\"dur\":%" PRIu64 ".%03u,\"tid\":%u,\"name\":\"%s\"", cycles / 1000,
                 static_cast<unsigned>(cycles % 1000), thread, name);
  }

  void change(unsigned thread, const State& now, uint64_t cycle) {
    Track& track = tracks_[thread];
    const State was = track.state;
    if (was.doing == Doing::Runs) {
      if (!track.runs) {
        track.runs = true;
        track.running = track.since;
      }
    } else if (was.doing != Doing::Nothing && cycle - track.since >= least_) {
      run_until(thread, track.since);
      span(thread, in_words(was), track.since, cycle);
      std::fprintf(file_, ",\"args\":{\"pc\":\"0x%x\"", was.pc);
      if (const Symbol* symbol = find(was.pc)) std::fprintf(file_, ",\"function\":\"%s\"", symbol->name.c_str());
      if (was.doing == Doing::Request && (was.asked == Asked::Load || was.asked == Asked::Store)) {
        std::fprintf(file_, ",\"address\":\"0x%x\"", was.address);
      }
      std::fputs("}}", file_);
    }
    if (now.doing == Doing::Nothing) run_until(thread, was.doing == Doing::Runs ? cycle : track.since);
    if (now.doing == Doing::Request && now.asked == Asked::Csr) message(thread, now.address, cycle);
    track.state = now;
    track.since = cycle;
  }

  void run_until(unsigned thread, uint64_t cycle) {
    Track& track = tracks_[thread];
    if (track.runs && cycle > track.running) {
      span(thread, "runs", track.running, cycle);
      std::fputc('}', file_);
    }
    track.runs = false;
  }

  void message(unsigned thread, uint32_t csr, uint64_t cycle) {
    using config::Csr;
    switch (static_cast<Csr>(csr)) {
      case Csr::SendDest: mark(thread, "send", cycle); break;
      case Csr::SendTile: mark(thread, "multicast", cycle); break;
      case Csr::SendKey: mark(thread, "send by key", cycle); break;
      case Csr::Receive: mark(thread, "receive", cycle); break;
      default: break;
    }
  }

  /// The function that an address is in: the last that begins at or before it.
  const Symbol* find(uint32_t pc) const {
    auto after = std::upper_bound(symbols_.begin(), symbols_.end(), pc,
                                  [](uint32_t value, const Symbol& symbol) { return value < symbol.begin; });
    if (after == symbols_.begin()) return nullptr;
    const Symbol& symbol = *--after;
    return pc < symbol.end ? &symbol : nullptr;
  }

  std::FILE* file_ = nullptr;
  unsigned least_ = 0;
  std::vector<Track> tracks_;
  std::vector<Symbol> symbols_;
  uint64_t issued_ = 0;
  bool counted_ = false;
};

}  // namespace gossamer::sim
