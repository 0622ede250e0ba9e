// SPDX-License-Identifier: Apache-2.0
/// Who runs next. A fiber hands over to the next one directly; the thread's own stack is used before the first fiber
/// and after the last.
#include <boost/context/protected_fixedsize_stack.hpp>
#include <exception>

#include "interrupt.h"
#include "processes.h"
#include "runtime.h"

namespace gossamer::smi {

namespace context = boost::context;

Options options;
volatile std::int64_t fuel = 0;
Fiber* current = nullptr;
std::vector<Fiber*> fibers;
std::vector<Rank*> ranks;

namespace {

/// Between two looks at limits and at Ctrl-C; a fiber that never waits lets others run then.
constexpr std::int64_t tankful = 20000;

std::deque<Fiber*> ready;
/// The thread's own stack. Never destroyed: a kernel may call exit().
context::fiber& outside = *new context::fiber;
int unfinished = 0;  ///< fibers that are no daemons
int settling = 0;    ///< of them, those that wait until nothing moves
/// Questions in vain, one behind the other, and the operations at the last.
std::uint64_t inVain = 0, operationsThen = 0;
/// So many for each kernel, and nobody waits for anything that will come.
constexpr std::uint64_t patience = 10000;
std::int64_t tank = tankful;
std::uint64_t done = 0, switches = 0;
std::uint64_t random = 0;

std::uint64_t draw() {
  // xorshift64*: any non-zero state, period 2^64 - 1.
  random ^= random >> 12;
  random ^= random << 25;
  random ^= random >> 27;
  return random * 0x2545F4914F6CDD1Dull >> 32;
}

void fill() {
  tank = options.seed ? static_cast<std::int64_t>(1 + draw() % 40) : tankful;
  if (options.operations && options.operations - done < static_cast<std::uint64_t>(tank)) {
    tank = static_cast<std::int64_t>(options.operations - done);
  }
  fuel = tank;
}

/// Takes the next fiber out of those that can run; null if none can.
Fiber* next() {
  if (ready.empty() || stopping()) return nullptr;
  if (options.seed && ready.size() > 1) std::swap(ready.front(), ready[draw() % ready.size()]);
  Fiber* found = ready.front();
  ready.pop_front();
  return found;
}

/// What to go on with when nothing has to run: the thread itself, which ends the run, or waits for other processes.
context::fiber& successor(Fiber*& then) {
  then = unfinished || distributed() ? next() : nullptr;
  if (!then) return outside;
  ++switches;
  return then->context;
}

void leave(Fiber* self) {
  Fiber* then = nullptr;
  context::fiber& to = successor(then);
  if (then == self) {
    return;
  }
  current = then;
  std::move(to).resume_with([self](context::fiber&& from) {
    self->context = std::move(from);
    return context::fiber();
  });
}

context::fiber body(Fiber* self) {
  try {
    self->kernel(self->argument);
  } catch (const context::detail::forced_unwind&) {
    throw;
  } catch (const std::exception& error) {
    fail(exitDied, format("rank %d, %s: an exception that nobody catches: %s", self->rank->index, self->name.c_str(),
                          error.what()));
  } catch (...) {
    fail(exitDied, format("rank %d, %s: an exception that nobody catches", self->rank->index, self->name.c_str()));
  }
  self->done = true;
  if (!self->daemon) {
    --self->rank->running;
    --unfinished;
  }
  if (self->joiner) wake(self->joiner);
  Fiber* then = nullptr;
  context::fiber& to = successor(then);
  current = then;
  return std::move(to);
}

}  // namespace

Fiber* start(Rank& rank, std::string name, void (*kernel)(void*), void* argument, bool daemon) {
  auto* fiber = new Fiber;
  fiber->rank = &rank;
  fiber->name = std::move(name);
  fiber->kernel = kernel;
  fiber->argument = argument;
  fiber->daemon = daemon;
  fiber->context = context::fiber(std::allocator_arg, context::protected_fixedsize_stack(options.stack),
                                  // Whoever resumes it has kept itself.
                                  [fiber](context::fiber&&) { return body(fiber); });
  rank.running += !daemon;
  unfinished += !daemon;
  fibers.push_back(fiber);
  ready.push_back(fiber);
  return fiber;
}

void runAll() {
  random = options.seed * 0x9E3779B97F4A7C15ull + 0x1234567ull;
  if (!random) random = 1;
  fill();
  do {
    if (Fiber* first = next()) {
      current = first;
      std::move(first->context).resume_with([](context::fiber&& from) {
        outside = std::move(from);
        return context::fiber();
      });
    }
    current = nullptr;
  } while (attend() || (!distributed() && allSettle(unfinished, settling)));
  if (unfinished && !stopping()) deadlock();
}

void wait(const Waitable& what, Place place) {
  current->waits = &what;
  current->place = place;
  Fiber* self = current;
  leave(self);
  self->waits = nullptr;
}

void wake(Fiber* fiber) { ready.push_back(fiber); }

void yield() {
  ready.push_back(current);
  leave(current);
}

void settle(Place place) {
  struct Rest : Waitable {
    Wait wait(const Fiber&) const override { return {"until nothing moves ({})", {}}; }
  };
  static const Rest rest;
  ++settling;
  current->settles = true;
  while (current->settles) wait(rest, place);
}

bool allSettle(int all, int those) {
  if (!all || all != those) return false;
  wakeSettled();
  return true;
}

void wakeSettled() {
  settling = 0;
  for (Fiber* fiber : fibers) {
    if (!fiber->settles) continue;
    fiber->settles = false;
    wake(fiber);
  }
}

void askedInVain() {
  inVain = operationsDone() == operationsThen + 1 ? inVain + 1 : 0;
  operationsThen = operationsDone();
  if (inVain < patience * fibers.size() || distributed()) return;
  inVain = 0;
  allSettle(unfinished, settling);
}

void refuel() {
  done += static_cast<std::uint64_t>(tank);
  if (interrupted()) interrupt();
  if (options.operations && done >= options.operations) {
    fail(exitInput,
         format("the run was ended after %llu operations on channels, rank %d in %s among others; is there "
                "a kernel that never ends? --operations N allows more",
                static_cast<unsigned long long>(options.operations), current->rank->index, current->name.c_str()));
  }
  fill();
  if (distributed()) exchange();
  yield();
}

bool someReady() { return !ready.empty(); }
int unfinishedHere() { return unfinished; }
int settlingHere() { return settling; }

std::uint64_t operationsDone() { return done + static_cast<std::uint64_t>(tank - fuel); }
std::uint64_t switchesDone() { return switches; }

}  // namespace gossamer::smi
