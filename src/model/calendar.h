// SPDX-License-Identifier: Apache-2.0
/// The capacity of a resource of the timing model over time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gossamer::model {

inline constexpr double kBucket = 64;  // cycles

/// Capacity of a resource, by time.
class Calendar {
 public:
  explicit Calendar(double capacity = kBucket) : capacity_(capacity), buckets_(kBuckets) {}

  /// Takes `amount` from time `t` on, at most `rate` a cycle. Returns when the last part is taken.
  double take(double t, double amount, double rate) {
    auto bucket = static_cast<uint64_t>(t * (1 / kBucket));
    double from = t - static_cast<double>(bucket) * kBucket;
    for (;;) {
      double& used = at(bucket);
      const double most = std::min((kBucket - from) * rate, capacity_ - used);
      if (amount <= most) {
        used += amount;
        return static_cast<double>(bucket) * kBucket + from + amount / rate;
      }
      if (most > 0) {
        used += most;
        amount -= most;
      }
      ++bucket;
      from = 0;
    }
  }

  /// Takes `amount` at once. Returns the delay.
  double delay(double t, double amount) {
    auto bucket = static_cast<uint64_t>(t * (1 / kBucket));
    double found = 0;
    for (;;) {
      double& used = at(bucket);
      if (used + amount <= capacity_ || used <= 0) {
        // Requests of one bucket meet each other by chance.
        const double load = std::min(used / capacity_, 0.95);
        used += amount;
        return found + amount * kBucket / capacity_ * 0.5 * load / (1 - load);
      }
      ++bucket;
      found = static_cast<double>(bucket) * kBucket - t;
    }
  }

 private:
  static constexpr uint64_t kBuckets = 2048;
  double& at(uint64_t bucket) {
    Bucket& its = buckets_[bucket % kBuckets];
    if (its.number != bucket) its = {bucket, 0};
    return its.used;
  }
  struct Bucket {
    uint64_t number = ~uint64_t{0};
    double used = 0;
  };
  double capacity_;
  std::vector<Bucket> buckets_;
};

}  // namespace gossamer::model
