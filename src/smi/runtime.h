// SPDX-License-Identifier: Apache-2.0
/// Internals of the emulator: every rank of a run is in this process and on this thread, and each kernel is a fiber. A
/// fiber runs until it waits, so nothing here needs locks, and a run is a function of its programs, arguments and seed.
/// With several processes (processes.h), each runs the fibers of its own ranks.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "gossamer/core/exit_codes.h"
#include "gossamer/smi/smi.h"

namespace gossamer::smi {

struct Rank;
struct Fiber;

/// A location in the user's code: a return address. The command translates it to file and line.
using CallSite = const void*;

// ---- Elements ----

/// Ring buffer of elements, eight bytes each for any type. `tail` counts written elements, `head` those read.
struct Ring {
  std::uint64_t head = 0, tail = 0, mask = 0;
  std::uint64_t* slots = nullptr;

  std::uint64_t size() const { return tail - head; }
  std::uint64_t capacity() const { return slots ? mask + 1 : 0; }
  void put(std::uint64_t value) { slots[tail++ & mask] = value; }
  std::uint64_t take() { return slots[head++ & mask]; }
  /// Grows the capacity to at least this many elements; keeps the contents.
  void grow(std::uint64_t least);
  Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() { delete[] slots; }
};

bool typeExists(int type);
int sizeOf(int type);
const char* typeName(int type);
const char* opName(int op);
std::uint64_t load(int type, const void* data);
void store(int type, void* data, std::uint64_t value);
/// Combines n elements: along the binomial tree from `root`, or in rank order. Overwrites `values`.
std::uint64_t combine(int type, int op, std::uint64_t* values, int n, int root);

// ---- Fibers ----

/// What a fiber waits for, as a deadlock report states it.
struct Wait {
  std::string what;        ///< with {} for the call site
  std::vector<int> ranks;  ///< that could end the wait
};

/// What a wait is for, in statistics of runs on hardware (activity.h). `none`: the next cycle, which is no wait.
enum class WaitKind : std::uint8_t { none, push, pop, collective, barrier, write, read, memory, other };
constexpr std::size_t waitKinds = 9;

/// Describes what a waiting fiber waits for.
struct Waitable {
  virtual ~Waitable() = default;
  /// Called only for reports of deadlocks.
  virtual Wait wait(const Fiber& fiber) const = 0;
  /// Called before the fiber waits.
  virtual WaitKind kind(const Fiber&) const { return WaitKind::other; }
  /// A short description of a wait of that kind, for traces.
  virtual std::string label(WaitKind) const { return "waits"; }
};

struct KernelActivity;

struct Fiber {
  boost::context::fiber context;
  Rank* rank = nullptr;
  std::string name;
  void (*kernel)(void*) = nullptr;
  void* argument = nullptr;
  bool done = false;
  bool daemon = false;  ///< the run does not wait for it
  const Waitable* waits = nullptr;
  CallSite site = nullptr;
  bool settles = false;  ///< it waits in settle()
  Fiber* joiner = nullptr;
  const Fiber* joins = nullptr;        ///< the fiber whose end it waits for
  KernelActivity* activity = nullptr;  ///< on hardware
};

struct Options {
  int slack = 16;                ///< degree of channels that do not specify one
  std::uint64_t seed = 0;        ///< 0: kernels run round-robin
  std::uint64_t operations = 0;  ///< limit of a run; 0: none
  std::size_t stack = 8u << 20;
  bool ordered = false;  ///< every SMI_ADD is SMI_ADD_ORDERED
};
extern Options options;

/// Operations that the running fiber may do before it calls `endSlice`. An interruption sets it to 0.
extern volatile std::int64_t budget;
extern Fiber* current;
extern std::vector<Fiber*> fibers;

/// Creates a ready fiber. Fibers are never deleted, so that an aborted run unwinds nothing.
Fiber* start(Rank& rank, std::string name, void (*kernel)(void*), void* argument, bool daemon);
/// Runs all fibers until all but daemons have ended. Does not return from a deadlock.
void runAll();
/// Blocks the running fiber until `wake`.
void wait(const Waitable& what, CallSite site);
void wake(Fiber* fiber);
/// Lets other fibers run; the calling fiber stays ready.
void yield();
/// Blocks the running fiber until the run is quiescent: all other fibers but daemons have ended or wait here.
void settle(CallSite site);
/// Wakes the fibers that wait in settle() if no others are left: `unfinished` fibers of all processes, `settling` of
/// them.
bool allSettle(int unfinished, int settling);
void wakeSettled();
/// Counts a failed non-blocking access of a kernel. When kernels do nothing else, the run is quiescent.
void countFailedPoll();
/// All fibers have finished this cycle of the hardware.
void endCycle();
/// Called when the budget is used up: checks for interruptions and limits.
void endSlice();
/// Whether a fiber of this process is ready; the number of its fibers that have not ended, without daemons.
bool someReady();
int unfinishedHere();
int settlingHere();
std::uint64_t operationsDone();
std::uint64_t switchesDone();

inline void spend() {
  budget = budget - 1;
  if (budget <= 0) [[unlikely]]
    endSlice();
}

// ---- Ranks and communicators ----

/// A group of ranks; each member has its own Comm.
struct Context;

struct Stream;
struct Collective;

/// One direction of a port, and the channels that were opened for it; channels are numbered from 1.
struct PortDirection {
  Stream* stream = nullptr;
  std::uint64_t end = 0;
  CallSite site = nullptr;
  std::uint64_t number = 0;  ///< of the channel that uses it, or used it last
  std::uint64_t opened = 0;
  /// Numbers of used channels as ranges, first -> last: a single range if channels are used in order.
  std::map<std::uint64_t, std::uint64_t> used;

