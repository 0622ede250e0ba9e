// SPDX-License-Identifier: Apache-2.0
/// Exhaustive test: every sequence of `length` requests. Each starts in an engine that the previous one has left empty,
/// so entry numbers are reused, after receives and messages of another rank that fill the CAM partly or completely.
/// Then all remaining entries are removed, which reveals a lost, duplicated or reordered entry.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "models/match/engine_bench.h"

using namespace match_test;

namespace {

constexpr uint32_t kStrangers = 100;

/// A request of two sources, two tags and the wildcards; a cancel selects the n-th waiting receive.
struct Step {
  Command command;
  unsigned waits = 0;
};

std::vector<Step> steps() {
  std::vector<Step> all;
  for (Op op : {Op::kPost, Op::kArrive, Op::kProbe, Op::kTake})
    for (unsigned source = 0; source < 3; ++source)
      for (unsigned tag = 0; tag < 3; ++tag) {
        if (op == Op::kArrive && (source == 2 || tag == 2)) continue;
        Step step;
        step.command.op = op;
        step.command.any_source = source == 2;
        step.command.any_tag = tag == 2;
        step.command.source = source == 2 ? 0 : static_cast<uint16_t>(source);
        step.command.tag = tag == 2 ? 0 : tag;
        all.push_back(step);
      }
  for (unsigned waits = 0; waits < 4; ++waits) {
    Step step;
    step.command.op = Op::kCancel;
    step.waits = waits;
    all.push_back(step);
  }
  return all;
}

/// Removes all remaining entries from both queues, alternately: messages by a `take` of anything, receives by a message
/// that only they and older receives match.
void drain(Bench& b) {
  b.finish();
  for (uint32_t handle = 500; !b.reference.messages().empty(); ++handle) {
    Command c;
    c.op = Op::kTake;
    c.rank = b.reference.messages().front().rank;
    c.any_source = c.any_tag = true;
    c.handle = handle;
    b.send(c);
    b.finish();
  }
  for (uint32_t handle = 600; !b.reference.posts().empty(); ++handle) {
    Command c = handle % 2 ? b.reference.posts().front() : b.reference.posts().back();
    c.op = Op::kArrive;
    c.any_source = c.any_tag = false;
    c.handle = handle;
    b.send(c);
    b.finish();
  }
  CHECK(b.top->posts_o == 0 && b.top->messages_o == 0, "%u receives and %u messages are left", b.top->posts_o,
        b.top->messages_o);
}

/// One sequence, given by step numbers. Returns false if it cancels a nonexistent receive, and so equals another
/// sequence.
bool sequence(Bench& b, const std::vector<Step>& all, const std::vector<unsigned>& which, unsigned strangers) {
  b.send_strangers(strangers, 1, kStrangers, Op::kPost);
  uint32_t handle = 0;
  bool told = true;
  for (unsigned number : which) {
    Command c = all[number].command;
    if (c.op == Op::kCancel) {
      b.finish();
      told = all[number].waits < b.reference.posts().size();
      if (!told) break;
      b.send_cancel(std::next(b.reference.posts().begin(), all[number].waits)->handle);
    } else {
      c.handle = handle++;
      b.send(c);
    }
  }
  drain(b);
  return told;
}

}  // namespace

/// Arguments: number of requests; number of strangers; `collide`: all keys in one bin of the hash.
int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const auto length = static_cast<unsigned>(std::atoi(argv[1]));
  const auto strangers = static_cast<unsigned>(std::atoi(argv[2]));
  Bench b(1);
  for (int i = 0; i < 4; ++i) b.top->seed_i[i] = 0;
  // The last used bit of the secret depends on the rank alone.
  constexpr unsigned kLast = 73 + __builtin_ctz(kEntries);
  if (!std::strcmp(argv[3], "collide")) b.top->seed_i[kLast / 32] = 1u << kLast % 32;
  const std::vector<Step> all = steps();
  std::vector<unsigned> which(length, 0);
  unsigned long long sequences = 0;
  for (bool more = true; more;) {
    sequences += sequence(b, all, which, strangers);
    more = false;
    for (unsigned n = length; n-- > 0 && !more;) {
      if (++which[n] < all.size())
        more = true;
      else
        which[n] = 0;
    }
  }
  std::printf("sequences %llu steps %zu answered %llu matched %llu cycles %llu\n", sequences, all.size(),
              (unsigned long long)b.answered, (unsigned long long)b.matched, (unsigned long long)b.now);
}
