// SPDX-License-Identifier: Apache-2.0
/// The emulator's inside: every rank of a run is in this process and on this thread, each kernel a fiber. A fiber runs
/// until it waits, so nothing here is locked, and a run is a function of its programs, arguments and seed. With
/// several processes (processes.h) each has the fibers of its own ranks.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "gossamer/smi/smi.h"

namespace gossamer::smi {

struct Rank;
struct Fiber;

/// Where in a user's code something is: a return address. The command turns it into file and line.
using Place = const void*;

// ---- Elements ----

/// Elements between their ends, eight bytes for each whatever its type. `head` were taken of `tail` that were given.
struct Ring {
  std::uint64_t head = 0, tail = 0, mask = 0;
  std::uint64_t* slots = nullptr;

  std::uint64_t held() const { return tail - head; }
  std::uint64_t capacity() const { return slots ? mask + 1 : 0; }
  void put(std::uint64_t value) { slots[tail++ & mask] = value; }
  std::uint64_t take() { return slots[head++ & mask]; }
  /// Makes room for at least this many; what is held stays.
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
/// Combines n elements: along the binomial tree from `root`, or in the order of ranks. `values` is used up.
std::uint64_t combine(int type, int op, std::uint64_t* values, int n, int root);

// ---- Fibers ----

/// What a fiber waits for, for a report of a deadlock.
struct Wait {
  std::string what;        ///< with {} for the place
  std::vector<int> ranks;  ///< that could end it
};

/// Tells what a waiting fiber waits for; called only when nothing moves any more.
struct Waitable {
  virtual ~Waitable() = default;
  virtual Wait wait(const Fiber& fiber) const = 0;
};

struct Fiber {
  boost::context::fiber context;
  Rank* rank = nullptr;
  std::string name;
  void (*kernel)(void*) = nullptr;
  void* argument = nullptr;
  bool done = false;
  bool daemon = false;  ///< the run does not wait for it
  const Waitable* waits = nullptr;
  Place place = nullptr;
  bool settles = false;  ///< it waits until nothing moves any more
  Fiber* joiner = nullptr;
  const Fiber* joins = nullptr;  ///< that it waits for the end of
};

struct Options {
  int slack = 16;                ///< of channels that do not state their degree
  std::uint64_t seed = 0;        ///< 0: kernels take turns in order
  std::uint64_t operations = 0;  ///< a run ends after so many; 0: no limit
  std::size_t stack = 8u << 20;
  bool ordered = false;  ///< every SMI_ADD is SMI_ADD_ORDERED
};
extern Options options;

/// Operations that the running fiber may do before `refuel` is called. An interruption sets it to 0.
extern volatile std::int64_t fuel;
extern Fiber* current;
extern std::vector<Fiber*> fibers;

/// Makes a fiber that will run; it is never deleted, so that nothing is unwound when a run is broken off.
Fiber* start(Rank& rank, std::string name, void (*kernel)(void*), void* argument, bool daemon);
/// Runs all fibers until those that are no daemons have ended. Does not return from a deadlock.
void runAll();
/// The running fiber stops until `wake`.
void wait(const Waitable& what, Place place);
void wake(Fiber* fiber);
/// Lets others run; the fiber goes on later.
void yield();
/// The running fiber stops until nothing moves any more, and all others that are no daemons have ended or stop here.
void settle(Place place);
/// Those that stop so go on, if they are all that is left: `unfinished` fibers of all processes, `settling` of them.
bool allSettle(int unfinished, int settling);
void wakeSettled();
/// A kernel has asked in vain for something without waiting. When no kernel does anything else, nothing moves.
void askedInVain();
/// Called when the fuel is used up: looks for interruptions and limits.
void refuel();
/// Whether a fiber of this process can run, and how many that are no daemons have not ended.
bool someReady();
int unfinishedHere();
int settlingHere();
std::uint64_t operationsDone();
std::uint64_t switchesDone();

inline void spend() {
  fuel = fuel - 1;
  if (fuel <= 0) [[unlikely]]
    refuel();
}

// ---- Ranks and communicators ----

/// A group of ranks; each member has a Comm of its own.
struct Context;

struct Stream;
struct Collective;

/// One direction of a port, and the channels that were opened for it; each has a number, from 1 on.
struct Busy {
  Stream* stream = nullptr;
  std::uint64_t end = 0;
  Place place = nullptr;
  std::uint64_t number = 0;  ///< of the channel that uses it, or did so last
  std::uint64_t opened = 0;
  /// Numbers of channels that were used, as ranges: first -> last. One range, if channels are used in order.
  std::map<std::uint64_t, std::uint64_t> used;

