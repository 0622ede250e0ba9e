// SPDX-License-Identifier: Apache-2.0
/// Decimation of a trace, so that it fits into a file of bounded size.
///
/// Time is divided into windows, whose length doubles whenever there are too many. While the file would be too large,
/// the fullest windows repeatedly drop half of their contents: the shortest waits, and half of the messages that remain
/// when those longest in flight are set apart. So an idle period keeps everything next to a busy one. A dropped wait
/// counts as running.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gossamer::sim {

/// The index of no message and of no endpoint.
constexpr uint32_t kNone = ~uint32_t{0};

/// A wait of a thread.
struct Span {
  uint64_t from = 0, to = 0;
  const char* name = nullptr;
  uint32_t thread = 0, pc = 0, address = 0;
  bool has_address = false;
};

/// A message from its send to one receiver. A message to several receivers has several arrows.
struct Arrow {
  uint64_t from = 0, to = 0;
  uint64_t id = 0;
  const char* name = nullptr;  ///< how it was sent
  uint32_t sender = kNone, receiver = kNone;
  uint32_t dest = 0;
  bool alike = false;  ///< equal messages to the same thread were in flight, so the arrow is ambiguous

  uint64_t flight() const { return receiver == kNone || sender == kNone ? 0 : to - from; }
};

/// Items that a window has dropped.
struct Lost {
  uint64_t waits = 0, wait_cycles = 0, messages = 0;

  Lost& operator+=(const Lost& other) {
    waits += other.waits;
    wait_cycles += other.wait_cycles;
    messages += other.messages;
    return *this;
  }
  bool any() const { return waits || messages; }
};

struct Window {
  uint64_t number = 0;
  uint64_t least = 0;  ///< shortest wait that is kept
  std::vector<Span> spans;
  std::vector<Arrow> arrows;
  Lost lost;
};

class TraceDecimation {
 public:
  static constexpr size_t kSpanBytes = 112, kArrowBytes = 96;  ///< in the file, approximately at most

  /// `least` is the shortest wait of interest, `bytes` the size limit.
  TraceDecimation(uint64_t least, size_t bytes) : least_(least), space_(bytes) {}

  void add(const Span& span) {
    Window& window = at(span.to);
    const uint64_t cycles = span.to - span.from;
    if (cycles < least_) return;
    if (cycles < window.least) {
      ++window.lost.waits;
      window.lost.wait_cycles += cycles;
      return;
    }
    window.spans.push_back(span);
    used_ += kSpanBytes;
    fit();
  }
  void add(const Arrow& arrow) {
    at(std::max(arrow.from, arrow.to)).arrows.push_back(arrow);
    ++messages_;
    used_ += kArrowBytes;
    fit();
  }
  /// Reserves space in the file for other items.
  void reserve(size_t bytes) {
    space_ -= std::min(space_, bytes);
    fit();
  }
  /// Releases reserved space.
  void release_space(size_t bytes) { space_ += bytes; }

  const std::vector<Window>& windows() const { return windows_; }
  /// Messages that were added.
  uint64_t messages() const { return messages_; }
  uint64_t length() const { return length_; }
  Lost lost() const {
    Lost all;
    for (const Window& window : windows_) all += window.lost;
    return all;
  }
  /// The longest limit below which waits were dropped.
  uint64_t longest_limit() const {
    uint64_t most = 0;
    for (const Window& window : windows_) most = std::max(most, window.lost.waits ? window.least : 0);
    return most;
  }

 private:
  static constexpr size_t kWindows = 256;

  static size_t bytes(const Window& window) {
    return window.spans.size() * kSpanBytes + window.arrows.size() * kArrowBytes;
  }

  /// The window of a time; times must not decrease.
  Window& at(uint64_t time) {
    while (time / length_ >= kWindows) longer();
    const uint64_t number = time / length_;
    if (windows_.empty() || windows_.back().number < number) windows_.push_back({number, least_, {}, {}, {}});
    return windows_.back();
  }

  void longer() {
    length_ *= 2;
    std::vector<Window> merged;
    for (Window& window : windows_) {
      window.number /= 2;
      if (merged.empty() || merged.back().number != window.number) {
        merged.push_back(std::move(window));
        continue;
      }
      Window& into = merged.back();
      into.least = std::max(into.least, window.least);
      into.spans.insert(into.spans.end(), window.spans.begin(), window.spans.end());
      into.arrows.insert(into.arrows.end(), window.arrows.begin(), window.arrows.end());
      into.lost += window.lost;
    }
    windows_.swap(merged);
  }

  /// Decimates until the contents fit, with a margin.
  void fit() {
    if (used_ <= space_) return;
    while (used_ > space_ / 8 * 7) {
      Window& fullest = *std::max_element(windows_.begin(), windows_.end(), [](const Window& a, const Window& b) {
        return bytes(a) < bytes(b);
      });
      const size_t before = bytes(fullest);
      halve(fullest);
      used_ -= before - bytes(fullest);
      if (bytes(fullest) == before) return;
    }
  }

  static void halve(Window& window) {
    // Keeps the longer half of the waits; among those of the limiting length, a sample from the whole window.
    if (const size_t keep = window.spans.size() / 2; keep < window.spans.size()) {
      std::vector<uint64_t> cycles;
      for (const Span& span : window.spans) cycles.push_back(span.to - span.from);
      std::nth_element(cycles.begin(), cycles.begin() + keep, cycles.end(), std::greater<>());
      const uint64_t limit = cycles[keep];
      const auto is_longer = [limit](uint64_t its) { return its > limit; };
      const auto longer = static_cast<size_t>(std::count_if(cycles.begin(), cycles.end(), is_longer));
      const auto equal = static_cast<size_t>(std::count(cycles.begin(), cycles.end(), limit));
      const size_t wanted = keep - longer;
      size_t seen = 0;
      std::erase_if(window.spans, [&](const Span& span) {
        const uint64_t its = span.to - span.from;
        bool dropped = its < limit;
        if (its == limit) {
          dropped = (seen + 1) * wanted / equal == seen * wanted / equal;
          ++seen;
        }
        window.lost.waits += dropped;
        window.lost.wait_cycles += dropped ? its : 0;
        return dropped;
      });
      window.least = std::max(window.least, wanted ? limit : limit + 1);
    }
    // Keeps the quarter of the messages that were longest in flight, and a third of the others.
    if (const size_t messages = window.arrows.size()) {
      std::vector<uint64_t> flights;
      for (const Arrow& arrow : window.arrows) flights.push_back(arrow.flight());
      const size_t quarter = messages / 4;
      std::nth_element(flights.begin(), flights.begin() + quarter, flights.end(), std::greater<>());
      const uint64_t limit = flights[quarter];
      size_t seen = 0;
      std::erase_if(window.arrows, [&](const Arrow& arrow) {
        const bool dropped = arrow.flight() <= limit && seen++ % 3 != 0;
        window.lost.messages += dropped;
        return dropped;
      });
      if (messages == 1) return;
    }
  }

  const uint64_t least_;
  size_t space_;
  size_t used_ = 0;
  uint64_t messages_ = 0;
  uint64_t length_ = 4096;
  std::vector<Window> windows_;
};

}  // namespace gossamer::sim
