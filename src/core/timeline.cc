// SPDX-License-Identifier: Apache-2.0
#include "gossamer/core/timeline.h"

#include <algorithm>
#include <exception>
#include <string>

#include "../../sim/host/perfetto.h"
#include "gossamer/core/error.h"

namespace gossamer {

void Timeline::begin(unsigned threads) {
  *this = Timeline();
  work_.resize(threads);
  begin_ = stepped_ = end_ = now();
}

void Timeline::stepped(uint64_t number) {
  const uint64_t time = now();
  steps_.add({stepped_, time, 0, 0, number, GS_TIMELINE_STEP, 0, noPeer, 1});
  stepped_ = time;
}

void Timeline::round(uint64_t from, uint64_t messages) {
  rounds_.add({from, now(), 0, messages, roundCount_++, GS_TIMELINE_ROUND, 0, noPeer, 1});
}

void Timeline::moved(uint32_t kind, unsigned peer, uint64_t bytes) {
  std::vector<uint64_t>& numbers = numbers_[kind == GS_TIMELINE_SEND ? 0 : 1];
  if (numbers.size() <= peer) numbers.resize(peer + 1);
  const uint64_t time = now();
  (kind == GS_TIMELINE_SEND ? sends_ : receives_).add({time, time, 0, bytes, numbers[peer]++, kind, 0, peer, 1});
}

const std::vector<Timeline::Item>& Timeline::items() {
  all_.clear();
  for (const List& list : work_) all_.insert(all_.end(), list.items.begin(), list.items.end());
  for (const List* list : {&steps_, &rounds_, &sends_, &receives_}) {
    all_.insert(all_.end(), list->items.begin(), list->items.end());
  }
  return all_;
}

/// Adds an item to its predecessor if both are of one kind and together shorter than the resolution.
bool Timeline::List::merges(Item& to, const Item& from) const {
  if (to.kind != from.kind || from.end - to.begin >= resolution) return false;
  to.end = from.end;
  to.busy += from.busy;
  to.amount += from.amount;
  to.count += from.count;
  if (to.peer != from.peer) to.peer = noPeer;
  return true;
}

void Timeline::List::coarsen() {
  while (items.size() > most / 2) {
    resolution = resolution ? resolution * 2 : 256;
    size_t kept = 0;
    for (size_t i = 1; i < items.size(); ++i) {
      if (!merges(items[kept], items[i])) items[++kept] = items[i];
    }
    items.resize(kept + 1);
  }
}

}  // namespace gossamer

// ---- The C interface ----

struct gs_timeline : gossamer::Timeline {};

gossamer::Timeline* gossamer::timelineOf(gs_timeline* timeline) { return timeline; }

gs_timeline* gs_timeline_new(void) {
  try {
    return new gs_timeline();
  } catch (const std::exception& error) {
    gossamer::fail("%s", error.what());
    return nullptr;
  }
}

void gs_timeline_free(gs_timeline* timeline) { delete timeline; }

uint64_t gs_timeline_items(gs_timeline* timeline, const gs_timeline_item** items, uint64_t* begin, uint64_t* end) {
  const std::vector<gossamer::Timeline::Item>& all = timeline->items();
  *items = all.data();
  *begin = timeline->beginTime();
  *end = timeline->endTime();
  return all.size();
}

namespace {

namespace perfetto = gossamer::sim::perfetto;

/// Tracks of a rank in the trace: threads first, then these.
enum Extra : unsigned { kSteps, kRounds, kMessages, kDelivered, kExtras };

/// An event of a track; ends precede begins at the same time.
struct Writer {
  perfetto::File file;
  uint64_t zero = 0;

  uint64_t at(uint64_t time) const { return time > zero ? time - zero : 0; }

