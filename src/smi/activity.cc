// SPDX-License-Identifier: Apache-2.0
#include "activity.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <tuple>

#include "activity_trace.h"
#include "hardware.h"
#include "interrupt.h"
#include "programs.h"

namespace gossamer::smi {

ActivityOptions activityOptions;

namespace {

/// Names of kinds of waits in JSON, from `push` on.
constexpr const char* waitNames[] = {"push", "pop", "collective", "barrier", "write", "read", "memory", "other"};
static_assert(std::size(waitNames) + 1 == waitKinds);
/// Kinds of collective.h.
constexpr const char* collectiveNames[] = {"Bcast", "Reduce", "Scatter", "Gather", "Allreduce", "Allgather", "Barrier"};
constexpr std::size_t mostBins = 2048, mostReportedBins = 256;
/// Cycles between two looks at the clock of the machine, and seconds between two snapshots.
constexpr std::uint64_t clockCycles = 256;
constexpr double snapshotSeconds = 0.25;

/// Numbers of link_counter.
enum Counter { txFrames, txBytes, txPackets, resends, rxFrames, rxBytes, rxPackets, damaged, dropped, stalls };

struct LinkActivity {
  int board = 0, link = 0;
  bool up = true;
  std::array<std::uint64_t, 12> sums{};
  std::array<std::uint32_t, 12> last{};
  Series bytes;  ///< sent, with the overhead of frames
};

const GsFabric* boards = nullptr;
std::vector<Series*> allSeries;  ///< never deleted
std::uint64_t binLength = 64;
std::vector<KernelActivity*> kernels;
std::map<std::tuple<int, int, int>, std::unique_ptr<ChannelActivity>> channels;  ///< by port, source, destination
std::map<std::pair<int, int>, std::unique_ptr<CollectiveActivity>> collectives;  ///< by port, rank
std::vector<std::unique_ptr<LinkActivity>> links;
std::unique_ptr<ActivityTrace> trace;
std::string statusFile;
double lastSnapshot = 0;
std::uint64_t nextClock = 0, nextLinks = 0;

std::uint64_t cycleNow() { return now - 1; }

double seconds() {
  timespec at{};
  clock_gettime(CLOCK_REALTIME, &at);
  return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) * 1e-9;
}

unsigned long long number(std::uint64_t value) { return value; }

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

/// A JSON array of objects, by a function that returns one.
template <class All, class Text>
std::string array(const char* name, const All& all, Text text) {
  std::string out = format("\"%s\":[", name);
  for (const auto& one : all) {
    if (out.back() != '[') out += ',';
    out += text(one);
  }
  return out + "]";
}

// ---- Links ----

void sampleLinks() {
  int count = 0;
  const GsLink* found = boards->links(&count);
  const bool first = links.empty();
  for (int at = 0; at < count; ++at) {
    const GsLink& one = found[at];
    if (first) {
      links.push_back(std::make_unique<LinkActivity>());
      links.back()->board = one.board;
      links.back()->link = one.link;
    }
    LinkActivity& link = *links[static_cast<std::size_t>(at)];
    link.up = one.up;
    std::array<std::uint64_t, 12> more{};
    for (std::size_t counter = 0; counter < more.size() && !first; ++counter) {
      // Counters have 32 bits and wrap around.
      more[counter] = one.counters[counter] - link.last[counter];
      link.sums[counter] += more[counter];
    }
    std::copy_n(one.counters, more.size(), link.last.begin());
    const std::uint64_t sent = more[txBytes] + activityOptions.frameOverhead * more[txFrames];
    if (sent) link.bytes.add(cycleNow() - 1, sent);
  }
}

std::string linkName(int board, int link) {
  for (const ActivityOptions::LinkName& one : activityOptions.links) {
    if (one.board == board && one.link == link) return one.name;
  }
  return format("link %d", link);
}

// ---- JSON ----

std::string seriesJson(const Series& series, std::size_t step) {
  std::string out = ",\"series\":[";
  const std::vector<std::uint64_t>& bins = series.bins();
  for (std::size_t bin = 0; bin < bins.size(); bin += step) {
    std::uint64_t sum = 0;
    for (std::size_t part = bin; part < std::min(bins.size(), bin + step); ++part) sum += bins[part];
    out += format(bin ? ",%llu" : "%llu", number(sum));
  }
  return out + "]";
}

std::string waitsJson(const KernelActivity& one) {
  std::string out = "\"waits\":[";
  for (std::size_t kind = 1; kind < waitKinds; ++kind) {
    std::uint64_t cycles = one.waits[kind];
    // The present wait
    if (one.kind == static_cast<WaitKind>(kind) && one.fiber->waits) cycles += cycleNow() - one.since;
    out += format(kind > 1 ? ",%llu" : "%llu", number(cycles));
  }
  return out + "]";
}

std::string siteJson(CallSite site) {
  const CodeLocation at = locate(site);
  return format("[%d,%llu]", at.program, number(at.offset));
}

std::string kernelJson(const KernelActivity& one, std::size_t step) {
  const Fiber& fiber = *one.fiber;
  const bool waits = fiber.waits && one.kind != WaitKind::none;
  std::string out = format("{\"rank\":%d,\"name\":%s,\"daemon\":%s,\"begin\":%llu,\"end\":%llu,\"now\":\"%s\",%s",
                           fiber.rank->index, quoted(fiber.name).c_str(), fiber.daemon ? "true" : "false",
                           number(one.begin), number(fiber.done ? one.end : cycleNow()),
                           fiber.done ? "ended"
                           : waits    ? waitNames[static_cast<std::size_t>(one.kind) - 1]
                                      : "runs",
                           waitsJson(one).c_str());
  if (!step) return out + "}";
  out +=
      "," + array("places", one.places, [](const KernelActivity::Place& place) {
        return format("{\"site\":%s,\"kind\":\"%s\",\"waits\":%llu,\"cycles\":%llu}", siteJson(place.site).c_str(),
                      waitNames[static_cast<std::size_t>(place.kind) - 1], number(place.waits), number(place.cycles));
      });
  return out + seriesJson(one.waiting, step) + "}";
}

std::string channelJson(const ChannelActivity& one, std::size_t step) {
  const PortActivity &sent = one.sent, &received = one.received;
  std::string out = format("{\"port\":%d,\"from\":%d,\"to\":%d,\"type\":\"%s\"", one.port, one.source, one.destination,
                           typeName(one.type));
  out += format(",\"messages_sent\":%llu,\"sent\":%llu,\"send_opening\":%llu,\"stalled\":%llu", number(sent.messages),
                number(sent.elements), number(sent.opening), number(sent.stalled));
  out += format(",\"messages_received\":%llu,\"received\":%llu,\"receive_opening\":%llu,\"empty\":%llu,\"full\":%llu",
                number(received.messages), number(received.elements), number(received.opening),
                number(received.stalled), number(received.full));
  return out + (step ? seriesJson(one.delivered, step) : "") + "}";
}

std::string collectiveJson(const CollectiveActivity& one, std::size_t step) {
  std::string out = format("{\"port\":%d,\"rank\":%d,\"kind\":\"%s\",\"type\":\"%s\",\"opened\":%llu,\"cycles\":%llu",
                           one.port, one.rank, collectiveNames[one.kind], typeName(one.type), number(one.opened),
                           number(one.busy + (one.open ? cycleNow() - one.since : 0)));
  out += format(",\"pushed\":%llu,\"popped\":%llu,\"opening\":%llu,\"stalled\":%llu,\"empty\":%llu,\"full\":%llu",
                number(one.pushed.elements), number(one.popped.elements), number(one.pushed.opening),
                number(one.pushed.stalled), number(one.popped.stalled), number(one.popped.full));
  return out + (step ? seriesJson(one.moved, step) : "") + "}";
}

std::string linkJson(const LinkActivity& one, std::size_t step) {
  std::string out = format("{\"board\":%d,\"link\":%d,\"up\":%s", one.board, one.link, one.up ? "true" : "false");
  const auto add = [&](const char* name, Counter counter) {
    out += format(",\"%s\":%llu", name, number(one.sums[counter]));
  };
  add(step ? "tx_bytes" : "bytes_out", txBytes);
  add(step ? "tx_packets" : "packets_out", txPackets);
  add("resends", resends);
  add(step ? "rx_bytes" : "bytes_in", rxBytes);
  add("damaged", damaged);
  add("stalls", stalls);
  if (!step) return out + "}";
  add("tx_frames", txFrames);
  add("rx_frames", rxFrames);
  add("rx_packets", rxPackets);
  add("dropped", dropped);
  return out + seriesJson(one.bytes, step) + "}";
}

/// Kernels, channels, collectives and links; `step`: for the report, with that many bins of series as one, else 0.
std::string allJson(std::size_t step) {
  countSkippedStalls();
  std::string out = array("waits", waitNames, [](const char* name) { return quoted(name); });
  out += "," + array("kernels", kernels, [&](const KernelActivity* one) { return kernelJson(*one, step); });
  out += "," + array("channels", channels, [&](const auto& one) { return channelJson(*one.second, step); });
  out += "," + array("collectives", collectives, [&](const auto& one) { return collectiveJson(*one.second, step); });
  return out + "," + array("links", links, [&](const auto& one) { return linkJson(*one, step); });
}

// ---- Snapshots ----

/// Replaces the file of snapshots. Failure is ignored.
void writeSnapshot() {
  if (boards->links) sampleLinks();
  std::string text = "{" + activityOptions.about + ",";
  text += format("\"pid\":%d,\"state\":\"runs\",\"time\":%.3f,\"first\":1,\"cycle\":%llu,", static_cast<int>(getpid()),
                 seconds(), number(now));
  text += "\"board_tiles\":0,\"width\":0,\"threads\":0,\"cores\":0,\"shares\":[],\"tiles\":[],";
  text += allJson(0) + "}";
  const std::string partial = statusFile + ".part";
  std::FILE* file = std::fopen(partial.c_str(), "wb");
  if (!file) return;
  const bool good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) || !good || std::rename(partial.c_str(), statusFile.c_str())) unlink(partial.c_str());
}