  bool wasUsed(std::uint64_t channel) const {
    const auto after = used.upper_bound(channel);
    return after != used.begin() && std::prev(after)->second >= channel;
  }
  void set(Stream* to, std::uint64_t last, Place at, std::uint64_t channel) {
    stream = to;
    end = last;
    place = at;
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

/// What a rank's port is used for at the moment.
struct Port {
  Busy sends, receives;
  Collective* collective = nullptr;
  std::uint64_t collectives = 0;  ///< opened so far; the live one has this number
  Place collectivePlace = nullptr;
};

struct Rank {
  int index = 0;
  int home = 0;  ///< the process that has it
  std::string program;
  int running = 0;  ///< fibers that are not done, daemons not counted
  int code = 0;     ///< what its main returned
  SMI_Comm world = nullptr;
  std::unordered_map<int, Port> ports;
};
extern std::vector<Rank*> ranks;

void makeWorld();

constexpr int portLimit = 256;

/// The port, if no other channel of this kind uses it now.
Port& freePort(Rank& rank, int port, const char* what, Place place, bool sends, bool receives, bool collective);

/// Compiler's help that a wrong argument is answered where the user wrote it.
void checkChannel(int count, int type, int port, SMI_Comm comm, const char* call, Place place);
void checkDegree(int degree, const char* call, Place place);

// ---- How a run ends ----

/// Ends the run of all processes: the message has {} for each place. `code` is an exit code of the command.
[[noreturn]] void fail(int code, const std::string& message, std::initializer_list<Place> places = {});
[[noreturn]] void deadlock();
/// Tells the command how the run went and what it cost; `all`: it is over for all processes.
void finished(int code, bool all = false);
/// Whether `finished` was called: only exit handlers and destructors of the programs run now.
bool reported();
/// A program may call exit(), which ends the process, and with it all ranks. From here on that is reported.
void watchExit();
/// Who runs when no kernel does, for messages: an initializer or a destructor of a rank's program.
std::string outsideOfMain();
/// The kernel that calls; ends the run if there is none.
Fiber& caller(const char* call, Place place);

[[gnu::format(printf, 1, 2)]] std::string format(const char* text, ...);

enum : int { exitInput = 2, exitDied = 4, exitBug = 70, exitInterrupted = 130 };

}  // namespace gossamer::smi

struct gs_smi_comm {
  gossamer::smi::Context* context;
  int rank;  ///< of its owner, in the communicator
};
struct gs_smi_kernel {
  gossamer::smi::Fiber* fiber;
};

namespace gossamer::smi {

struct Split {
  struct Given {
    int color, key;
    bool here;
    Place place;
    std::vector<int> list;
  };
  std::vector<Given> given;
  std::vector<SMI_Comm> made;
  std::vector<Fiber*> waiting;
  void (*compute)(const Context&, Split&, std::uint64_t name) = nullptr;
  int arrived = 0, left = 0;
};

struct Context : Waitable {
  int number = 0;
  std::uint64_t name = 0;    ///< the same in all processes
  int here = 0;              ///< members in this process
  std::vector<int> others;   ///< processes that have the rest of them
  std::vector<int> members;  ///< ranks of the world
  std::vector<SMI_Comm> comms;
  struct Opened {
    std::vector<std::uint64_t> count;  ///< channels that a member has opened here
    std::map<std::uint64_t, Collective*> live;
  };
  std::unordered_map<int, Opened> ports;
  std::vector<std::uint64_t> splits;
  std::map<std::uint64_t, Split> splitting;

  int size() const { return static_cast<int>(members.size()); }
  /// Whether it has members in several processes.
  bool spread() const { return !others.empty(); }
  /// " of a communicator of 3", for messages; nothing for the world.
  std::string words() const;
  /// The one of this name; null if this process does not know it yet.
  static Context* named(std::uint64_t name);
  Wait wait(const Fiber& fiber) const override;
};

}  // namespace gossamer::smi