  bool wasUsed(std::uint64_t channel) const {
    const auto after = used.upper_bound(channel);
    return after != used.begin() && std::prev(after)->second >= channel;
  }
  void set(Stream* to, std::uint64_t last, CallSite at, std::uint64_t channel) {
    stream = to;
    end = last;
    site = at;
    number = channel;
    use(channel);
  }
  void use(std::uint64_t channel) {
    const auto after = used.upper_bound(channel);
    const bool joinsNext = after != used.end() && after->first == channel + 1;
    const std::uint64_t last = joinsNext ? after->second : channel;
    if (after != used.begin() && std::prev(after)->second + 1 == channel)
      std::prev(after)->second = last;
    else
      used.emplace(channel, last);
    if (joinsNext) used.erase(channel + 1);
  }
};

/// The current use of a rank's port.
struct Port {
  PortDirection sends, receives;
  Collective* collective = nullptr;
  std::uint64_t collectives = 0;  ///< number of collectives opened so far, and of the open one
  CallSite collectivePlace = nullptr;
};

struct Rank {
  int index = 0;
  int home = 0;  ///< the process that runs it
  std::string program;
  std::vector<std::string> arguments;  ///< of its main, in place of those of the command line
  int running = 0;                     ///< fibers that have not ended, without daemons
  int code = 0;                        ///< returned by its main
  SMI_Comm world = nullptr;
  std::unordered_map<int, Port> ports;
};
extern std::vector<Rank*> ranks;

void makeWorld();

constexpr int portLimit = 256;

/// Returns the port; ends the run if another channel of this kind uses it.
Port& claimPort(Rank& rank, int port, const char* what, CallSite site, bool sends, bool receives, bool collective);

/// Check the arguments of a call and report errors at its call site.
void checkChannel(int count, int type, int port, SMI_Comm comm, const char* call, CallSite site);
void checkDegree(int degree, const char* call, CallSite site);

// ---- How a run ends ----

/// Ends the run of all processes. The message has {} for each call site. `code` is an exit code of the command.
[[noreturn]] void fail(int code, const std::string& message, std::initializer_list<CallSite> sites = {});
[[noreturn]] void deadlock();
/// Reports the result and the cost of the run to the command. `all`: the run has ended in all processes.
void finished(int code, bool all = false);
/// Whether `finished` was called: then only exit handlers and destructors of the programs run.
bool reported();
/// From here on, reports a program's call of exit(), which ends the process and all its ranks.
void watchExit();
/// For messages outside of kernels: names the initializer or destructor that runs.
std::string outsideOfMain();
/// The calling kernel; ends the run if no kernel calls.
Fiber& caller(const char* call, CallSite site);

[[gnu::format(printf, 1, 2)]] std::string format(const char* text, ...);

}  // namespace gossamer::smi

struct gs_smi_comm {
  gossamer::smi::Context* context;
  int rank;  ///< of its owner in the communicator
};
struct gs_smi_kernel {
  gossamer::smi::Fiber* fiber;
};

namespace gossamer::smi {

struct Split {
  struct Contribution {
    int color, key;
    bool here;
    CallSite site;
    std::vector<int> list;
  };
  std::vector<Contribution> contributions;
  std::vector<SMI_Comm> made;
  std::vector<Fiber*> waiting;
  void (*compute)(const Context&, Split&, std::uint64_t name) = nullptr;
  int arrived = 0, left = 0;
};

struct Context : Waitable {
  int number = 0;
  std::uint64_t name = 0;    ///< the same in all processes
  int here = 0;              ///< members in this process
  std::vector<int> others;   ///< processes of the other members
  std::vector<int> members;  ///< ranks of the world
  std::vector<SMI_Comm> comms;
  struct Opened {
    std::vector<std::uint64_t> count;  ///< channels that each member has opened on this port
    std::map<std::uint64_t, Collective*> live;
  };
  std::unordered_map<int, Opened> ports;
  std::vector<std::uint64_t> splits;
  std::map<std::uint64_t, Split> splitting;

  int size() const { return static_cast<int>(members.size()); }
  /// Whether it has members in several processes.
  bool spansProcesses() const { return !others.empty(); }
  /// " of a communicator of size 3" for messages; empty for the world.
  std::string describe() const;
  /// The communicator of this name; null if this process does not know it yet.
  static Context* named(std::uint64_t name);
  Wait wait(const Fiber& fiber) const override;
};

}  // namespace gossamer::smi