void removeSnapshot() {
  if (statusFile.empty()) return;
  unlink(statusFile.c_str());
  unlink((statusFile + ".part").c_str());
  statusFile.clear();
}

// ---- The trace ----

void endPort(PortActivity& port, std::uint64_t end, const ChannelActivity& channel) {
  if (trace) {
    trace->message(port.track, port.since, end, format("%llu %s", number(port.count), typeName(channel.type)),
                   port.site, port.done);
  }
  port.open = false;
}

/// Ends all that is in progress.
void endAll() {
  for (KernelActivity* kernel : kernels) {
    if (kernel->fiber->done) continue;
    if (const Waitable* what = kernel->fiber->waits) waitEnded(*kernel, *what);
    kernelEnds(*kernel);
  }
  for (const auto& [key, channel] : channels) {
    for (PortActivity* port : {&channel->sent, &channel->received}) {
      if (port->open) endPort(*port, cycleNow(), *channel);
    }
    for (const std::uint64_t departure : channel->departures) {
      if (trace) trace->arrow(departure, departure, 0, channel->sent.track, sim::kNone);
    }
  }
  for (const auto& [key, collective] : collectives) {
    if (collective->open) collectiveEnds(*collective, cycleNow());
  }
}

void addCurves() {
  for (const auto& link : links) {
    const double rate = activityOptions.linkBytes;
    trace->curve(link->board, linkName(link->board, link->link) + (rate > 0 ? ": share of the line" : ""),
                 rate > 0 ? "%" : "bytes", link->bytes, rate > 0 ? 100 / rate : 1);
  }
  for (const auto& [key, channel] : channels) {
    trace->curve(channel->destination, format("port %d from rank %d: elements a cycle", channel->port, channel->source),
                 "elements", channel->delivered, 1);
  }
  for (const auto& [key, collective] : collectives) {
    if (collective->moved.bins().empty()) continue;  // a barrier
    trace->curve(collective->rank,
                 format("%s, port %d: elements a cycle", collectiveNames[collective->kind], collective->port),
                 "elements", collective->moved, 1);
  }
}

}  // namespace

