// SPDX-License-Identifier: Apache-2.0
/// Aggregates: every reduction against plain arithmetic, and the values that each step of each vertex reads, on every
/// engine and in every delivery mode.
#include "check.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "network.h"

using namespace gossamer;
using namespace test;

namespace {

struct Totals {
  Sum<uint64_t> sum;
  Sum<int32_t> difference;
  Min<int32_t> least;
  Max<uint64_t> most;
  Min<float> nearest;
  Max<double> farthest;
  Or<uint16_t> seen[2];
  Or<bool> any;
  FixedSum<float, 20> exact;
  FixedSum<double, 34> finer;
  Sum<double> real;
};
static_assert(aggregates::areAll<Totals>() && aggregates::count<Totals> == 12);
static_assert(aggregates::reductions<Totals>.of[0] == Reduce::sum);
static_assert(aggregates::reductions<Totals>.of[5] == Reduce::max);
static_assert(aggregates::reductions<Totals>.of[7] == Reduce::either);
static_assert(aggregates::reductions<Totals>.of[11] == Reduce::realSum);

struct Nested {
  struct Point {
    Sum<float> x;
    Min<float> y;
  } points[3];
};
static_assert(aggregates::areAll<Nested>() && aggregates::count<Nested> == 6);
static_assert(aggregates::reductions<Nested>.of[4] == Reduce::realSum);
static_assert(aggregates::reductions<Nested>.of[5] == Reduce::min);
static_assert(aggregates::areAll<None>() && aggregates::count<None> == 0);
struct WithNumber {
  Sum<uint64_t> sum;
  uint64_t number;
};
static_assert(!aggregates::areAll<WithNumber>());

/// The contributions of vertex v in step t: numbers of every kind, with all their bits in use.
struct Given {
  uint64_t large;
  int32_t small;
  float real;
  double fine;
  bool rare;

  Given(uint32_t v, uint32_t t) {
    const uint64_t bits = mix(uint64_t{v} << 32 | (t + 1));
    large = bits;
    small = static_cast<int32_t>(bits >> 20);
    real = static_cast<float>(static_cast<int64_t>(mix(bits)) >> 40) / 64.0f;
    fine = static_cast<double>(static_cast<int64_t>(mix(bits + 1)) >> 11) * 0x1p-40;
    rare = bits % 4099 == 0;
  }
  void to(Totals& mine) const {
    mine.sum.give(large);
    mine.difference.give(small);
    mine.least.give(small);
    mine.most.give(large);
    mine.nearest.give(real);
    mine.farthest.give(fine);
    mine.seen[0].give(static_cast<uint16_t>(uint64_t{1} << large % 16));
    if (rare) mine.seen[1].give(3);
    mine.any.give(rare);
    mine.exact.give(real);
    mine.finer.give(fine);
    mine.real.give(fine);
  }
};

/// The reduction of many contributions, in plain loops over wide types.
struct Expected {
  uint64_t sum = 0;
  int64_t difference = 0;
  int32_t least = std::numeric_limits<int32_t>::max();
  uint64_t most = 0;
  float nearest = std::numeric_limits<float>::infinity();
  double farthest = -std::numeric_limits<double>::infinity();
  uint16_t seen = 0;
  bool any = false;
  int64_t exact = 0, finer = 0;  // in units of the last bit
  long double real = 0, size = 0;

