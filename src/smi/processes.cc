// SPDX-License-Identifier: Apache-2.0
/// Records between processes, and the end of a run of several.
///
/// Process 0 asks all others in waves how they are; each answers once it has nothing to do. All messages have arrived,
/// and nobody does anything any more, if two waves in succession find everybody idle and as many messages taken as
/// sent, the same number in both (Mattern's four counters). No clock decides.
#include "processes.h"

#include <dlfcn.h>
#include <sched.h>
#include <time.h>

#include <algorithm>

#include "hardware.h"
#include "interrupt.h"
#include "mpi/transport.h"
#include "programs.h"

namespace gossamer::smi {

int process = 0, processes = 1;

namespace {

enum class Kind : std::uint8_t { records, ask, answer, stop, settle, fence, deadlock };

/// A message takes no further record beyond this many bytes.
constexpr std::size_t mostBytes = 1 << 20;

struct Out {
  std::string records;  ///< for the next message; without its first byte when empty
  std::deque<std::string> messages;
  bool underWay = false;  ///< the first of them
};

struct Answer {
  std::uint64_t sent, taken;
  std::int32_t unfinished, settling, idle;
};

struct Held {
  Record record;
  std::vector<std::uint8_t> fields;
};

const GsTransport* mpi = nullptr;
std::vector<Out> outs;
std::uint64_t sent = 0, taken = 0;  ///< messages of records
std::vector<Held> held;
bool looksAgain = false;  ///< at what is held
bool asked = false, stopped = false;
int fences = 0;
// Of process 0:
bool asks = false;
int answers = 0;
Answer sum{}, before{};
bool hasBefore = false;

void close(Out& out) {
  if (out.records.empty()) return;
  out.messages.push_back(std::move(out.records));
  out.records.clear();
  ++sent;
}

void pump(int to) {
  Out& out = outs[static_cast<std::size_t>(to)];
  for (;;) {
    if (out.underWay) {
      if (!mpi->sent(to)) return;
      out.messages.pop_front();
      out.underWay = false;
    }
    if (out.messages.empty()) return;
    mpi->send(to, out.messages.front().data(), out.messages.front().size());
    out.underWay = true;
  }
}

bool pumpAll() {
  bool done = true;
  for (int to = 0; to < processes; ++to) {
    pump(to);
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

bool look(Record record, Reader& in) {
  switch (record) {
    case Record::streamBound:
    case Record::streamDegree:
    case Record::streamElements:
    case Record::streamTaken: takeStream(record, in); return true;
    case Record::splitGiven: return takeSplit(in);
    default: return takeCollective(record, in);
  }
}

void lookAtHeld() {
  while (looksAgain) {
    looksAgain = false;
    std::vector<Held> before_;
    before_.swap(held);
    for (Held& one : before_) {
      Reader in(one.fields.data(), one.fields.data() + one.fields.size());
      if (!look(one.record, in)) held.push_back(std::move(one));
    }
  }
}

void take(void*, int, const std::uint8_t* bytes, std::uint64_t size) {
  Reader in(bytes, bytes + size);
  switch (in.get<Kind>()) {
    case Kind::records: {
      ++taken;
      while (in.more()) {
        const auto record = in.get<Record>();
        const std::uint8_t* fields = in.at();
        if (!look(record, in)) held.push_back({record, {fields, in.at()}});
        lookAtHeld();
      }
      break;
    }
    case Kind::ask: asked = true; break;
    case Kind::answer: {
      const auto answer = in.get<Answer>();
      ++answers;
      sum.sent += answer.sent;
      sum.taken += answer.taken;
      sum.unfinished += answer.unfinished;
      sum.settling += answer.settling;
      sum.idle += answer.idle;
      break;
    }
    case Kind::stop: stopped = true; break;
    case Kind::settle: wakeSettled(); break;
    case Kind::fence: ++fences; break;
    case Kind::deadlock: deadlock();
  }
}

Answer own(bool idle) { return {sent, taken, unfinishedHere(), settlingHere(), idle}; }

/// Process 0 looks at a wave that is complete.
void judge(bool idle) {
  const Answer mine = own(idle);
  const Answer now{sum.sent + mine.sent, sum.taken + mine.taken, sum.unfinished + mine.unfinished,
                   sum.settling + mine.settling, sum.idle + mine.idle};
  asks = false;
  if (!now.unfinished) {
    controlAll(Kind::stop);
    stopped = true;
    return;
  }
  const bool quiet = now.idle == processes && now.sent == now.taken;
  const bool still = quiet && hasBefore && before.sent == now.sent;
  if (still && allSettle(now.unfinished, now.settling)) {
    controlAll(Kind::settle);
    hasBefore = false;
    return;
  }
  if (still) {
    controlAll(Kind::deadlock);
    while (!pumpAll()) ::sched_yield();
    deadlock();
  }
  hasBefore = quiet;
  before = now;
}

/// `idle`: no fiber can run, and all that is known here has been sent.
void coordinate(bool idle) {
  if (stopped || (!idle && unfinishedHere())) return;
  if (process) {
    if (!asked) return;
    asked = false;
    const Answer mine = own(idle);
    control(0, Kind::answer, &mine, sizeof mine);
  } else {
    if (asks && answers == processes - 1) judge(idle);
    if (asks || stopped) return;
    asks = true;
    answers = 0;
    sum = {};
    controlAll(Kind::ask);
  }
}

void takeAll() {
  while (mpi->receive(nullptr, take)) {
  }
}

void closeAll() {
  shipStreams();
  shipCollectives();
  for (Out& out : outs) close(out);
}

/// All ranks of all processes are done: what was sent before is looked at still, as it may not agree.
void drain() {
  closeAll();
  controlAll(Kind::fence);
  while (fences < processes - 1 || !pumpAll()) {
    if (interrupted()) interrupt();
    takeAll();
    pumpAll();
    ::sched_yield();
  }
}

}  // namespace

Writer& Writer::elements(const Ring& ring, std::uint64_t from, std::uint64_t to) {
  *this << static_cast<std::uint32_t>(to - from);
  for (std::uint64_t at = from; at != to; ++at) *this << ring.slots[at & ring.mask];
  return *this;
}

Writer& Writer::place(Place place) {
  const Located at = locate(place);
  return *this << static_cast<std::int32_t>(at.program) << at.offset;
}

std::vector<std::uint64_t> Reader::elements() {
  std::vector<std::uint64_t> found(get<std::uint32_t>());
  const std::size_t size = found.size() * sizeof found[0];
  if (size) std::memcpy(found.data(), at_, size);
  at_ += size;
  return found;
}

Place Reader::place() {
  const auto program = get<std::int32_t>();
  return placeElsewhere({program, get<std::uint64_t>()});
}

Writer tell(int to, Record record) {
  Out& out = outs[static_cast<std::size_t>(to)];
  if (out.records.size() > mostBytes) close(out);
  if (out.records.empty()) out.records.push_back(static_cast<char>(Kind::records));
  out.records.push_back(static_cast<char>(record));
  return Writer(out.records);
}

void join(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto* entry = handle ? reinterpret_cast<decltype(&gs_transport_join)>(dlsym(handle, "gs_transport_join")) : nullptr;
  mpi = entry ? entry() : nullptr;
  if (!mpi) fail(exitBug, format("%s: no MPI to start", handle ? library.c_str() : dlerror()));
  process = mpi->number;
  processes = mpi->count;
  outs.resize(static_cast<std::size_t>(processes));
}

void exchange() {
  lookAtHeld();
  takeAll();
  closeAll();
  coordinate(!current && !someReady());
  pumpAll();
}

bool attend() {
  if (hardware) return clockHardware();
  if (!distributed()) return false;
  // MPI itself spins while it waits, which takes the processor from those that have work to do.
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

void communicatorMade() { looksAgain = true; }

}  // namespace gossamer::smi
