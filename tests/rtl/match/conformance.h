// SPDX-License-Identifier: Apache-2.0
/// MPI's matching order, case by case, with the answers typed by hand (MPI 4.1, sections 3.5 and 3.8): judges both the
/// engines and the plain lists that judge them.
#pragma once

#include <cstdint>
#include <vector>

namespace match_test {

constexpr int kAny = -1;

/// A request: p(ost), a(rrive), c(ancel), i(probe), t(ake). Of a cancel `tag` is the handle of its post.
struct Step {
  char op;
  unsigned rank, communicator;
  int source, tag;
  /// What must come back: m(atched) with that partner, w(aiting), n(one).
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
      {"a message takes the receive that waits", {{'p', 0, 0, 1, 5, 'w', 0}, {'a', 0, 0, 1, 5, 'm', 0}}},
      {"a receive takes the message that waits", {{'a', 0, 0, 1, 5, 'w', 0}, {'p', 0, 0, 1, 5, 'm', 0}}},
      {"messages of one source do not overtake each other",
       {{'a', 0, 0, 1, 5, 'w', 0}, {'a', 0, 0, 1, 5, 'w', 0}, {'p', 0, 0, 1, 5, 'm', 0}, {'p', 0, 0, 1, 5, 'm', 1}}},
      {"receives are served in the order of posting",
       {{'p', 0, 0, 1, 5, 'w', 0}, {'p', 0, 0, 1, 5, 'w', 0}, {'a', 0, 0, 1, 5, 'm', 0}, {'a', 0, 0, 1, 5, 'm', 1}}},
      {"another tag, source, communicator or rank is another message",
       {{'p', 0, 0, 1, 5, 'w', 0},
        {'a', 0, 0, 1, 6, 'w', 0},
        {'a', 0, 0, 2, 5, 'w', 0},
        {'a', 0, 1, 1, 5, 'w', 0},
        {'a', 1, 0, 1, 5, 'w', 0},
        {'a', 0, 0, 1, 5, 'm', 0}}},
      {"a receive from anybody that was posted first goes before one from somebody",
       {{'p', 0, 0, kAny, 5, 'w', 0}, {'p', 0, 0, 1, 5, 'w', 0}, {'a', 0, 0, 1, 5, 'm', 0}, {'a', 0, 0, 1, 5, 'm', 1}}},
      {"and the other way round",
       {{'p', 0, 0, 1, 5, 'w', 0}, {'p', 0, 0, kAny, 5, 'w', 0}, {'a', 0, 0, 1, 5, 'm', 0}, {'a', 0, 0, 1, 5, 'm', 1}}},
      {"any tag, the same", {{'p', 0, 0, 1, kAny, 'w', 0}, {'p', 0, 0, 1, 5, 'w', 0}, {'a', 0, 0, 1, 5, 'm', 0}}},
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
      {"and in the other order",
       {{'p', 0, 0, 1, 5, 'w', 0},
        {'p', 0, 0, kAny, 5, 'w', 0},
        {'p', 0, 0, 1, kAny, 'w', 0},
        {'p', 0, 0, kAny, kAny, 'w', 0},
        {'a', 0, 0, 2, 5, 'm', 1},
        {'a', 0, 0, 1, 6, 'm', 2},
        {'a', 0, 0, 2, 6, 'm', 3},
        {'a', 0, 0, 2, 6, 'w', 0},
        {'a', 0, 0, 1, 5, 'm', 0}}},
      {"a receive from anybody takes the oldest of all messages",
       {{'a', 0, 0, 3, 5, 'w', 0},
        {'a', 0, 0, 1, 5, 'w', 0},
        {'p', 0, 0, 1, 5, 'm', 1},
        {'a', 0, 0, 1, 5, 'w', 0},
        {'p', 0, 0, kAny, 5, 'm', 0},
        {'p', 0, 0, kAny, 5, 'm', 3}}},
      {"any tag: what another receive took is gone",
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
      {"a probe leaves what it finds, a matched probe takes it",
       {{'i', 0, 0, kAny, kAny, 'n', 0},
        {'a', 0, 0, 1, 5, 'w', 0},
        {'a', 0, 0, 2, 5, 'w', 0},
        {'i', 0, 0, kAny, 5, 'm', 1},
        {'i', 0, 0, 2, kAny, 'm', 2},
        {'t', 0, 0, kAny, kAny, 'm', 1},
        {'t', 0, 0, 1, 5, 'n', 0},
        {'p', 0, 0, kAny, kAny, 'm', 2}}},
      {"a probe posts nothing", {{'i', 0, 0, 1, 5, 'n', 0}, {'t', 0, 0, 1, 5, 'n', 0}, {'a', 0, 0, 1, 5, 'w', 0}}},
      {"a receive that was taken back gets nothing, the next one does",
       {{'p', 0, 0, 1, 5, 'w', 0},
        {'p', 0, 0, kAny, 5, 'w', 0},
        {'p', 0, 0, 1, 5, 'w', 0},
        {'c', 0, 0, 0, 0, 'm', 0},
        {'a', 0, 0, 1, 5, 'm', 1},
        {'c', 0, 0, 0, 1, 'n', 0},
        {'a', 0, 0, 1, 5, 'm', 2},
        {'c', 0, 0, 0, 2, 'n', 0}}},
      {"one from the middle of a stream is taken back",
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