  void add(const Given& g) {
    sum += g.large;
    difference += g.small;
    least = std::min(least, g.small);
    most = std::max(most, g.large);
    nearest = std::min(nearest, g.real);
    farthest = std::max(farthest, g.fine);
    seen |= static_cast<uint16_t>(1u << g.large % 16);
    any |= g.rare;
    exact += std::llrint(static_cast<long double>(g.real) * 0x1p20L);
    finer += std::llrint(static_cast<long double>(g.fine) * 0x1p34L);
    real += g.fine;
    size += std::fabs(static_cast<long double>(g.fine));
  }
  bool matches(const Totals& all) const {
    return all.sum.value() == sum && all.difference.value() == difference &&
           all.least.value() == least && all.most.value() == most && all.nearest.value() == nearest &&
           all.farthest.value() == farthest && all.seen[0].value() == seen && all.seen[1].value() == (any ? 3 : 0) &&
           all.any.value() == any && all.exact.word == exact && all.finer.word == finer &&
           all.exact.value() == static_cast<float>(static_cast<double>(exact) * 0x1p-20) &&
           all.finer.value() == static_cast<double>(finer) * 0x1p-34 &&
           std::fabs(all.real.value() - static_cast<double>(real)) <= 1e-12 * static_cast<double>(size);
  }
};

/// By the step that reads it; empty in step 0.
std::vector<Expected> expected;

struct GiverState {
  uint32_t vertex;
  uint32_t received;
  uint32_t wrong;  // steps that read an unexpected value
  uint64_t heard;
};

struct GiverParams {
  uint32_t steps;
  uint32_t sending;  // of 256 vertices, in each step
};

/// Contributes in every step, and sends to all vertices (steps, pulls and sends are then one pass) or to some.
template <bool Ranked>
struct Giver : PVertex<GiverState, None, uint32_t, GiverParams, Totals> {
  using Base = PVertex<GiverState, None, uint32_t, GiverParams, Totals>;
  using Base::params, Base::readyToSend, Base::s, Base::time;

  void init() { *readyToSend = Pin(0); }
  void send(uint32_t* m) {
    *m = time;
    *readyToSend = No;
  }
  void recv(const uint32_t* m, const None*) {
    ++s->received;
    s->heard += *m;
  }
  bool step(const Totals& all, Totals& mine) {
    s->wrong += !expected[time].matches(all);
    Given(s->vertex, time).to(mine);
    const bool on = time + 1 < params->steps;
    if (on && mix(s->vertex * 77 + time) % 256 < params->sending) *readyToSend = Pin(0);
    return on;
  }
};

struct RankedGiver : Giver<true> {
  uint32_t priority() const { return s->vertex % 17; }
};

std::vector<GiverState> givers(uint32_t n) {
  std::vector<GiverState> states;
  for (uint32_t v = 0; v < n; ++v) states.push_back({v, 0, 0, 0});
  return states;
}

void expectGivers(uint32_t n, uint32_t steps) {
  expected.assign(steps + 1, {});
  for (uint32_t t = 0; t < steps; ++t) {
    for (uint32_t v = 0; v < n; ++v) expected[t + 1].add(Given(v, t));
  }
}

template <typename V>
void checkGivers(const Ran<V>& ran, uint32_t steps, const std::string& what) {
  const int before = check::failures;
  uint64_t wrong = 0;
  for (const GiverState& s : ran.state) wrong += s.wrong;
  CHECK_EQ(wrong, 0u);
  CHECK_EQ(ran.stats.steps, steps);
  CHECK_EQ(ran.stats.aggregates.size(), aggregates::count<Totals>);
  CHECK(expected[steps].matches(ran.stats.template aggregatesAs<Totals>()));
  if (check::failures > before) std::fprintf(stderr, "  in %s\n", what.c_str());
}

// ---- A vertex whose step may be omitted ----

struct TokenTotals {
  Sum<uint32_t> touched;
  Sum<uint64_t> received;
};

struct TokenState {
  uint32_t vertex;
  uint32_t received;
  bool touched;
  uint32_t wrong;
};

struct TokenExpected {
  uint64_t touched = 0, received = 0;
};
std::vector<TokenExpected> expectedTokens;

bool passesOn(uint32_t vertex, uint32_t time) { return mix(vertex ^ uint64_t{time} << 40) % 3 == 0; }

struct Token : PVertex<TokenState, None, None, None, TokenTotals> {
  static constexpr bool lazyStep = true;