// ---- Series ----

Series::Series() { allSeries.push_back(this); }

std::uint64_t Series::binCycles() { return binLength; }

void Series::coarsen() {
  binLength *= 2;
  for (Series* series : allSeries) {
    std::vector<std::uint64_t>& bins = series->bins_;
    for (std::size_t bin = 0; bin < bins.size(); ++bin) {
      if (bin % 2) {
        bins[bin / 2] += bins[bin];
      } else {
        bins[bin / 2] = bins[bin];
      }
    }
    bins.resize((bins.size() + 1) / 2);
  }
}

void Series::add(std::uint64_t cycle, std::uint64_t amount) {
  while (cycle / binLength >= mostBins) coarsen();
  const std::size_t bin = cycle / binLength;
  if (bin >= bins_.size()) bins_.resize(bin + 1);
  bins_[bin] += amount;
}

void Series::addEach(std::uint64_t from, std::uint64_t to) {
  while (from < to) {
    // A longer run may make bins longer, which keeps their limits.
    add(from, 0);
    const std::uint64_t until = std::min(to, (from / binLength + 1) * binLength);
    add(from, until - from);
    from = until;
  }
}

// ---- Recording ----

void beginActivity(const GsFabric& fabric) {
  boards = &fabric;
  if (!activityOptions.trace.empty()) {
    trace = std::make_unique<ActivityTrace>(activityOptions.leastWait, activityOptions.traceBytes);
  }
  if (boards->links) sampleLinks();
  if (!activityOptions.statusFolder.empty()) {
    statusFile = activityOptions.statusFolder + format("/%d.json", static_cast<int>(getpid()));
  }
}

