// SPDX-License-Identifier: Apache-2.0
/// Records between processes, and the termination of a run of several processes.
///
/// Process 0 queries all others in waves; each replies with its status once it has nothing to do. All messages have
/// arrived and the run is quiescent if two successive waves find every process idle, and as many messages received as
/// sent, with the same number in both (Mattern's four-counter method). No timeouts are involved.
#include "processes.h"

#include <dlfcn.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "gossamer/distributed/transport.h"
#include "hardware.h"
#include "interrupt.h"
#include "programs.h"

namespace gossamer::smi {

int process = 0, processes = 1;

namespace {

enum class Kind : std::uint8_t { records, query, status, stop, settle, fence, deadlock };

/// A message that exceeds this size accepts no further record.
constexpr std::size_t mostBytes = 1 << 20;

struct Out {
  std::string records;  ///< for the next message, after its kind; empty if there are none
  std::deque<std::string> messages;
  bool sending = false;       ///< the first message is being sent
  std::uint64_t request = 0;  ///< of this send
};

struct Status {
  std::uint64_t sent, received;
  std::int32_t unfinished, settling, idle;
};

struct DeferredRecord {
  Record record;
  std::vector<std::uint8_t> fields;
};

constexpr int kTag = 1;

const gs_ranks* mpi = nullptr;
std::vector<Out> outs;
std::uint64_t sent = 0, received = 0;  ///< messages of records
std::vector<DeferredRecord> deferred;
bool retry = false;  ///< of the deferred records
bool queried = false, stopped = false;
int fences = 0;
// Only in process 0:
bool waveOpen = false;
int statuses = 0;
Status sum{}, previous{};
bool hasPrevious = false;

void close(Out& out) {
  if (out.records.empty()) return;
  out.messages.push_back(std::move(out.records));
  out.records.clear();
  ++sent;
}

void advanceSend(int to) {
  Out& out = outs[static_cast<std::size_t>(to)];
  for (;;) {
    if (out.sending) {
      if (!mpi->sent(out.request)) return;
      out.messages.pop_front();
      out.sending = false;
    }
    if (out.messages.empty()) return;
    out.request = mpi->send(to, kTag, out.messages.front().data(), out.messages.front().size());
    out.sending = true;
  }
}

bool advanceAllSends() {
  bool done = true;
  for (int to = 0; to < processes; ++to) {
    advanceSend(to);
    done = done && outs[static_cast<std::size_t>(to)].messages.empty();
  }
  return done;
}

void control(int to, Kind kind, const void* more = nullptr, std::size_t size = 0) {
  std::string message(1, static_cast<char>(kind));
  if (size) message.append(static_cast<const char*>(more), size);
  Out& out = outs[static_cast<std::size_t>(to)];
  close(out);
  out.messages.push_back(std::move(message));
}

void controlAll(Kind kind) {
  for (int to = 0; to < processes; ++to) {
    if (to != process) control(to, kind);
  }
}

bool apply(Record record, Reader& in) {
  switch (record) {
    case Record::streamBound:
    case Record::streamDegree:
    case Record::streamElements:
    case Record::streamTaken: applyStreamRecord(record, in); return true;
    case Record::splitGiven: return applySplitRecord(in);
    default: return applyCollectiveRecord(record, in);
  }
}

void retryDeferred() {
  while (retry) {
    retry = false;
    std::vector<DeferredRecord> retried;
    retried.swap(deferred);
    for (DeferredRecord& one : retried) {
      Reader in(one.fields.data(), one.fields.data() + one.fields.size());
      if (!apply(one.record, in)) deferred.push_back(std::move(one));
    }
  }
}

void handleMessage(const std::vector<std::uint8_t>& bytes) {
  Reader in(bytes.data(), bytes.data() + bytes.size());
  switch (in.get<Kind>()) {
    case Kind::records: {
      ++received;
      while (in.more()) {
        const auto record = in.get<Record>();
        const std::uint8_t* fields = in.at();
        if (!apply(record, in)) deferred.push_back({record, {fields, in.at()}});
        retryDeferred();
      }
      break;
    }
    case Kind::query: queried = true; break;
    case Kind::status: {
      const auto status = in.get<Status>();
      ++statuses;
      sum.sent += status.sent;
      sum.received += status.received;
      sum.unfinished += status.unfinished;
      sum.settling += status.settling;
      sum.idle += status.idle;
      break;
    }
    case Kind::stop: stopped = true; break;
    case Kind::settle: wakeSettled(); break;
    case Kind::fence: ++fences; break;
    case Kind::deadlock: deadlock();
  }
}

Status own(bool idle) { return {sent, received, unfinishedHere(), settlingHere(), idle}; }

/// Evaluates a complete wave, in process 0.
void evaluateWave(bool idle) {
  const Status mine = own(idle);
  const Status now{sum.sent + mine.sent, sum.received + mine.received, sum.unfinished + mine.unfinished,
                   sum.settling + mine.settling, sum.idle + mine.idle};
  waveOpen = false;
  if (!now.unfinished) {
    controlAll(Kind::stop);
    stopped = true;
    return;
  }
  const bool quiescent = now.idle == processes && now.sent == now.received;
  const bool stable = quiescent && hasPrevious && previous.sent == now.sent;
  if (stable && allSettle(now.unfinished, now.settling)) {
    controlAll(Kind::settle);
    hasPrevious = false;
    return;
  }
  if (stable) {
    controlAll(Kind::deadlock);
    while (!advanceAllSends()) ::sched_yield();
    deadlock();
  }
  hasPrevious = quiescent;
  previous = now;
}

/// `idle`: no fiber is ready, and all updates of this process have been sent.
void coordinate(bool idle) {
  if (stopped || (!idle && unfinishedHere())) return;
  if (process) {
    if (!queried) return;
    queried = false;
    const Status mine = own(idle);
    control(0, Kind::status, &mine, sizeof mine);
  } else {
    if (waveOpen && statuses == processes - 1) evaluateWave(idle);
    if (waveOpen || stopped) return;
    waveOpen = true;
    statuses = 0;
    sum = {};
    controlAll(Kind::query);
  }
}

void receiveAll() {
  std::vector<std::uint8_t> bytes;
  int from = 0;
  for (std::uint64_t size = 0; mpi->probe_any(kTag, &from, &size);) {
    bytes.resize(size);
    mpi->receive(bytes.data(), size);
    handleMessage(bytes);
  }
}

void closeAll() {
  sendStreamUpdates();
  sendCollectiveUpdates();
  for (Out& out : outs) close(out);
}

/// All ranks of all processes are done: the remaining records are still checked for disagreements.
void drain() {
  closeAll();
  controlAll(Kind::fence);
  while (fences < processes - 1 || !advanceAllSends()) {
    if (interrupted()) interrupt();
    receiveAll();
    advanceAllSends();
    ::sched_yield();
  }
}

}  // namespace

Writer& Writer::elements(const Ring& ring, std::uint64_t from, std::uint64_t to) {
  *this << static_cast<std::uint32_t>(to - from);
  for (std::uint64_t at = from; at != to; ++at) *this << ring.slots[at & ring.mask];
  return *this;
}

Writer& Writer::site(CallSite site) {
  const CodeLocation at = locate(site);
  return *this << static_cast<std::int32_t>(at.program) << at.offset;
}

std::vector<std::uint64_t> Reader::elements() {
  std::vector<std::uint64_t> found(get<std::uint32_t>());
  const std::size_t size = found.size() * sizeof found[0];
  if (size) std::memcpy(found.data(), at_, size);
  at_ += size;
  return found;
}

CallSite Reader::site() {
  const auto program = get<std::int32_t>();
  return remoteSite({program, get<std::uint64_t>()});
}

Writer newRecord(int to, Record record) {
  Out& out = outs[static_cast<std::size_t>(to)];
  if (out.records.size() > mostBytes) close(out);
  if (out.records.empty()) out.records.push_back(static_cast<char>(Kind::records));
  out.records.push_back(static_cast<char>(record));
  return Writer(out.records);
}

void join(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  // The command that reports has no connection yet; it finds this line among those of the MPI launcher.
  const auto failed = [](int code, const char* why) {
    std::fprintf(stderr, "gossamer: error: %s\n", why);
    std::_Exit(code);
  };
  if (!handle) failed(GS_EXIT_BUG, dlerror());
  const auto entry = reinterpret_cast<decltype(&gs_ranks_join)>(dlsym(handle, "gs_ranks_join"));
  const auto problem = reinterpret_cast<decltype(&gs_ranks_problem)>(dlsym(handle, "gs_ranks_problem"));
  if (!entry || !problem) failed(GS_EXIT_BUG, dlerror());
  mpi = entry();
  if (!mpi) failed(GS_EXIT_INPUT, problem());
  process = mpi->rank;
  processes = mpi->count;
  outs.resize(static_cast<std::size_t>(processes));
}

void exchange() {
  retryDeferred();
  receiveAll();
  closeAll();
  coordinate(!current && !someReady());
  advanceAllSends();
}

bool waitForWork() {
  if (hardware) return clockHardware();
  if (!distributed()) return false;
  // MPI would spin while it waits, and occupy a processor that other processes need.
  constexpr int spins = 20, yields = 500;
  for (int tries = 0;; ++tries) {
    if (interrupted()) interrupt();
    exchange();
    if (stopped) {
      drain();
      return false;
    }
    if (someReady()) return true;
    const timespec nap{0, 50'000};
    if (tries > yields) {
      ::nanosleep(&nap, nullptr);
    } else if (tries > spins) {
      ::sched_yield();
    }
  }
}

bool stopping() { return stopped; }

void leaveTransport() {
  if (mpi) mpi->leave();
}

void communicatorMade() { retry = true; }

}  // namespace gossamer::smi