  void span(uint64_t track, uint64_t from, uint64_t to, const char* name, const gs_timeline_item* item = nullptr) {
    if (to <= from) return;
    if (item && item->kind == GS_TIMELINE_ROUND) file.note("messages", item->amount);
    if (item && item->count > 1) {
      file.note("merged spans", uint64_t{item->count});
      file.note("nanoseconds of them", item->busy);
    }
    file.begin(track, at(from), name);
    file.end(track, at(to));
  }
};

const char* waitName(uint32_t kind) { return kind == GS_TIMELINE_WAIT_RANKS ? "waits for ranks" : "waits for threads"; }

/// The spans of a thread: work and waits, which together cover the run.
void writeThread(Writer& out, uint64_t track, const gs_timeline_rank& rank, uint32_t thread) {
  uint64_t seen = rank.begin;
  for (uint64_t i = 0; i < rank.count; ++i) {
    const gs_timeline_item& item = rank.items[i];
    if (item.track != thread || item.kind > GS_TIMELINE_WAIT_RANKS) continue;
    const bool works = item.kind == GS_TIMELINE_WORK;
    const uint64_t begin = item.begin > seen ? item.begin : seen;
    out.span(track, seen, begin, works ? "waits" : "runs");
    out.span(track, begin, item.end, works ? "runs" : waitName(item.kind), &item);
    if (item.end > seen) seen = item.end;
  }
  out.span(track, seen, rank.end, thread ? "waits" : "runs");
}

/// The number of the arrow between a send and its receive; 0 for a merged mark. The nth buffer that a rank sends to
/// another is the nth that the other receives from it.
uint64_t arrowOf(const gs_timeline_item& item, uint64_t rank) {
  if (item.count != 1 || (item.kind != GS_TIMELINE_SEND && item.kind != GS_TIMELINE_RECEIVE)) return 0;
  const bool sends = item.kind == GS_TIMELINE_SEND;
  const uint64_t from = sends ? rank : item.peer, to = sends ? item.peer : rank;
  return ((from << 16 | to) << 32 | (item.number & 0xffffffff)) + 1;
}

/// The arrows of which both ends are in the trace, ascending.
std::vector<uint64_t> wholeArrows(const gs_timeline_rank* ranks, uint64_t count) {
  std::vector<uint64_t> ends, both;
  for (uint64_t r = 0; r < count; ++r) {
    for (uint64_t i = 0; i < ranks[r].count; ++i) {
      if (const uint64_t arrow = arrowOf(ranks[r].items[i], r)) ends.push_back(arrow);
    }
  }
  std::sort(ends.begin(), ends.end());
  for (size_t i = 1; i < ends.size(); ++i) {
    if (ends[i] == ends[i - 1]) both.push_back(ends[i]);
  }
  return both;
}

void writeRank(Writer& out, uint64_t base, const gs_timeline_rank& rank, unsigned number,
               const std::vector<uint64_t>& arrows) {
  const uint64_t extra = base + 1 + rank.threads;
  for (uint32_t thread = 0; thread < rank.threads; ++thread) {
    out.file.track(base + 1 + thread, "thread " + std::to_string(thread), {base, thread});
    writeThread(out, base + 1 + thread, rank, thread);
  }
  out.file.track(extra + kSteps, "steps", {base, rank.threads + kSteps});
  out.file.track(extra + kRounds, "rounds", {base, rank.threads + kRounds});
  out.file.track(extra + kMessages, "messages", {base, rank.threads + kMessages});
  out.file.counter(extra + kDelivered, "messages delivered a second", "1/s", {base, rank.threads + kDelivered});
  for (uint64_t i = 0; i < rank.count; ++i) {
    const gs_timeline_item& item = rank.items[i];
    if (item.kind == GS_TIMELINE_STEP) {
      const std::string name = "step " + std::to_string(item.number) +
                               (item.count > 1 ? " to " + std::to_string(item.number + item.count - 1) : "");
      out.span(extra + kSteps, item.begin, item.end, name.c_str());
    } else if (item.kind == GS_TIMELINE_ROUND) {
      out.span(extra + kRounds, item.begin, item.end, item.count > 1 ? "rounds" : "round", &item);
      const double seconds = static_cast<double>(item.end - item.begin) * 1e-9;
      out.file.value(extra + kDelivered, out.at(item.begin),
                     seconds > 0 ? static_cast<double>(item.amount) / seconds : 0);
      out.file.value(extra + kDelivered, out.at(item.end), 0);
    } else if (item.kind == GS_TIMELINE_SEND || item.kind == GS_TIMELINE_RECEIVE) {
      const bool sends = item.kind == GS_TIMELINE_SEND;
      out.file.note("bytes", item.amount);
      if (item.count > 1) out.file.note("buffers", uint64_t{item.count});
      if (item.peer != gossamer::Timeline::noPeer) {
        out.file.note("rank", uint64_t{item.peer});
        const uint64_t arrow = arrowOf(item, number);
        if (std::binary_search(arrows.begin(), arrows.end(), arrow)) out.file.flow(arrow, !sends);
      }
      out.file.instant(extra + kMessages, out.at(item.begin), sends ? "send" : "receive");
    }
  }
}

}  // namespace

int gs_timeline_write(const char* path, const char* name, const gs_timeline_rank* ranks, uint64_t count) {
  Writer out;
  if (!out.file.open(path)) return gossamer::fail("%s: cannot be written", path);
  out.zero = ~uint64_t{0};
  for (uint64_t i = 0; i < count; ++i) out.zero = ranks[i].begin < out.zero ? ranks[i].begin : out.zero;
  const std::vector<uint64_t> arrows = wholeArrows(ranks, count);
  uint64_t base = 1;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string title = count > 1 ? std::string(name) + ", rank " + std::to_string(i) : std::string(name);
    out.file.process(base, static_cast<unsigned>(i + 1), title);
    writeRank(out, base, ranks[i], static_cast<unsigned>(i), arrows);
    base += 1 + ranks[i].threads + kExtras;
  }
  return out.file.close() ? 0 : gossamer::fail("%s: cannot be written", path);
}