void dropActivity() {
  removeSnapshot();
  boards = nullptr;
}

void activityCycle() {
  if (!boards) return;
  const std::uint64_t cycle = cycleNow();
  if (cycle >= nextLinks && boards->links) {
    sampleLinks();
    nextLinks = (cycle / binLength + 1) * binLength;
  }
  if (cycle < nextClock || statusFile.empty()) return;
  nextClock = cycle + clockCycles;
  const double at = seconds();
  if (at - lastSnapshot < snapshotSeconds) return;
  lastSnapshot = at;
  writeSnapshot();
}

KernelActivity* kernelStarts(Fiber& fiber) {
  if (!boards) return nullptr;
  // Never deleted: series are registered.
  auto* kernel = new KernelActivity;
  kernel->fiber = &fiber;
  kernel->begin = cycleNow();
  if (trace) kernel->track = trace->track(fiber.rank->index, ActivityTrace::Group::kernels, fiber.name);
  kernels.push_back(kernel);
  return kernel;
}

void kernelEnds(KernelActivity& kernel) {
  kernel.end = cycleNow();
  if (trace) trace->life(kernel.track, kernel.begin, kernel.end);
}

void waitEnded(KernelActivity& kernel, const Waitable& what) {
  const WaitKind kind = kernel.kind;
  kernel.kind = WaitKind::none;
  const std::uint64_t cycle = cycleNow();
  if (kind == WaitKind::none || kernel.since == cycle) return;
  const std::uint64_t cycles = cycle - kernel.since;
  kernel.waits[static_cast<std::size_t>(kind)] += cycles;
  kernel.waiting.addEach(kernel.since, cycle);
  const CallSite site = kernel.fiber->site;
  auto place = std::find_if(kernel.places.begin(), kernel.places.end(),
                            [&](const KernelActivity::Place& one) { return one.site == site && one.kind == kind; });
  if (place == kernel.places.end()) place = kernel.places.insert(place, {site, kind, 0, 0});
  ++place->waits;
  place->cycles += cycles;
  if (trace) trace->wait(kernel.track, kernel.since, cycle, what.label(kind), site);
}

