// SPDX-License-Identifier: Apache-2.0
// Barriers that reduce words: threads contribute at random; the reference is a plain loop over all contributions.
#include <algorithm>
#include <array>
#include <vector>

#include "harness.h"
#include "tests.h"

namespace mailbox_test {
namespace {

enum : uint32_t { kReduce = 0x80A, kReducedLow = 0xCD4 };
constexpr unsigned kEpochs = 24;

struct Given {
  bool any = false;
  uint64_t value = 0;
};
struct Model {
  std::array<std::array<Given, 2>, kEpochs> words;
};

unsigned op_of(unsigned epoch, unsigned word) { return word ? epoch >> 2 & 3 : epoch & 3; }

uint64_t reduced(unsigned op, uint64_t a, uint64_t b) {
  switch (op) {
    case 1: return static_cast<int64_t>(a) < static_cast<int64_t>(b) ? a : b;
    case 2: return static_cast<int64_t>(a) < static_cast<int64_t>(b) ? b : a;
    case 3: return a | b;
    default: return a + b;
  }
}

Task giver(Bench& b, unsigned t, Model& model) {
  for (unsigned epoch = 0; epoch < kEpochs; epoch++) {
    // In some epochs no thread contributes a word, in some few threads do.
    const unsigned gives = epoch % 5 == 4 ? 0 : epoch % 7 == 3 ? unsigned(t == 1) : b.below(4);
    for (unsigned i = 0; i < gives; i++) {
      const unsigned word = epoch % 3 == 0 ? 0 : b.below(2), op = op_of(epoch, word);
      uint64_t value = b.random();
      if (b.below(3) == 0) value = b.below(2) ? b.below(4) : 0 - uint64_t(b.below(4));
      if (b.below(8) == 0) value = b.below(2) ? 1ull << 63 : ~0ull >> 1;
      co_await b.write(t, kSendMaskLow, uint32_t(value));
      co_await b.write(t, kSendMaskHigh, uint32_t(value >> 32));
      Given& g = model.words[epoch][word];
      g.value = g.any ? reduced(op, g.value, value) : value;
      g.any = true;
      const Outcome o = co_await b.write(t, kReduce, word << 2 | op);
      CHECK(!o.trap, "a contribution traps");
    }
    const Outcome o = co_await b.write(t, kIdle, 1);
    CHECK(!o.trap, "idle traps");
    for (unsigned word = 0; word < 2; word++) {
      if (!model.words[epoch][word].any) continue;
      const uint32_t low = (co_await b.read(t, kReducedLow + 2 * word)).data;
      const uint32_t high = (co_await b.read(t, kReducedLow + 2 * word + 1)).data;
      const uint64_t got = uint64_t(high) << 32 | low, want = model.words[epoch][word].value;
      CHECK(got == want, "epoch %u, word %u: %llx, not %llx", epoch, word, (unsigned long long)got,
            (unsigned long long)want);
    }
  }
  co_return 0;
}

Task wrong_codes(Bench& b) {
  for (uint32_t code : {8u, 0x100u, ~0u}) {
    const Outcome o = co_await b.write(0, kReduce, code);
    CHECK(o.trap && o.cause == kBadRegister, "an invalid code does not trap");
  }
  CHECK((co_await b.read(0, kReduce)).trap, "the register is write-only");
  CHECK((co_await b.write(0, kReducedLow, 0)).trap, "a result is read-only");
  co_return 0;
}

}  // namespace

void reductions(uint64_t seed) {
  if (!kMulticast) {
    Bench b(seed);
    b.start(0, [](Bench& bench) -> Task {
      CHECK((co_await bench.write(0, kReduce, 0)).trap, "words require masks");
      co_return 0;
    }(b));
    b.run(3'000'000);
    return;
  }
  for (unsigned chance : {256u, 100u}) {
    Bench b(seed + chance);
    b.detect = true;
    b.request_chance = b.response_chance = chance;
    Model model;
    for (unsigned t = 0; t < kThreads; t++) b.start(t, giver(b, t, model));
    b.run(3'000'000);
  }
  Bench b(seed);
  b.start(0, wrong_codes(b));
  b.run(3'000'000);
}

}  // namespace mailbox_test