  void init() {}
  void send(None*) {
    s->touched = true;
    *readyToSend = No;
  }
  void recv(const None*, const None*) {
    s->touched = true;
    ++s->received;
  }
  bool step(const TokenTotals& all, TokenTotals& mine) {
    if (!s->touched) return false;
    const TokenExpected& e = expectedTokens[time];
    s->wrong += all.touched.value() != e.touched || all.received.value() != e.received;
    mine.touched.give(1);
    mine.received.give(s->received);
    s->received = 0;
    s->touched = false;
    if (time < 12 && passesOn(s->vertex, time)) *readyToSend = Pin(0);
    return time < 12;
  }
};

}  // namespace

GS_TEST(each_reduction_matches_plain_arithmetic) {
  std::mt19937_64 random(check::seed);
  for (int round = 0; round < check::pick(200, 1000, 20000); ++round) {
    Totals parts[3];
    Expected all;
    for (int i = static_cast<int>(random() % 40); i > 0; --i) {
      const Given g(static_cast<uint32_t>(random()), static_cast<uint32_t>(random()));
      g.to(parts[random() % 3]);
      all.add(g);
    }
    aggregates::reduce(parts[1], parts[2]);
    aggregates::reduce(parts[0], parts[1]);
    CHECK(all.matches(parts[0]));
  }
}

GS_TEST(min_and_max_at_the_limits_of_types) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Min<double> least;
  Max<float> most;
  CHECK_EQ(least.value(), inf);
  CHECK_EQ(most.value(), -std::numeric_limits<float>::infinity());
  least.give(nan);
  most.give(static_cast<float>(nan));
  most.give(-static_cast<float>(nan));
  CHECK_EQ(least.value(), inf);
  CHECK_EQ(most.value(), -std::numeric_limits<float>::infinity());
  for (const double x : {1e300, -0.0, 0.0, 5e-324, -5e-324, -1e-300, -inf}) {
    const double before = least.value();
    least.give(x);
    CHECK_EQ(least.value(), std::min(before, x));
  }
  Max<uint64_t> wide;
  CHECK_EQ(wide.value(), 0u);
  wide.give(~uint64_t{0});
  wide.give(5);
  CHECK_EQ(wide.value(), ~uint64_t{0});
  Min<uint64_t> narrow;
  CHECK_EQ(narrow.value(), ~uint64_t{0});
  narrow.give(uint64_t{1} << 63);
  CHECK_EQ(narrow.value(), uint64_t{1} << 63);
  narrow.give(2);
  CHECK_EQ(narrow.value(), 2u);
  // -0 and +0 are distinct in any order, so that the result does not depend on it.
  Max<float> zeros[2];
  zeros[0].give(0.0f);
  zeros[0].give(-0.0f);
  zeros[1].give(-0.0f);
  zeros[1].give(0.0f);
  CHECK(!std::signbit(zeros[0].value()) && !std::signbit(zeros[1].value()));
}

template <int Fraction, typename T>
void compareFixed(T value) {
  const long double scaled = std::ldexp(static_cast<long double>(value), Fraction);
  const long double limit = 0x1p62L;
  int64_t wanted;
  if (std::isnan(value)) {
    wanted = 0;
  } else if (std::fabs(scaled) >= limit) {
    wanted = value < 0 ? -detail::mostFixed : detail::mostFixed;
  } else {
    wanted = std::llrint(scaled);  // ties to even
  }
  CHECK_EQ(detail::fixedByBits(value, Fraction), wanted);
  CHECK_EQ(detail::fixedByDouble<Fraction>(static_cast<double>(value)), wanted);
}

GS_TEST(both_fixed_point_conversions_round_to_nearest) {
  std::mt19937_64 random(check::seed ^ 0x99);
  for (int round = 0; round < check::pick(20000, 100000, 5000000); ++round) {
    const uint64_t bits = random();
    float single;
    double both;
    const auto half = static_cast<uint32_t>(bits);
    std::memcpy(&single, &half, 4);
    std::memcpy(&both, &bits, 8);
    compareFixed<0>(single);
    compareFixed<40>(single);
    compareFixed<120>(single);
    compareFixed<-60>(single);
    compareFixed<0>(both);
    compareFixed<50>(both);
    // Near the point: ties and their neighbours.
    const double near = std::ldexp(static_cast<double>(static_cast<int64_t>(bits) >> (bits % 63)), -1);
    for (const double x : {near, std::nextafter(near, 1e300), std::nextafter(near, -1e300)}) {
      compareFixed<0>(x);
      compareFixed<0>(static_cast<float>(x));
      compareFixed<10>(x / 1024);
    }
    if (check::failures) return;
  }
}

