// SPDX-License-Identifier: Apache-2.0
/// Statistics of a simulation, for `./gossamer top` while it runs, and for reports at its end.
///
/// Threads are sampled every few cycles, which yields the share of time of each activity. A few times a second, the
/// sums since the begin of the run are written as JSON to a file that is named by the process id and deleted at the
/// end. Sampling changes no cycle.
#pragma once

#include <gossamer/config.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "probe.h"

namespace gossamer::sim {

/// Activities that the statistics distinguish.
enum class Share : uint8_t { Runs, Memory, Float, Receive, Send, Barrier, Other, Count };
constexpr const char* kShares[] = {"runs", "memory", "float", "receive", "send", "barrier", "other"};
constexpr unsigned kShareCount = static_cast<unsigned>(Share::Count);
static_assert(std::size(kShares) == kShareCount);

inline Share share_of(const State& state) {
  using config::Csr;
  switch (state.doing) {
    case Doing::Runs: return Share::Runs;
    case Doing::Float:
    case Doing::Divide: return Share::Float;
    case Doing::Request: break;
    default: return Share::Other;
  }
  if (state.request == RequestKind::Load || state.request == RequestKind::Store) return Share::Memory;
  if (state.request != RequestKind::Csr) return Share::Other;
  switch (static_cast<Csr>(state.address)) {
    case Csr::Wait: return (state.data & 3) == 1 ? Share::Send : Share::Receive;
    case Csr::Idle: return Share::Barrier;
    default: return Share::Other;
  }
}

/// Counters of a link of a cluster, since reset.
struct LinkSums {
  unsigned board = 0, link = 0;
  bool up = false;
  uint64_t bytes_out = 0, packets_out = 0, resends = 0, bytes_in = 0, damaged = 0, stalls = 0;
};

/// Sums of one tile over time: at most kBins of them since the begin of the run. When the bins are full, every second
/// one is dropped, and the time between two doubles.
class TileSeries {
 public:
  static constexpr unsigned kBins = 128;
  struct Bin {
    uint64_t cycle = 0, issued = 0, flits = 0;  ///< cycle of the sample, and sums up to it
    std::array<uint64_t, kShareCount> shares{};
    uint64_t samples = 0;
  };

  /// Stores the sums of a sample if its time has come.
  void add(const Bin& bin) {
    if (bin.cycle < next_) return;
    if (count_ == kBins) {
      for (unsigned i = 0; i < kBins / 2; ++i) bins_[i] = bins_[2 * i + 1];
      count_ = kBins / 2;
      every_ *= 2;
      next_ = bins_[count_ - 1].cycle + every_;
      if (bin.cycle < next_) return;
    }
    bins_[count_++] = bin;
    next_ = bin.cycle + every_;
  }
  unsigned count() const { return count_; }
  const Bin& operator[](unsigned i) const { return bins_[i]; }

 private:
  std::array<Bin, kBins> bins_{};
  unsigned count_ = 0;
  uint64_t every_ = 64, next_ = 0;
};

/// Samples of the threads of one tile. Written by the worker that simulates the tile.
struct alignas(128) ThreadSamples {
  std::array<uint64_t, kShareCount> shares{};
  uint64_t samples = 0;
  TileSeries series;
};

class Watch {
 public:
  static constexpr uint64_t kEvery = 61;  ///< cycles between samples; a prime, so that loops do not alias with it

  /// Counters of one tile.
  struct Tile {
    unsigned started = 0;  ///< threads that have started and not ended
    uint64_t issued = 0;
    bool mesh = false;  ///< whether it has neighbours
    std::array<uint64_t, 4> flits{};  ///< sent to north, south, east, west
    uint64_t skipped = 0;  ///< cycles since reset that were not simulated, because the tile was idle
  };

