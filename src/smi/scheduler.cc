// SPDX-License-Identifier: Apache-2.0
/// The scheduler of fibers. A fiber switches directly to the next one. The thread's own stack runs before the first
/// fiber and after the last.
#include <boost/context/protected_fixedsize_stack.hpp>
#include <exception>

#include "activity.h"
#include "hardware.h"
#include "interrupt.h"
#include "processes.h"
#include "runtime.h"

namespace gossamer::smi {

namespace context = boost::context;

Options options;
volatile std::int64_t budget = 0;
Fiber* current = nullptr;
std::vector<Fiber*> fibers;
std::vector<Rank*> ranks;

namespace {

/// Operations between checks of limits and of Ctrl-C. Then a fiber that never waits yields.
constexpr std::int64_t sliceOperations = 20000;

std::deque<Fiber*> ready;
/// The thread's own stack. Never destroyed: a kernel may call exit().
context::fiber& mainContext = *new context::fiber;
int unfinished = 0;  ///< fibers that have not ended, without daemons
int settling = 0;    ///< of them, those that wait in settle()
/// Consecutive failed polls without other operations in between, and the operation count at the last one.
std::uint64_t failedPolls = 0, operationsAtLastPoll = 0;
/// Failed polls in this cycle of the hardware.
std::uint64_t failedPollsThisCycle = 0;
/// After this many failed polls per kernel, no polling kernel can succeed any more.
constexpr std::uint64_t failedPollLimit = 10000;
std::int64_t slice = sliceOperations;
std::uint64_t done = 0, switches = 0;
std::uint64_t random = 0;

std::uint64_t nextRandom() {
  // xorshift64*: any non-zero state, period 2^64 - 1.
  random ^= random >> 12;
  random ^= random << 25;
  random ^= random >> 27;
  return random * 0x2545F4914F6CDD1Dull >> 32;
}

void startSlice() {
  slice = options.seed ? static_cast<std::int64_t>(1 + nextRandom() % 40) : sliceOperations;
  if (options.operations && options.operations - done < static_cast<std::uint64_t>(slice)) {
    slice = static_cast<std::int64_t>(options.operations - done);
  }
  budget = slice;
}

/// Removes the next fiber from the ready queue; null if it is empty.
Fiber* takeReady() {
  if (ready.empty() || stopping()) return nullptr;
  if (options.seed && ready.size() > 1) std::swap(ready.front(), ready[nextRandom() % ready.size()]);
  Fiber* found = ready.front();
  ready.pop_front();
  return found;
}

/// The context to switch to: that of the next ready fiber, or the thread's own, which ends the run or waits for other
/// processes.
context::fiber& nextContext(Fiber*& nextFiber) {
  nextFiber = unfinished || distributed() ? takeReady() : nullptr;
  if (!nextFiber) return mainContext;
  ++switches;
  return nextFiber->context;
}

void switchAway(Fiber* self) {
  Fiber* nextFiber = nullptr;
  context::fiber& to = nextContext(nextFiber);
  if (nextFiber == self) {
    return;
  }
  current = nextFiber;
  std::move(to).resume_with([self](context::fiber&& from) {
    self->context = std::move(from);
    return context::fiber();
  });
}

context::fiber runFiber(Fiber* self) {
  try {
    self->kernel(self->argument);
  } catch (const context::detail::forced_unwind&) {
    throw;
  } catch (const std::exception& error) {
    fail(GS_EXIT_DIED,
         format("rank %d, %s: uncaught exception: %s", self->rank->index, self->name.c_str(), error.what()));
  } catch (...) {
    fail(GS_EXIT_DIED, format("rank %d, %s: uncaught exception", self->rank->index, self->name.c_str()));
  }
  if (self->activity) kernelEnds(*self->activity);
  self->done = true;
  if (!self->daemon) {
    --self->rank->running;
    --unfinished;
  }
  if (self->joiner) wake(self->joiner);
  Fiber* nextFiber = nullptr;
  context::fiber& to = nextContext(nextFiber);
  current = nextFiber;
  return std::move(to);
}

/// Counts failed polls since the last call. Any other operation in between resets the count.
void countFailedPolls(std::uint64_t questions) {
  failedPolls = operationsDone() == operationsAtLastPoll + questions ? failedPolls + questions : 0;
  operationsAtLastPoll = operationsDone();
  if (failedPolls < failedPollLimit * fibers.size() || distributed()) return;
  failedPolls = 0;
  allSettle(unfinished, settling);
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
                                  // the resuming fiber has saved its own context
                                  [fiber](context::fiber&&) { return runFiber(fiber); });
  fiber->activity = kernelStarts(*fiber);
  rank.running += !daemon;
  unfinished += !daemon;
  fibers.push_back(fiber);
  ready.push_back(fiber);
  return fiber;
}

void runAll() {
  random = options.seed * 0x9E3779B97F4A7C15ull + 0x1234567ull;
  if (!random) random = 1;
  startSlice();
  do {
    if (Fiber* first = takeReady()) {
      current = first;
      std::move(first->context).resume_with([](context::fiber&& from) {
        mainContext = std::move(from);
        return context::fiber();
      });
    }
    current = nullptr;
  } while (waitForWork() || (!distributed() && allSettle(unfinished, settling)));
  if (unfinished && !stopping()) deadlock();
}

void wait(const Waitable& what, CallSite site) {
  current->waits = &what;
  current->site = site;
  Fiber* self = current;
  if (KernelActivity* activity = self->activity) {
    activity->kind = what.kind(*self);
    activity->since = now - 1;
  }
  switchAway(self);
  if (self->activity) waitEnded(*self->activity, what);
  self->waits = nullptr;
}

void wake(Fiber* fiber) { ready.push_back(fiber); }

void yield() {
  ready.push_back(current);
  switchAway(current);
}

void settle(CallSite site) {
  struct Rest : Waitable {
    Wait wait(const Fiber&) const override { return {"until the run is quiescent ({})", {}}; }
  };
  static const Rest rest;
  ++settling;
  current->settles = true;
  while (current->settles) wait(rest, site);
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

void countFailedPoll() {
  // Within a cycle, kernels run in any order, so no poll may depend on the order of earlier ones.
  if (hardware)
    ++failedPollsThisCycle;
  else
    countFailedPolls(1);
}

void endCycle() {
  countFailedPolls(failedPollsThisCycle);
  failedPollsThisCycle = 0;
}

void endSlice() {
  done += static_cast<std::uint64_t>(slice);
  if (interrupted()) interrupt();
  if (options.operations && done >= options.operations) {
    fail(GS_EXIT_INPUT,
         format("the run was ended after %llu operations on channels, rank %d in %s among others; is there "
                "a kernel that never ends? --operations N allows more",
                static_cast<unsigned long long>(options.operations), current->rank->index, current->name.c_str()));
  }
  startSlice();
  if (distributed()) exchange();
  yield();
}

bool someReady() { return !ready.empty(); }
int unfinishedHere() { return unfinished; }
int settlingHere() { return settling; }

std::uint64_t operationsDone() { return done + static_cast<std::uint64_t>(slice - budget); }
std::uint64_t switchesDone() { return switches; }

}  // namespace gossamer::smi
