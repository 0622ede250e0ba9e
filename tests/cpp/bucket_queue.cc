// SPDX-License-Identifier: Apache-2.0
/// BucketQueue against std::priority_queue, under random operations.
#include "check.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "gossamer/cpu/bucket_queue.h"

using gossamer::cpu::BucketQueue;

namespace {

using Entry = std::pair<uint32_t, uint32_t>;  // key, item
using Reference = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;

/// All items of the lowest key.
std::vector<uint32_t> lowestOf(Reference& heap, uint32_t& key) {
  std::vector<uint32_t> items;
  if (heap.empty()) return items;
  key = heap.top().first;
  while (!heap.empty() && heap.top().first == key) {
    items.push_back(heap.top().second);
    heap.pop();
  }
  return items;
}

/// Keys near each other, far from each other, and at byte boundaries.
uint32_t nextKey(std::mt19937_64& random, uint32_t low) {
  const uint64_t room = uint64_t{0xffffffff} - low;
  const unsigned bits = static_cast<unsigned>(random() % 33);
  const uint64_t step = bits ? random() >> (64 - bits) : 0;
  uint64_t key = low + std::min(step, room);
  if (random() % 8 == 0) key = std::min<uint64_t>(key | 0xff, 0xffffffff);
  if (random() % 8 == 0) key = std::max<uint64_t>(key & ~uint64_t{0xff}, low);
  if (random() % 64 == 0) key = 0xffffffff;
  return static_cast<uint32_t>(key);
}

}  // namespace

GS_TEST(empty_queue_returns_no_item) {
  BucketQueue queue;
  std::vector<uint32_t> items{1, 2, 3};
  CHECK(!queue.pop(items, [](uint32_t, uint32_t&) { return true; }));
  CHECK(items.empty());
}

GS_TEST(upcoming_predicts_popOne) {
  std::mt19937_64 random(check::seed);
  const auto keep = [](uint32_t, uint32_t&) { return true; };
  BucketQueue queue;
  uint32_t item = 0;
  CHECK(queue.upcoming().empty());
  for (uint32_t i = 0; i < 200; ++i) queue.push(7, i);
  size_t told = 0;
  while (queue.popOne(item, keep)) {
    // The items returned by upcoming() are popped next, the last first, whatever is pushed later.
    const std::vector<uint32_t> upcoming(queue.upcoming().begin(), queue.upcoming().end());
    told += upcoming.size();
    const size_t more = std::min<size_t>(upcoming.size(), random() % 4);
    for (size_t i = 1; i <= more; ++i) {
      CHECK(queue.popOne(item, keep));
      CHECK_EQ(item, upcoming[upcoming.size() - i]);
    }
  }
  CHECK(told > 200);
  CHECK(queue.upcoming().empty());
}

GS_TEST(keys_are_popped_in_exact_order) {
  std::mt19937_64 random(check::seed);
  for (int round = 0; round < check::pick(40, 200, 2000); ++round) {
    BucketQueue queue;
    Reference heap;
    std::vector<uint32_t> keys;
    std::vector<uint32_t> items;
    uint32_t low = 0;
    const uint64_t pushes = random() % 12;
    for (int move = 0; move < 400; ++move) {
      if (heap.empty() || random() % 12 < pushes) {
        const auto item = static_cast<uint32_t>(keys.size());
        keys.push_back(nextKey(random, low));
        queue.push(keys.back(), item);
        heap.emplace(keys.back(), item);
        continue;
      }
      std::vector<uint32_t> expected = lowestOf(heap, low);
      const bool some = queue.pop(items, [&](uint32_t item, uint32_t& key) {
        key = keys[item];
        return true;
      });
      CHECK(some);
      std::sort(items.begin(), items.end());
      CHECK(items == expected);
      CHECK_EQ(queue.lowest(), low);
      if (check::failures) return;
    }
    while (!heap.empty()) {
      std::vector<uint32_t> expected = lowestOf(heap, low);
      CHECK(queue.pop(items, [&](uint32_t item, uint32_t& key) {
        key = keys[item];
        return true;
      }));
      std::sort(items.begin(), items.end());
      CHECK(items == expected);
    }
    CHECK(!queue.pop(items, [](uint32_t, uint32_t&) { return true; }));
    queue.restart();
    queue.push(0, 5);
    CHECK(queue.pop(items, [](uint32_t, uint32_t& key) { return key = 0, true; }));
    CHECK_EQ(queue.lowest(), 0u);
  }
}

/// One at a time and all at once, alternating: the order of keys is the same.
GS_TEST(popOne_and_pop_return_keys_in_the_same_order) {
  std::mt19937_64 random(check::seed ^ 0x0e);
  for (int round = 0; round < check::pick(40, 200, 2000); ++round) {
    BucketQueue queue;
    std::multiset<Entry> left;
    std::vector<uint32_t> keys;
    std::vector<uint32_t> items;
    uint32_t low = 0;
    const auto keyOf = [&](uint32_t item, uint32_t& key) {
      key = keys[item];
      return true;
    };
    const auto take = [&](uint32_t item) {
      CHECK_EQ(keys[item], left.begin()->first);
      CHECK_EQ(left.erase({keys[item], item}), 1u);
    };
    for (int move = 0; move < 500; ++move) {
      if (left.empty() || random() % 2) {
        keys.push_back(nextKey(random, low));
        const auto item = static_cast<uint32_t>(keys.size() - 1);
        queue.push(keys.back(), item);
        left.insert({keys.back(), item});
      } else if (queue.lowestCount() > 2) {
        const size_t lowestCount = queue.lowestCount();
        const uint32_t lowest = queue.lowest();
        CHECK(queue.pop(items, keyOf));
        CHECK_EQ(items.size(), lowestCount);
        CHECK_EQ(queue.lowest(), lowest);
        for (const uint32_t item : items) take(item);
      } else {
        uint32_t item = 0;
        CHECK(queue.popOne(item, keyOf));
        take(item);
      }
      low = queue.lowest();
      if (check::failures) return;
    }
    for (uint32_t item = 0; !left.empty() && queue.popOne(item, keyOf);) take(item);
    CHECK(left.empty());
    uint32_t none = 0;
    CHECK(!queue.popOne(none, keyOf));
    if (check::failures) return;
  }
}

