// SPDX-License-Identifier: Apache-2.0
/// Writes the activity of all tiles' threads, and the messages between them and hosts, as a binary Perfetto trace.
///
/// Each board is a process, with a group per tile, which has a track per thread and counters. A thread's track has
/// spans "runs", spans of its waits, and marks for messages, traps and ends; an arrow leads from each send to each
/// receive (messages.h). Each host that sends or receives messages has a track. One nanosecond of the trace is one
/// cycle. A wait below a limit counts as running: a computing thread waits for memory or the FPU every few cycles, and
/// millions of such spans would be unreadable. The file has a bounded size: trace_decimation.h decides what it keeps,
/// and a separate track marks where something was dropped.
#pragma once

#include <gossamer/config.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "messages.h"
#include "perfetto.h"
#include "router_trace.h"
#include "trace_decimation.h"
#include "tile_trace.h"

namespace gossamer::sim {

/// A function of the program: its begin, end and name.
struct Symbol {
  uint32_t begin = 0;
  uint32_t end = 0;
  std::string name;
};

/// Description of what a thread waits for.
inline const char* description(const State& state) {
  using config::Csr;
  switch (state.doing) {
    case Doing::Nothing: return "nothing";
    case Doing::Runs: return "runs";
    case Doing::Float: return "float";
    case Doing::Divide: return "divide";
    case Doing::Parked: return "parked";
    case Doing::Request: break;
  }
  switch (state.request) {
    case RequestKind::Load: return "load";
    case RequestKind::Store: return "store";
    case RequestKind::Trap: return "trap";
    case RequestKind::Csr: break;
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

class Trace {
 public:
  /// Shape of the machine: tiles are numbered board by board, threads tile by tile.
  struct Shape {
    unsigned boards = 1, tiles = 1;  ///< tiles of a board
    unsigned width = 1;              ///< columns of a board's mesh
    unsigned threads = 1, threads_per_core = 1;
    std::vector<unsigned> hosts;     ///< board of each
  };

  /// `least` is the shortest wait in the trace, `bytes` the largest size of the file. The probes must outlive the
  /// trace. `routers` has one element per board, if the boards have multicast routers.
  bool open(const char* path, const Shape& shape, unsigned least, size_t bytes, const Probe* probes,
            const MailboxProbe* mailboxes, std::vector<RouterTrace> routers) {
    if (!file_.open(path)) return false;
    shape_ = shape;
    const unsigned tiles = shape.boards * shape.tiles;
    for (unsigned t = 0; t < tiles; ++t) {
      seen_.emplace_back(&probes[t], &mailboxes[t], shape.threads, t / shape.tiles);
    }
    routers_ = std::move(routers);
    for (unsigned board : shape.hosts) hosts_.emplace_back(board);
    tracks_.resize(tiles * shape.threads);
    counts_.resize(tiles);
    const unsigned channels = routers_.empty() ? 0 : routers_[0].channels();
    messages_ = std::make_unique<Messages>(tiles, shape.threads, shape.boards, channels);
    kept_ = std::make_unique<TraceDecimation>(least, bytes);
    bytes_ = bytes;
    kept_->reserve(kTrackBytes * (tracks_.size() + 5 * tiles + hosts_.size()) + kNoteBytes);
    return true;
  }
  bool is_open() const { return file_.is_open(); }
  void symbols(std::vector<Symbol> symbols) { symbols_ = std::move(symbols); }

  /// A run begins.
  void begin() {
    for (TileTrace& tile : seen_) tile.begin();
    for (HostTrace& host : hosts_) host.events().forget();
    begun_ = is_open();
  }
  /// Whether the trace has begun.
  bool begun() const { return begun_ && is_open(); }

  /// Samples a tile at the end of a cycle, and with a board's first tile its multicast routers. Called by the worker
  /// that simulates them.
  void sample(unsigned tile, uint64_t cycle) {
    seen_[tile].sample(cycle);
    if (!routers_.empty() && tile % shape_.tiles == 0) routers_[tile / shape_.tiles].sample(cycle);
  }
  /// Events of one tile, and of one host.
  TileTrace& tile(unsigned number) { return seen_[number]; }
  HostTrace& host(unsigned number) { return hosts_[number]; }

  /// Collects all events up to now. Called while no worker runs.
  void collect() {
    for (const auto& [part, event] : in_order()) take(part, *event);
    each_part([](TraceEvents& events) { events.forget(); });
    std::vector<std::pair<unsigned, const TraceEvent*>>().swap(order_);
  }

  /// Ends all spans and writes the file. False if it could not be written completely.
  bool close(uint64_t cycle) {
    if (!file_.is_open()) return true;
    collect();
    for (unsigned t = 0; t < tracks_.size(); ++t) change(t, State{}, cycle);
    messages_->rest([&](const Arrow& arrow) { kept_->add(arrow); });
    write(cycle);
    return file_.close();
  }

  /// A sentence about what the file does not show; empty if it shows everything.
  std::string left_out() const {
    if (!kept_) return {};
    const Lost lost = kept_->lost();
    if (!lost.any()) return {};
    std::string text = "trace: thinned to " + std::to_string((bytes_ + 999'999) / 1'000'000) + " MB: ";
    if (lost.waits) {
      text += with_commas(lost.waits) + " waits shorter than up to " + with_commas(kept_->longest_limit()) +
              " cycles are shown as running";
    }
    if (lost.messages) {
      text += (lost.waits ? ", " : "") + with_commas(lost.messages) + " of " +
              with_commas(kept_->messages()) + " messages are not shown";
    }
    return text;
  }

 private:
  static constexpr size_t kTrackBytes = 64, kNoteBytes = 60'000, kLifeBytes = 120, kCountBytes = 3 * 32;
  static constexpr uint64_t kAbout = 1, kFirstThread = 2;

  /// A thread from its start to its end.
  struct Life {
    uint64_t from = 0, to = 0;
    uint32_t thread = 0;
    const char* how = nullptr;  ///< it ended
  };
  struct Track {
    State state;
    uint64_t since = 0;  ///< when it got into this state
    uint64_t began = 0;
    bool waits() const { return state.doing != Doing::Nothing && state.doing != Doing::Runs; }
  };
  /// Sums since reset.
  struct Count {
    uint64_t cycle = 0, issued = 0, waited = 0, flits = 0;
  };
  struct Counts {
    std::vector<Count> all;
    unsigned waiting = 0;   ///< threads
    uint64_t since = 0;     ///< when that number last changed
    uint64_t waited = 0;    ///< cycles of all threads until then
    uint64_t flits = 0;
    uint32_t last_flits = 0;
    uint64_t skipped = 0;
  };

  // ---- Events ----

  /// Calls `what` with the events of each tile, of each board's routers, and of each host. Causes precede their effects
  /// in the same cycle: a tile's events precede those of a host.
  template <typename What>
  void each_part(What what) {
    for (TileTrace& tile : seen_) what(tile.events());
    for (RouterTrace& board : routers_) what(board.events());
    for (HostTrace& host : hosts_) what(host.events());
  }

  /// All events, sorted by cycle, then by part of the machine.
  const std::vector<std::pair<unsigned, const TraceEvent*>>& in_order() {
    uint64_t first = ~uint64_t{0}, last = 0;
    size_t count = 0;
    each_part([&](const TraceEvents& events) {
      if (events.all().empty()) return;
      first = std::min(first, events.all().front().cycle);
      last = std::max(last, events.all().back().cycle);
      count += events.all().size();
    });
    order_.resize(count);
    if (!count) return order_;
    std::vector<size_t> offset(last - first + 2);
    each_part([&](const TraceEvents& events) {
      for (const TraceEvent& event : events.all()) ++offset[event.cycle - first + 1];
    });
    for (size_t i = 1; i < offset.size(); ++i) offset[i] += offset[i - 1];
    unsigned part = 0;
    each_part([&](const TraceEvents& events) {
      for (const TraceEvent& event : events.all()) order_[offset[event.cycle - first]++] = {part, &event};
      ++part;
    });
    return order_;
  }

  void take(unsigned part, const TraceEvent& event) {
    const auto add = [this](const Arrow& arrow) { kept_->add(arrow); };
    if (part < seen_.size()) return take_tile(part, event, add);
    part -= static_cast<unsigned>(seen_.size());
    if (part < routers_.size()) return messages_->add_router_events(part, event, add);
    const uint32_t host = first_host() + part - static_cast<unsigned>(routers_.size());
    if (event.what == TraceEvent::What::HostSend) return messages_->host_send(host, event);
    add(messages_->host_receive(host, event));
  }

  template <typename Add>
  void take_tile(unsigned tile, const TraceEvent& event, Add add) {
    const uint32_t thread = tile * shape_.threads + event.thread;
    switch (event.what) {
      case TraceEvent::What::State: change(thread, event.state, event.cycle); return;
      case TraceEvent::What::ThreadEnd:
      case TraceEvent::What::Trap:
        change(thread, State{}, event.cycle, event.what == TraceEvent::What::Trap ? "trap" : "ends");
        return;
      case TraceEvent::What::Count: count(tile, event); return;
      default: messages_->add_tile_events(tile, event, add);
    }
  }

  void change(uint32_t thread, const State& now, uint64_t cycle, const char* how = nullptr) {
    Track& track = tracks_[thread];
    Counts& counts = counts_[thread / shape_.threads];
    const State was = track.state;
    const bool waited = track.waits();
    if (was.doing == Doing::Nothing && now.doing != Doing::Nothing) track.began = cycle;
    if (waited) {
      const bool memory = was.doing == Doing::Request &&
                          (was.request == RequestKind::Load || was.request == RequestKind::Store);
      kept_->add(Span{track.since, cycle, description(was), thread, was.pc, memory ? was.address : 0, memory});
    }
    // Its end may be reported later than it stops.
    if (was.doing != Doing::Nothing ? now.doing == Doing::Nothing : how != nullptr) {
      lives_.push_back({was.doing != Doing::Nothing ? track.began : cycle, cycle, thread, how});
      kept_->reserve(kLifeBytes);
    }
    track.state = now;
    track.since = cycle;
    if (track.waits() != waited) {
      counts.waited += counts.waiting * (cycle - counts.since);
      counts.since = cycle;
      counts.waiting += track.waits() ? 1 : -1;
    }
    const bool receives = now.doing == Doing::Request && now.request == RequestKind::Csr &&
                          static_cast<config::Csr>(now.address) == config::Csr::Receive;
    if (receives) kept_->add(messages_->receive(thread, cycle));
  }

  void count(unsigned tile, const TraceEvent& event) {
    Counts& its = counts_[tile];
    its.flits += event.state.data - its.last_flits;
    its.last_flits = event.state.data;
    if (!its.all.empty() && event.cycle - its.all.back().cycle < stride_ * TileTrace::kCount) return;
    its.all.push_back({event.cycle, event.data, its.waited + its.waiting * (event.cycle - its.since), its.flits});
    kept_->reserve(kCountBytes);
    ++counted_;
    if (counted_ * kCountBytes < bytes_ / 8) return;
    // Drops every second count: they are sums, so only time resolution is lost.
    stride_ *= 2;
    size_t left = 0;
    for (Counts& counts : counts_) {
      size_t i = 0;
      std::erase_if(counts.all, [&](const Count&) { return i++ % 2 != 0; });
      left += counts.all.size();
    }
    kept_->release_space((counted_ - left) * kCountBytes);
    counted_ = left;
  }

  // ---- The file ----

  /// An item on a thread's track.
  struct Item {
    enum Kind : uint8_t { End, Receive, Begin, Send, Mark };
    uint64_t time;
    uint32_t thread;
    Kind kind;
    const Span* span;    ///< of a wait; else the thread runs
    const Arrow* arrow;  ///< of Send and Receive
    const char* mark;
  };

  void write(uint64_t cycle) {
    tracks(cycle);
    std::vector<Item> items = runs();
    for (const Window& window : kept_->windows()) {
      for (const Arrow& arrow : window.arrows) {
        if (arrow.sender != kNone) items.push_back({arrow.from, arrow.sender, Item::Send, nullptr, &arrow, nullptr});
        if (arrow.receiver != kNone) {
          items.push_back({arrow.to, arrow.receiver, Item::Receive, nullptr, &arrow, nullptr});
        }
      }
    }
    for (const Life& life : lives_) {
      if (life.how) items.push_back({life.to, life.thread, Item::Mark, nullptr, nullptr, life.how});
    }
    std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
      return a.thread != b.thread ? a.thread < b.thread : a.time != b.time ? a.time < b.time : a.kind < b.kind;
    });
    for (size_t i = 0; i < items.size(); ++i) write(items, i);
    counters();
  }

  void write(const std::vector<Item>& items, size_t& i) {
    const Item& item = items[i];
    const uint64_t track = kFirstThread + item.thread;
    switch (item.kind) {
      case Item::End: file_.end(track, item.time); return;
      case Item::Begin:
        if (item.span) describe(*item.span);
        file_.begin(track, item.time, item.span ? item.span->name : "runs");
        return;
      case Item::Mark: file_.instant(track, item.time, item.mark); return;
      case Item::Receive:
        if (item.arrow->sender != kNone) {
          const uint32_t sender = item.arrow->sender;
          if (sender < first_host()) {
            file_.note("from thread", sender);
          } else {
            file_.note("from host", sender - first_host());
          }
          file_.note("cycles in flight", item.arrow->flight());
          if (item.arrow->alike) file_.note("sender", "one of several that sent the same");
          file_.flow(item.arrow->id, true);
        }
        file_.instant(track, item.time, "receive");
        return;
      case Item::Send:
        file_.address("to", item.arrow->dest);
        // One send may have several receivers.
        for (;; ++i) {
          if (items[i].arrow->receiver != kNone) file_.flow(items[i].arrow->id, false);
          if (i + 1 == items.size() || items[i + 1].kind != Item::Send || items[i + 1].time != item.time ||
              items[i + 1].thread != item.thread) {
            break;
          }
        }
        file_.instant(track, item.time, item.arrow->name);
        return;
    }
  }

  void describe(const Span& span) {
    file_.address("pc", span.pc);
    if (const Symbol* symbol = find(span.pc)) file_.note("function", symbol->name);
    if (span.has_address) file_.address("address", span.address);
  }

  /// The waits of a thread, and the spans between them in which it runs.
  std::vector<Item> runs() {
    std::vector<std::vector<const Span*>> waits(tracks_.size());
    for (const Window& window : kept_->windows()) {
      for (const Span& span : window.spans) waits[span.thread].push_back(&span);
    }
    std::vector<Item> items;
    const auto put = [&items](uint32_t thread, uint64_t from, uint64_t to, const Span* span) {
      if (from >= to) return;
      items.push_back({from, thread, Item::Begin, span, nullptr, nullptr});
      items.push_back({to, thread, Item::End, nullptr, nullptr, nullptr});
    };
    std::vector<size_t> next(tracks_.size());
    for (const Life& life : lives_) {
      uint64_t at = life.from;
      const auto& its = waits[life.thread];
      for (size_t& i = next[life.thread]; i < its.size() && its[i]->to <= life.to; ++i) {
        put(life.thread, at, its[i]->from, nullptr);
        put(life.thread, its[i]->from, its[i]->to, its[i]);
        at = its[i]->to;
      }
      put(life.thread, at, life.to, nullptr);
    }
    return items;
  }

  void tracks(uint64_t cycle) {
    const Lost lost = kept_->lost();
    file_.track(kAbout, "this trace: 1 ns = 1 cycle", {0, 0});
    for (unsigned b = 0; b < shape_.boards; ++b) {
      file_.process(board_track(b), b + 1, "board " + std::to_string(b));
      for (unsigned t = 0; t < shape_.tiles; ++t) {
        const unsigned tile = b * shape_.tiles + t;
        const std::string position = std::to_string(t % shape_.width) + "," + std::to_string(t / shape_.width);
        file_.track(tile_track(tile), "tile " + position, {board_track(b), t});
        file_.counter(tile_track(tile) + 1, "instructions a cycle", "instructions", {tile_track(tile), 0});
        file_.counter(tile_track(tile) + 2, "threads that wait", "threads", {tile_track(tile), 1});
        file_.counter(tile_track(tile) + 3, "flits sent to other tiles a cycle", "flits", {tile_track(tile), 2});
      }
    }
    host_tracks();
    std::vector<bool> lived(tracks_.size());
    for (const Life& life : lives_) lived[life.thread] = true;
    for (unsigned t = 0; t < tracks_.size(); ++t) {
      if (!lived[t]) continue;
      const unsigned here = t % shape_.threads;
      file_.track(kFirstThread + t,
                  "thread " + std::to_string(t) + " (core " + std::to_string(here / shape_.threads_per_core) + ")",
                  {tile_track(t / shape_.threads), 3 + here});
    }
    file_.note("messages sent", messages_->sent());
    file_.note("received from a known sender", messages_->received());
    file_.note("received while others of the same contents were in flight", messages_->alike());
    file_.note("waits shown as running", lost.waits);
    file_.note("messages not shown", lost.messages);
    uint64_t first = cycle;
    for (const Life& life : lives_) first = std::min(first, life.from);
    file_.begin(kAbout, first, lost.any() ? "thinned" : "everything is shown");
    for (const Window& window : kept_->windows()) {
      if (!window.lost.any()) continue;
      if (window.lost.waits) {
        file_.note("shortest wait shown", window.least);
        file_.note("waits shown as running", window.lost.waits);
        file_.note("cycles of these", window.lost.wait_cycles);
      }
      if (window.lost.messages) file_.note("messages not shown", window.lost.messages);
      const uint64_t from = window.number * kept_->length();
      file_.begin(kAbout, std::max(first, from), "thinned here");
      file_.end(kAbout, std::min(cycle, from + kept_->length()));
    }
    file_.end(kAbout, cycle);
  }

  /// Creates tracks for hosts with events.
  void host_tracks() {
    std::vector<bool> talks(hosts_.size());
    for (const Window& window : kept_->windows()) {
      for (const Arrow& arrow : window.arrows) {
        for (const uint32_t end : {arrow.sender, arrow.receiver}) {
          if (end != kNone && end >= first_host()) talks[end - first_host()] = true;
        }
      }
    }
    const uint64_t all = tile_track(shape_.boards * shape_.tiles);
    if (std::find(talks.begin(), talks.end(), true) != talks.end()) file_.process(all, shape_.boards + 1, "hosts");
    for (unsigned h = 0; h < talks.size(); ++h) {
      if (talks[h]) file_.track(kFirstThread + first_host() + h, "host " + std::to_string(h), {all, h});
    }
  }

  void counters() {
    for (unsigned t = 0; t < counts_.size(); ++t) {
      const std::vector<Count>& all = counts_[t].all;
      for (size_t i = 1; i < all.size(); ++i) {
        const auto cycles = static_cast<double>(all[i].cycle - all[i - 1].cycle);
        const auto rate = [&](uint64_t now, uint64_t before) { return static_cast<double>(now - before) / cycles; };
        file_.value(tile_track(t) + 1, all[i - 1].cycle, rate(all[i].issued, all[i - 1].issued));
        file_.value(tile_track(t) + 2, all[i - 1].cycle, rate(all[i].waited, all[i - 1].waited));
        file_.value(tile_track(t) + 3, all[i - 1].cycle, rate(all[i].flits, all[i - 1].flits));
      }
    }
  }

  /// Hosts are numbered after all threads.
  uint32_t first_host() const { return static_cast<uint32_t>(tracks_.size()); }
  uint64_t board_track(unsigned board) const { return kFirstThread + tracks_.size() + hosts_.size() + board; }
  uint64_t tile_track(unsigned tile) const { return board_track(shape_.boards) + 4 * tile; }

  /// The function that contains an address: the last one that begins at or before it.
  const Symbol* find(uint32_t pc) const {
    auto after = std::upper_bound(symbols_.begin(), symbols_.end(), pc,
                                  [](uint32_t value, const Symbol& symbol) { return value < symbol.begin; });
    if (after == symbols_.begin()) return nullptr;
    const Symbol& symbol = *--after;
    return pc < symbol.end ? &symbol : nullptr;
  }

  static std::string with_commas(uint64_t value) {
    std::string text = std::to_string(value);
    for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
    return text;
  }

  perfetto::File file_;
  Shape shape_;
  std::vector<TileTrace> seen_;
  std::vector<RouterTrace> routers_;  ///< by board
  std::vector<HostTrace> hosts_;
  std::vector<std::pair<unsigned, const TraceEvent*>> order_;
  std::vector<Track> tracks_;
  std::vector<Life> lives_;
  std::vector<Counts> counts_;
  std::unique_ptr<Messages> messages_;
  std::unique_ptr<TraceDecimation> kept_;
  std::vector<Symbol> symbols_;
  bool begun_ = false;
  size_t bytes_ = 0;
  size_t counted_ = 0;
  uint64_t stride_ = 1;
};

}  // namespace gossamer::sim
