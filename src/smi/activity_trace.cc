// SPDX-License-Identifier: Apache-2.0
#include "activity_trace.h"

#include <algorithm>
#include <cstdio>

#include "programs.h"

namespace gossamer::smi {

namespace {

constexpr std::uint64_t aboutId = 1;
constexpr std::size_t trackBytes = 96, valueBytes = 32, noteBytes = 60'000;
constexpr const char* groupNames[] = {"kernels", "channels", "collectives"};
constexpr unsigned groups = 3, firstCurve = 3;
/// Of the largest size of the file, the shares of waits and of messages; the rest is for tracks and curves.
constexpr std::uint64_t waitShare = 45, messageShare = 35;

std::string withCommas(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

}  // namespace

/// An item on a track.
struct ActivityTrace::Item {
  enum Kind : std::uint8_t { end, receive, begin, send };
  std::uint64_t time;
  std::uint32_t track;
  Kind kind;
  std::uint64_t length;   ///< of a span that begins
  const sim::Span* span;  ///< null: the kernel runs
  const sim::Arrow* arrow;
};

ActivityTrace::ActivityTrace(std::uint64_t least, std::uint64_t bytes)
    : bytes_(bytes), waits_(least, bytes / 100 * waitShare), messages_(0, bytes / 100 * messageShare) {}

std::uint32_t ActivityTrace::track(int board, Group group, const std::string& name) {
  boards_ = std::max(boards_, board + 1);
  tracks_.push_back({board, group, name});
  pending_.emplace_back();
  return static_cast<std::uint32_t>(tracks_.size() - 1);
}

const char* ActivityTrace::keep(const std::string& name) { return names_.insert(name).first->c_str(); }

std::uint32_t ActivityTrace::keep(CallSite site) {
  const auto [at, isNew] = siteNumbers_.try_emplace(site, static_cast<std::uint32_t>(siteAddresses_.size()));
  if (isNew) siteAddresses_.push_back(site);
  return at->second;
}

void ActivityTrace::flush(sim::Span& pending) {
  // Waits that are too short to be shown count as running.
  if (pending.name) waits_.add(pending);
  pending.name = nullptr;
}

void ActivityTrace::wait(std::uint32_t track, std::uint64_t from, std::uint64_t to, const std::string& name,
                         CallSite site) {
  sim::Span& pending = pending_[track];
  const std::uint32_t number = keep(site);
  if (pending.name && pending.to == from && pending.pc == number && pending.name == name) {
    pending.to = to;
    return;
  }
  flush(pending);
  pending = {from, to, keep(name), track, number, 0, false};
}

void ActivityTrace::life(std::uint32_t track, std::uint64_t from, std::uint64_t to) {
  flush(pending_[track]);
  lives_.push_back({track, from, to});
}

void ActivityTrace::message(std::uint32_t track, std::uint64_t from, std::uint64_t to, const std::string& name,
                            CallSite site, std::uint64_t elements) {
  messages_.add(sim::Span{from, to, keep(name), track, keep(site),
                          static_cast<std::uint32_t>(std::min<std::uint64_t>(elements, ~0u)), true});
}

void ActivityTrace::arrow(std::uint64_t from, std::uint64_t to, std::uint64_t id, std::uint32_t sender,
                          std::uint32_t receiver) {
  sim::Arrow arrow;
  arrow.from = from;
  arrow.to = to;
  arrow.id = id;
  arrow.sender = sender;
  arrow.receiver = receiver;
  messages_.add(arrow);
}

void ActivityTrace::curve(int board, const std::string& name, const std::string& unit, const Series& series,
                          double scale) {
  boards_ = std::max(boards_, board + 1);
  curves_.push_back({board, name, unit, &series, scale});
}

std::uint64_t ActivityTrace::groupId(int board, unsigned group) const {
  return boardId(boards_) + static_cast<std::uint64_t>(board) * groups + group;
}

std::uint64_t ActivityTrace::trackId(std::uint32_t track) const { return groupId(boards_, 0) + track; }

std::uint64_t ActivityTrace::curveId(std::size_t curve) const {
  return trackId(static_cast<std::uint32_t>(tracks_.size())) + curve;
}

bool ActivityTrace::write(const std::string& path, std::uint64_t end) {
  const std::string partial = path + ".tmp";
  if (!file_.open(partial.c_str())) return false;
  for (sim::Span& pending : pending_) flush(pending);
  for (const CallSite site : siteAddresses_) sites_.push_back(sourceLine(site));
  writeTracks(end);
  writeItems();
  writeCurves(end);
  return file_.close() && std::rename(partial.c_str(), path.c_str()) == 0;
}

std::string ActivityTrace::omitted() const {
  const sim::Lost waits = waits_.lost(), messages = messages_.lost();
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (waits.waits) {
    add(withCommas(waits.waits) + " waits shorter than up to " + withCommas(waits_.longest_limit()) +
        " cycles are shown as running");
  }
  if (messages.waits) add(withCommas(messages.waits) + " ends of messages and collectives are not shown");
  if (messages.messages) add(withCommas(messages.messages) + " arrows are not shown");
  if (text.empty()) return text;
  return "trace: thinned to " + withCommas((bytes_ + 999'999) / 1'000'000) + " MB: " + text;
}

void ActivityTrace::describe(const sim::Span& span, bool elements) {
  if (elements) file_.note("elements", std::uint64_t{span.address});
  if (!sites_[span.pc].empty()) file_.note("call", sites_[span.pc]);
}

void ActivityTrace::writeTracks(std::uint64_t end) {
  file_.track(aboutId, "this trace: 1 ns = 1 cycle", {0, 0});
  std::vector<bool> used(static_cast<std::size_t>(boards_) * groups);
  for (const Track& one : tracks_) {
    used[static_cast<std::size_t>(one.board) * groups + static_cast<std::size_t>(one.group)] = true;
  }
  for (int board = 0; board < boards_; ++board) {
    const auto at = static_cast<std::size_t>(board);
    std::string name = "rank " + std::to_string(board);
    if (board >= static_cast<int>(ranks.size())) name = "no rank";
    if (at < activityOptions.boards.size()) name += ", board " + activityOptions.boards[at];
    file_.process(boardId(board), static_cast<unsigned>(board) + 1, name);
    for (unsigned group = 0; group < groups; ++group) {
      if (used[at * groups + group]) file_.track(groupId(board, group), groupNames[group], {boardId(board), group});
    }
  }
  for (std::size_t at = 0; at < tracks_.size(); ++at) {
    const Track& one = tracks_[at];
    const auto number = static_cast<std::uint32_t>(at);
    file_.track(trackId(number), one.name, {groupId(one.board, static_cast<unsigned>(one.group)), number});
  }
  for (std::size_t at = 0; at < curves_.size(); ++at) {
    const Curve& one = curves_[at];
    file_.counter(curveId(at), one.name, one.unit, {boardId(one.board), firstCurve + static_cast<unsigned>(at)});
  }
  const sim::Lost waits = waits_.lost(), messages = messages_.lost();
  file_.note("waits shown as running", waits.waits);
  file_.note("messages not shown", messages.waits);
  file_.note("arrows not shown", messages.messages);
  file_.begin(aboutId, 0, waits.any() || messages.any() ? "thinned" : "everything is shown");
  file_.end(aboutId, end);
}

void ActivityTrace::writeItems() {
  std::vector<Item> items;
  const auto put = [&items](std::uint32_t track, std::uint64_t from, std::uint64_t to, const sim::Span* span) {
    items.push_back({from, track, Item::begin, to - from, span, nullptr});
    items.push_back({to, track, Item::end, 0, span, nullptr});
  };
  // Waits of a kernel, and between them the time in which it runs
  std::vector<std::vector<const sim::Span*>> waits(tracks_.size());
  for (const sim::Window& window : waits_.windows()) {
    for (const sim::Span& span : window.spans) waits[span.thread].push_back(&span);
  }
  for (const Life& life : lives_) {
    std::uint64_t at = life.from;
    for (const sim::Span* span : waits[life.track]) {
      if (at < span->from) put(life.track, at, span->from, nullptr);
      put(life.track, span->from, span->to, span);
      at = span->to;
    }
    if (at < life.to) put(life.track, at, life.to, nullptr);
  }
  for (const sim::Window& window : messages_.windows()) {
    for (const sim::Span& span : window.spans) put(span.thread, span.from, span.to, &span);
    for (const sim::Arrow& arrow : window.arrows) {
      items.push_back({arrow.from, arrow.sender, Item::send, 0, nullptr, &arrow});
      if (arrow.receiver != sim::kNone) {
        items.push_back({arrow.to, arrow.receiver, Item::receive, 0, nullptr, &arrow});
      }
    }
  }
  // Spans of a track do not overlap, so the end of a span without cycles directly follows its begin.
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return a.track != b.track ? a.track < b.track : a.time < b.time;
  });
  for (const Item& item : items) {
    const std::uint64_t track = trackId(item.track);
    switch (item.kind) {
      case Item::end: file_.end(track, item.time); break;
      case Item::begin:
        if (item.span) describe(*item.span, item.span->has_address);
        file_.begin(track, item.time, item.span ? item.span->name : "runs");
        break;
      case Item::send:
        if (item.arrow->receiver != sim::kNone) file_.flow(item.arrow->id, false);
        file_.instant(track, item.time, "first element leaves");
        break;
      case Item::receive:
        file_.note("cycles in flight", item.arrow->flight());
        file_.flow(item.arrow->id, true);
        file_.instant(track, item.time, "first element arrives");
        break;
    }
  }
}

void ActivityTrace::writeCurves(std::uint64_t end) {
  const std::uint64_t space = bytes_ / 100 * (100 - waitShare - messageShare);
  std::size_t values = 0;
  for (const Curve& one : curves_) values += one.series->bins().size() + 1;
  const std::uint64_t fixed = trackBytes * (tracks_.size() + curves_.size()) + noteBytes;
  const std::uint64_t most = std::max<std::uint64_t>(1, (space > fixed ? space - fixed : 0) / valueBytes);
  std::size_t step = 1;
  while (step * most < values) step *= 2;
  for (std::size_t at = 0; at < curves_.size(); ++at) {
    const Curve& one = curves_[at];
    const std::vector<std::uint64_t>& bins = one.series->bins();
    std::uint64_t begin = 0;
    for (std::size_t bin = 0; bin < bins.size(); bin += step) {
      std::uint64_t sum = 0;
      for (std::size_t part = bin; part < std::min(bin + step, bins.size()); ++part) sum += bins[part];
      begin = bin * Series::binCycles();
      const std::uint64_t until = std::min(end, (bin + step) * Series::binCycles());
      if (begin >= until) break;
      file_.value(curveId(at), begin, static_cast<double>(sum) * one.scale / static_cast<double>(until - begin));
    }
    const std::uint64_t last =
        std::min<std::uint64_t>(end, (bins.size() + step - 1) / step * step * Series::binCycles());
    file_.value(curveId(at), last, 0);
  }
}

}  // namespace gossamer::smi