ChannelActivity& channelActivity(int source, int destination, int port, int type) {
  std::unique_ptr<ChannelActivity>& found = channels[{port, source, destination}];
  if (!found) {
    found = std::make_unique<ChannelActivity>();
    found->source = source;
    found->destination = destination;
    found->port = port;
    if (trace) {
      const auto group = ActivityTrace::Group::channels;
      found->sent.track = trace->track(source, group, format("port %d to rank %d", port, destination));
      found->received.track = trace->track(destination, group, format("port %d from rank %d", port, source));
    }
  }
  found->type = type;
  return *found;
}

CollectiveActivity& collectiveActivity(int rank, int port, int kind, int type) {
  std::unique_ptr<CollectiveActivity>& found = collectives[{port, rank}];
  if (!found) {
    found = std::make_unique<CollectiveActivity>();
    found->rank = rank;
    found->port = port;
    found->kind = kind;
    if (trace) {
      found->track =
          trace->track(rank, ActivityTrace::Group::collectives, format("%s, port %d", collectiveNames[kind], port));
    }
  }
  found->type = type;
  return *found;
}

void messageBegins(ChannelActivity& channel, bool receives, std::uint64_t count, CallSite site, std::uint64_t cycle) {
  PortActivity& port = receives ? channel.received : channel.sent;
  ++port.messages;
  port.open = true;
  port.since = cycle;
  port.count = count;
  port.done = 0;
  port.site = site;
}

void elementPasses(ChannelActivity& channel, bool receives) {
  PortActivity& port = receives ? channel.received : channel.sent;
  const std::uint64_t cycle = cycleNow();
  ++port.elements;
  if (!port.done++) {
    if (!receives) {
      channel.departures.push_back(cycle);
    } else if (!channel.departures.empty()) {
      // Messages arrive in the order in which they were sent.
      const auto key = static_cast<std::uint64_t>(channel.received.track) + 1;
      if (trace) {
        trace->arrow(channel.departures.front(), cycle, key << 32 | ++channel.number, channel.sent.track,
                     channel.received.track);
      }
      channel.departures.pop_front();
    }
  }
  if (receives) channel.delivered.add(cycle, 1);
  if (port.done == port.count) endPort(port, cycle + 1, channel);
}

void collectiveBegins(CollectiveActivity& collective, std::uint64_t elements, CallSite site, std::uint64_t cycle) {
  ++collective.opened;
  collective.open = true;
  collective.since = cycle;
  collective.elements = elements;
  collective.site = site;
}

void collectiveEnds(CollectiveActivity& collective, std::uint64_t cycle) {
  collective.busy += cycle - collective.since;
  collective.open = false;
  if (!trace) return;
  trace->message(collective.track, collective.since, cycle, collectiveNames[collective.kind], collective.site,
                 collective.elements);
}

std::string endActivity(bool reported) {
  if (!boards) return {};
  // A signal that ends the process waits until the trace is complete.
  const HeldSignals held;
  removeSnapshot();
  if (boards->links) sampleLinks();
  endAll();
  std::size_t step = 1;
  while (cycleNow() / (step * binLength) >= mostReportedBins) step *= 2;
  std::string out = format(",\"activity\":{\"bin\":%llu,", number(step * binLength)) + allJson(step) + "}";
  if (trace) {
    addCurves();
    const bool good = trace->write(activityOptions.trace, cycleNow());
    out += format(",\"trace\":%s,\"note\":%s", good ? "true" : "false", quoted(trace->omitted()).c_str());
  }
  boards = nullptr;
  return reported ? out : std::string();
}

}  // namespace gossamer::smi