  explicit Watch(unsigned tiles) : seen_(tiles), before_(tiles) {}
  ~Watch() {
    if (path_.empty()) return;
    ::unlink(path_.c_str());
    ::unlink((path_ + ".part").c_str());
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Opens the status file in a folder; `about` are members of its JSON object that describe the simulation.
  void open(const char* folder, const char* about) {
    path_ = std::string(folder) + "/" + std::to_string(::getpid()) + ".json";
    about_ = about ? about : "";
  }
  bool is_open() const { return !path_.empty(); }

  /// A run begins.
  template <typename TileOf>
  void begin(TileOf tile) {
    for (unsigned t = 0; t < seen_.size(); ++t) {
      seen_[t] = {};
      before_[t] = tile(t);
    }
  }

  /// Samples of a tile; those of other ranks are stored here, too.
  ThreadSamples& samples(unsigned tile) { return seen_[tile]; }
  /// A tile's counters since the begin of the run.
  Tile since(unsigned tile, Tile its) const {
    its.issued -= before_[tile].issued;
    for (unsigned d = 0; d < its.flits.size(); ++d) its.flits[d] -= before_[tile].flits[d];
    return its;
  }

  /// Samples the running threads of a tile (`started`, a mask).
  /// `its` are the tile's counters, `cycle` is counted from the begin of the run.
  void sample(unsigned tile, const Probe& probe, uint64_t started, const Tile& its, uint64_t cycle) {
    ThreadSamples& seen = seen_[tile];
    ++seen.samples;
    for (; started; started &= started - 1) {
      const auto thread = static_cast<unsigned>(std::countr_zero(started));
      const State state = probe.doing(thread) == Doing::Runs ? State{Doing::Runs} : probe.state(thread);
      ++seen.shares[static_cast<unsigned>(share_of(state))];
    }
    const Tile sums = since(tile, its);
    seen.series.add({cycle, sums.issued, std::accumulate(sums.flits.begin(), sums.flits.end(), uint64_t{0}),
                     seen.shares, seen.samples});
  }

  /// All sums as a JSON object. `tile` returns the counters of a tile.
  template <typename TileOf>
  std::string json(const char* state, uint64_t first, uint64_t cycle, unsigned board_tiles, unsigned width,
                   const std::vector<LinkSums>& links, TileOf tile) const {
    std::string text = "{";
    if (!about_.empty()) text += about_ + ",";
    add(text, "\"pid\":%d,\"state\":\"%s\",", static_cast<int>(::getpid()), state);
    timespec now;
    ::clock_gettime(CLOCK_REALTIME, &now);
    add(text, "\"time\":%.3f,", static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9);
    add(text, "\"first\":%" PRIu64 ",\"cycle\":%" PRIu64 ",", first, cycle);
    add(text, "\"board_tiles\":%u,\"width\":%u,\"threads\":%u,\"cores\":%u,", board_tiles, width,
        config::derived::threads_per_tile, config::mailbox::cores_per_mailbox);
    text += "\"shares\":[";
    for (unsigned i = 0; i < kShareCount; ++i) add(text, "%s\"%s\"", i ? "," : "", kShares[i]);
    text += "],\"tiles\":[";
    for (unsigned t = 0; t < seen_.size(); ++t) {
      const Tile its = since(t, tile(t));
      add(text, "%s{\"started\":%u,\"issued\":%" PRIu64 ",\"skipped\":%" PRIu64 ",\"looks\":%" PRIu64 ",\"shares\":[",
          t ? "," : "", its.started, its.issued, its.skipped, seen_[t].samples);
      for (unsigned i = 0; i < kShareCount; ++i) add(text, "%s%" PRIu64, i ? "," : "", seen_[t].shares[i]);
      text += "],\"flits\":[";
      for (unsigned d = 0; its.mesh && d < its.flits.size(); ++d) add(text, "%s%" PRIu64, d ? "," : "", its.flits[d]);
      text += "]";
      // Over time only at the end: the file of a running simulation is rewritten a few times a second.
      if (std::string_view(state) == "ended") series(text, seen_[t].series);
      text += "}";
    }
    text += "],\"links\":[";
    for (size_t i = 0; i < links.size(); ++i) {
      const LinkSums& link = links[i];
      add(text, "%s{\"board\":%u,\"link\":%u,\"up\":%s,", i ? "," : "", link.board, link.link,
          link.up ? "true" : "false");
      add(text, "\"bytes_out\":%" PRIu64 ",\"packets_out\":%" PRIu64, link.bytes_out, link.packets_out);
      add(text, ",\"resends\":%" PRIu64 ",\"bytes_in\":%" PRIu64 ",\"damaged\":%" PRIu64 ",\"stalls\":%" PRIu64 "}",
          link.resends, link.bytes_in, link.damaged, link.stalls);
    }
    return text + "]}";
  }

  /// Replaces the file atomically. Failure is ignored.
  void write(const std::string& text) const {
    const std::string partial = path_ + ".part";
    std::FILE* file = std::fopen(partial.c_str(), "wb");
    if (!file) return;
    const bool good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (std::fclose(file) || !good || std::rename(partial.c_str(), path_.c_str())) ::unlink(partial.c_str());
  }

 private:
  static void series(std::string& text, const TileSeries& all) {
    text += ",\"series\":[";
    for (unsigned i = 0; i < all.count(); ++i) {
      const TileSeries::Bin& bin = all[i];
      add(text, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, i ? "," : "", bin.cycle, bin.issued, bin.flits,
          bin.samples);
      for (const uint64_t share : bin.shares) add(text, ",%" PRIu64, share);
      text += "]";
    }
    text += "]";
  }

  template <typename... Values>
  static void add(std::string& text, const char* format, Values... values) {
    char part[256];
    const int length = std::snprintf(part, sizeof part, format, values...);
    text.append(part, static_cast<size_t>(length));
  }

  std::vector<ThreadSamples> seen_;
  std::vector<Tile> before_;  ///< this run
  std::string path_, about_;
};

}  // namespace gossamer::sim