GS_TEST(every_step_reads_the_previous_contributions) {
  std::mt19937_64 random(check::seed ^ 0x5555);
  uint64_t pulls = 0;
  const uint32_t steps = 6;
  for (const uint32_t n : {1u, 65u, 3001u}) {
    expectGivers(n, steps);
    for (const uint32_t sending : {256u, 120u, 4u}) {
      auto wiring = randomWiring<None>(random, n, 1, uint64_t{n} * 10, noValue);
      const GiverParams params{steps, sending};
      const std::string what = std::to_string(n) + " vertices of which " + std::to_string(sending) + "/256 send";
      for (const unsigned threads : threadCounts) {
        for (const bool withIn : {true, false}) {
          Listener<uint32_t> host;
          gossamer::HostEnd* const listens = withIn && threads == 2 ? &host : nullptr;
          const auto ran = runOn<Giver<false>>(wiring.network(withIn), givers(n), params, threads, listens);
          checkGivers(ran, steps, what + ", " + std::to_string(threads) + " threads");
          if (sending == 256 && withIn) pulls += ran.stats.pullRounds;
        }
        checkGivers(runOn<RankedGiver>(wiring.network(), givers(n), params, threads), steps, what + ", by priority");
      }
      const auto ran = runOn<Giver<false>, shuffle::Engine>(wiring.network(), givers(n), params, 1, nullptr, nullptr,
                                                            check::seed);
      checkGivers(ran, steps, what + ", shuffled");
    }
  }
  CHECK(pulls > 0);
}

GS_TEST(omitted_steps_contribute_nothing) {
  std::mt19937_64 random(check::seed ^ 0x6666);
  for (const uint32_t n : {50u, 4001u}) {
    // Few edges, so that steps cover few vertices; then many.
    for (const uint64_t edges : {uint64_t{n}, uint64_t{n} * 8}) {
      auto wiring = randomWiring<None>(random, n, 1, edges, noValue);
      std::vector<bool> touched(n, true);
      std::vector<uint32_t> received(n, 0);
      expectedTokens.assign(1, {});
      for (uint32_t t = 0; t < 14; ++t) {
        TokenExpected e;
        std::vector<bool> next(n, false);
        std::vector<uint32_t> arrives(n, 0);
        std::vector<bool> sends(n, false);
        for (uint32_t v = 0; v < n; ++v) {
          if (!touched[v]) continue;
          ++e.touched;
          e.received += received[v];
          sends[v] = next[v] = t < 12 && passesOn(v, t);
        }
        for (const auto& w : wiring.wires) {
          if (sends[w.from]) {
            next[w.to] = true;
            ++arrives[w.to];
          }
        }
        touched = next;
        received = arrives;
        expectedTokens.push_back(e);
      }
      std::vector<TokenState> states;
      for (uint32_t v = 0; v < n; ++v) states.push_back({v, 0, true, 0});
      const auto judge = [&](const auto& ran) {
        uint64_t wrong = 0;
        for (const TokenState& s : ran.state) wrong += s.wrong;
        CHECK_EQ(wrong, 0u);
        const auto last = ran.stats.template aggregatesAs<TokenTotals>();
        CHECK_EQ(last.touched.value(), expectedTokens[ran.stats.steps].touched);
        CHECK_EQ(last.received.value(), expectedTokens[ran.stats.steps].received);
      };
      for (const unsigned threads : threadCounts) judge(runOn<Token>(wiring.network(), states, {}, threads));
      judge(runOn<Token, shuffle::Engine>(wiring.network(), states, {}, 1, nullptr, nullptr, check::seed));
    }
  }
}
