// SPDX-License-Identifier: Apache-2.0
/// MPI's matching order, case by case, with hand-written answers (MPI 4.1, sections 3.5 and 3.8). They judge both the
/// engines and the reference model.
#pragma once

#include <cstdint>
#include <vector>

namespace match_test {

constexpr int kAny = -1;

/// A request: p(ost), a(rrive), c(ancel), i(probe), t(ake). For a cancel, `tag` is the handle of its post.
struct Step {
  char op;
  unsigned rank, communicator;
  int source, tag;
  /// The expected answer: m(atched) with that partner, w(aiting), n(one).
  char status;
  uint32_t partner;
};

struct Case {
  const char* name;
  std::vector<Step> steps;
};

/// The handle of each step is its number.
inline const std::vector<Case>& conformance() {
  static const std::vector<Case> all = {
      {"a message matches the waiting receive", {{'p', 0, 0, 1, 5, 'w', 0}, {'a', 0, 0, 1, 5, 'm', 0}}},
      {"a receive matches the waiting message", {{'a', 0, 0, 1, 5, 'w', 0}, {'p', 0, 0, 1, 5, 'm', 0}}},
      {"messages of one source do not overtake each other",
       {{'a', 0, 0, 1, 5, 'w', 0}, {'a', 0, 0, 1, 5, 'w', 0}, {'p', 0, 0, 1, 5, 'm', 0}, {'p', 0, 0, 1, 5, 'm', 1}}},
      {"receives are served in the order of posting",
       {{'p', 0, 0, 1, 5, 'w', 0}, {'p', 0, 0, 1, 5, 'w', 0}, {'a', 0, 0, 1, 5, 'm', 0}, {'a', 0, 0, 1, 5, 'm', 1}}},
      {"messages of another tag, source, communicator or rank do not match",
       {{'p', 0, 0, 1, 5, 'w', 0},
        {'a', 0, 0, 1, 6, 'w', 0},
        {'a', 0, 0, 2, 5, 'w', 0},
        {'a', 0, 1, 1, 5, 'w', 0},
        {'a', 1, 0, 1, 5, 'w', 0},
        {'a', 0, 0, 1, 5, 'm', 0}}},
      {"an earlier receive from any source precedes one from a given source",
       {{'p', 0, 0, kAny, 5, 'w', 0}, {'p', 0, 0, 1, 5, 'w', 0}, {'a', 0, 0, 1, 5, 'm', 0}, {'a', 0, 0, 1, 5, 'm', 1}}},
      {"an earlier receive from a given source precedes one from any source",
       {{'p', 0, 0, 1, 5, 'w', 0}, {'p', 0, 0, kAny, 5, 'w', 0}, {'a', 0, 0, 1, 5, 'm', 0}, {'a', 0, 0, 1, 5, 'm', 1}}},
      {"an earlier receive of any tag precedes one of a given tag",
       {{'p', 0, 0, 1, kAny, 'w', 0}, {'p', 0, 0, 1, 5, 'w', 0}, {'a', 0, 0, 1, 5, 'm', 0}}},
      {"all four kinds, oldest first",
       {{'p', 0, 0, kAny, kAny, 'w', 0},
        {'p', 0, 0, 1, kAny, 'w', 0},
        {'p', 0, 0, kAny, 5, 'w', 0},
        {'p', 0, 0, 1, 5, 'w', 0},
        {'a', 0, 0, 1, 5, 'm', 0},
        {'a', 0, 0, 1, 5, 'm', 1},
        {'a', 0, 0, 1, 5, 'm', 2},
        {'a', 0, 0, 1, 5, 'm', 3},
        {'a', 0, 0, 1, 5, 'w', 0}}},
      {"all four kinds, in the reverse order",
       {{'p', 0, 0, 1, 5, 'w', 0},
        {'p', 0, 0, kAny, 5, 'w', 0},
        {'p', 0, 0, 1, kAny, 'w', 0},
        {'p', 0, 0, kAny, kAny, 'w', 0},
        {'a', 0, 0, 2, 5, 'm', 1},
        {'a', 0, 0, 1, 6, 'm', 2},
        {'a', 0, 0, 2, 6, 'm', 3},
        {'a', 0, 0, 2, 6, 'w', 0},
        {'a', 0, 0, 1, 5, 'm', 0}}},
      {"a receive from any source matches the oldest of all messages",
       {{'a', 0, 0, 3, 5, 'w', 0},
        {'a', 0, 0, 1, 5, 'w', 0},
        {'p', 0, 0, 1, 5, 'm', 1},
        {'a', 0, 0, 1, 5, 'w', 0},
        {'p', 0, 0, kAny, 5, 'm', 0},
        {'p', 0, 0, kAny, 5, 'm', 3}}},
      {"a receive of any tag skips messages that were matched before",
       {{'a', 0, 0, 1, 5, 'w', 0},
        {'a', 0, 0, 1, 6, 'w', 0},
        {'a', 0, 0, 1, 7, 'w', 0},
        {'p', 0, 0, 1, 6, 'm', 1},
        {'p', 0, 0, 1, kAny, 'm', 0},
        {'p', 0, 0, kAny, kAny, 'm', 2},
        {'p', 0, 0, kAny, kAny, 'w', 0}}},
      {"wildcards stay within communicator and rank",
       {{'p', 0, 0, kAny, kAny, 'w', 0},
        {'a', 0, 1, 1, 5, 'w', 0},
        {'a', 1, 0, 1, 5, 'w', 0},
        {'p', 1, 1, kAny, kAny, 'w', 0},
        {'p', 1, 0, kAny, kAny, 'm', 2},
        {'p', 0, 1, kAny, kAny, 'm', 1}}},
      {"a probe leaves the message, a matched probe removes it",
       {{'i', 0, 0, kAny, kAny, 'n', 0},
        {'a', 0, 0, 1, 5, 'w', 0},
        {'a', 0, 0, 2, 5, 'w', 0},
        {'i', 0, 0, kAny, 5, 'm', 1},
        {'i', 0, 0, 2, kAny, 'm', 2},
        {'t', 0, 0, kAny, kAny, 'm', 1},
        {'t', 0, 0, 1, 5, 'n', 0},
        {'p', 0, 0, kAny, kAny, 'm', 2}}},
      {"a probe posts nothing", {{'i', 0, 0, 1, 5, 'n', 0}, {'t', 0, 0, 1, 5, 'n', 0}, {'a', 0, 0, 1, 5, 'w', 0}}},
      {"a cancelled receive gets no message, the next receive does",
       {{'p', 0, 0, 1, 5, 'w', 0},
        {'p', 0, 0, kAny, 5, 'w', 0},
        {'p', 0, 0, 1, 5, 'w', 0},
        {'c', 0, 0, 0, 0, 'm', 0},
        {'a', 0, 0, 1, 5, 'm', 1},
        {'c', 0, 0, 0, 1, 'n', 0},
        {'a', 0, 0, 1, 5, 'm', 2},
        {'c', 0, 0, 0, 2, 'n', 0}}},
      {"a receive in the middle of a stream is cancelled",
       {{'p', 0, 0, 1, 5, 'w', 0},
        {'p', 0, 0, 1, 5, 'w', 0},
        {'p', 0, 0, 1, 5, 'w', 0},
        {'c', 0, 0, 0, 1, 'm', 0},
        {'a', 0, 0, 1, 5, 'm', 0},
        {'a', 0, 0, 1, 5, 'm', 2},
        {'a', 0, 0, 1, 5, 'w', 0}}},
  };
  return all;
}

}  // namespace match_test
