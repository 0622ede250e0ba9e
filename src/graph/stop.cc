// SPDX-License-Identifier: Apache-2.0
#include "graph/stop.h"

#include <signal.h>
#include <unistd.h>

#include <iterator>

#include "gossamer/graph/graph.h"

namespace gossamer::graph {

namespace {

constexpr int numbers[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<int> requested{0};
struct sigaction before[std::size(numbers)];  // written only while our handlers are not installed
thread_local bool stoppable = false;
thread_local const std::atomic<int>* stop_flag = nullptr;

void onSignal(int number, siginfo_t* info, void* context) {
  requested.store(1, std::memory_order_relaxed);
  for (size_t i = 0; i < std::size(numbers); ++i) {
    if (numbers[i] != number) continue;
    if (before[i].sa_flags & SA_SIGINFO) {
      before[i].sa_sigaction(number, info, context);
    } else {
      before[i].sa_handler(number);
    }
  }
}

bool isHandler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

}  // namespace

Stoppable::Stoppable() {
  if (stoppable || gettid() != getpid()) return;
  first_ = stoppable = true;
  requested.store(0, std::memory_order_relaxed);
  for (size_t i = 0; i < std::size(numbers); ++i) {
    sigaction(numbers[i], nullptr, &before[i]);
    if (!isHandler(before[i])) continue;
    struct sigaction action = before[i];
    action.sa_sigaction = onSignal;
    action.sa_flags |= SA_SIGINFO;
    sigaction(numbers[i], &action, nullptr);
  }
}

Stoppable::~Stoppable() {
  if (!first_) return;
  for (size_t i = 0; i < std::size(numbers); ++i) {
    if (isHandler(before[i])) sigaction(numbers[i], &before[i], nullptr);
  }
  stoppable = false;
}

Stop::Stop() : flag_(stoppable ? &requested : stop_flag) {}

}  // namespace gossamer::graph

void gs_graph_stop_at(const int* flag) { gossamer::graph::stop_flag = reinterpret_cast<const std::atomic<int>*>(flag); }