/// A search that ends at a limit finds the items up to it, and keeps keys above it in exact order.
GS_TEST(popOne_stops_at_its_limit) {
  std::mt19937_64 random(check::seed ^ 0x11);
  for (int round = 0; round < check::pick(40, 200, 2000); ++round) {
    BucketQueue queue;
    std::multiset<Entry> left;
    std::vector<uint32_t> keys;
    uint32_t limit = 0;
    const auto keyOf = [&](uint32_t item, uint32_t& key) {
      key = keys[item];
      return true;
    };
    for (int move = 0; move < 500; ++move) {
      CHECK_EQ(queue.empty(), left.empty());
      CHECK(left.empty() || queue.bound() <= left.begin()->first);
      CHECK(left.empty() ? !queue.nextBucketSize() : queue.nextBucketSize() >= left.count(*left.begin()));
      if (random() % 2) {
        // Keys from the limit on may be pushed, even if the next key is far away.
        keys.push_back(nextKey(random, limit));
        const auto item = static_cast<uint32_t>(keys.size() - 1);
        queue.push(keys.back(), item);
        left.insert({keys.back(), item});
        continue;
      }
      if (random() % 4 == 0) limit = nextKey(random, limit);
      uint32_t item = 0;
      const bool some = random() % 2 ? queue.popOne(item, keyOf, limit) : false;
      if (some) {
        CHECK_EQ(keys[item], left.begin()->first);
        CHECK_EQ(left.erase({keys[item], item}), 1u);
      }
      const bool there = !left.empty() && left.begin()->first <= limit;
      CHECK_EQ(queue.find(keyOf, limit), there);
      CHECK(!there || (queue.lowest() == left.begin()->first && queue.lowestCount()));
      CHECK(queue.lowest() <= limit);
      // Popping continues from there.
      if (there) limit = std::max(limit, queue.lowest());
      if (check::failures) return;
    }
  }
}

GS_TEST(key_below_the_lowest_is_treated_as_the_lowest) {
  BucketQueue queue;
  std::vector<uint32_t> items;
  const auto keep = [](uint32_t item, uint32_t& key) { return key = item == 1 ? 70000u : 3u, true; };
  queue.push(70000, 1);
  CHECK(queue.pop(items, keep));
  CHECK_EQ(queue.lowest(), 70000u);
  queue.push(3, 2);
  queue.push(70000, 1);
  queue.push(70001, 3);
  CHECK(queue.pop(items, keep));
  std::sort(items.begin(), items.end());
  CHECK(items == (std::vector<uint32_t>{1, 2}));
  CHECK_EQ(queue.lowest(), 70000u);
}

/// As the engine uses it: an item whose key changes is pushed again, and a dropped
/// item remains in the queue; popped items are checked by their current key.
GS_TEST(changed_keys_and_dropped_items) {
  std::mt19937_64 random(check::seed ^ 0x5eed);
  for (int round = 0; round < check::pick(40, 200, 2000); ++round) {
    const uint32_t count = 1 + static_cast<uint32_t>(random() % 60);
    BucketQueue queue;
    std::vector<uint32_t> key(count);
    std::vector<bool> wanted(count);
    std::vector<uint32_t> items;
    const auto keyOf = [&](uint32_t item, uint32_t& now) {
      if (!wanted[item]) return false;
      now = key[item];
      return true;
    };
    uint32_t low = 0;
    for (int move = 0; move < 500; ++move) {
      const auto item = static_cast<uint32_t>(random() % count);
      switch (random() % 4) {
        case 0:
        case 1:
          key[item] = nextKey(random, low);
          wanted[item] = true;
          queue.push(key[item], item);
          break;
        case 2:
          wanted[item] = false;
          break;
        default: {
          std::set<uint32_t> expected;
          uint32_t least = 0xffffffff;
          for (uint32_t i = 0; i < count; ++i) {
            if (wanted[i]) least = std::min(least, key[i]);
          }
          for (uint32_t i = 0; i < count; ++i) {
            if (wanted[i] && key[i] == least) expected.insert(i);
          }
          // A bucket may contain only dropped items; the queue then searches the next one.
          std::set<uint32_t> got;
          while (got.empty()) {
            if (!queue.pop(items, keyOf)) {
              // Only dropped items were left, so the order restarts.
              queue.restart();
              low = 0;
              break;
            }
            CHECK(queue.lowest() >= low);
            low = queue.lowest();
            for (const uint32_t i : items) {
              if (!wanted[i]) continue;
              if (key[i] > low) {
                queue.push(key[i], i);
              } else {
                got.insert(i);
              }
            }
          }
          CHECK(got == expected);
          if (!expected.empty()) CHECK_EQ(low, least);
          for (const uint32_t i : got) wanted[i] = false;
        }
      }
      if (check::failures) return;
    }
  }
}
