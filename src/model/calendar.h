// SPDX-License-Identifier: Apache-2.0
/// The capacity of a resource of the timing model over time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gossamer::model {

inline constexpr double kBucket = 64;    // cycles
inline constexpr size_t kHostLine = 64;  // bytes of a line of the host's caches

/// Capacity of a resource, by time. `now` never decreases: buckets before it are dropped, so that the live ones stay in
/// few lines of the host's cache, and a request of an earlier time begins at the first bucket.
class Calendar {
 public:
  explicit Calendar(double capacity = kBucket)
      : capacity_(capacity), used_(kLeastBuckets), all_(used_.data()), mask_(kLeastBuckets - 1) {}
  Calendar(const Calendar& other) : Calendar(other.capacity_) {}  // an empty one
  Calendar& operator=(const Calendar&) = delete;

  /// Takes `amount` from time `t` on, at most `rate` a cycle. Returns when the last part is taken.
  double take(double t, double amount, double rate) {
    auto bucket = static_cast<uint64_t>(t * (1 / kBucket));
    double from = t - static_cast<double>(bucket) * kBucket;
    if (bucket < first_) [[unlikely]] {
      bucket = first_;
      from = 0;
    }
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

  /// No further request begins before `now`.
  void advance(double now) {
    const auto bucket = static_cast<uint64_t>(now * (1 / kBucket));
    if (bucket <= first_) return;
    const uint64_t dropped = std::min(bucket - first_, mask_ + 1);
    for (uint64_t i = 0; i < dropped; ++i) all_[(first_ + i) & mask_] = 0;
    first_ = bucket;
    full_ = std::max(full_, first_);
  }
  double take(double now, double t, double amount, double rate) {
    advance(now);
    return take(t, amount, rate);
  }
  double delay(double now, double t, double amount) {
    advance(now);
    return delay(t, amount);
  }

  /// Takes `amount` between `t` and `end`. Returns the delay of `end`.
  double spread(double now, double t, double end, double amount) {
    constexpr double kFew = 8;  // that are taken at once
    if (amount <= kFew) return delay(now, t, amount);
    advance(now);
    const auto bucket = std::max(static_cast<uint64_t>(t * (1 / kBucket)), first_);
    const double load = std::min(at(bucket) / capacity_, 0.95);
    const double rate = std::min(amount / (end - t), capacity_ / kBucket);
    return std::max(0.0, take(t, amount, rate) - end) + kFew * kBucket / capacity_ * 0.5 * load / (1 - load);
  }

  /// Fetches what requests from time `t` on read.
  void prefetch(double t, uint64_t lines) const {
    const auto bucket = static_cast<uint64_t>(t * (1 / kBucket));
    for (uint64_t i = 0; i < lines; ++i) {
      __builtin_prefetch(&all_[(bucket + i * (kHostLine / sizeof(double))) & mask_], 1);
    }
  }

  /// Takes `amount` at once. Returns the delay.
  double delay(double t, double amount) {
    auto bucket = static_cast<uint64_t>(t * (1 / kBucket));
    double found = 0;
    if (bucket < first_) [[unlikely]] {
      bucket = first_;
      found = static_cast<double>(bucket) * kBucket - t;
    }
    const bool skips = amount >= 1 && bucket <= full_;
    if (skips && bucket < full_) {
      bucket = full_;
      found = static_cast<double>(bucket) * kBucket - t;
    }
    for (;;) {
      double& used = at(bucket);
      if (used + amount <= capacity_ || used <= 0) {
        if (skips && amount == 1) full_ = bucket;
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
  static constexpr uint64_t kLeastBuckets = 64;
  double& at(uint64_t bucket) {
    if (bucket - first_ > mask_) [[unlikely]]
      grow(bucket);
    return all_[bucket & mask_];
  }
  [[gnu::noinline]] void grow(uint64_t bucket) {
    std::vector<double> larger(std::bit_ceil(bucket - first_ + 1));
    for (uint64_t i = first_; i < first_ + used_.size(); ++i) {
      larger[i & (larger.size() - 1)] = used_[i & (used_.size() - 1)];
    }
    used_.swap(larger);
    all_ = used_.data();
    mask_ = used_.size() - 1;
  }
  double capacity_;
  uint64_t first_ = 0;        // the bucket of `now`
  uint64_t full_ = 0;         // buckets from the first to before this one have no space for a request of 1
  std::vector<double> used_;  // of each bucket, by its number modulo the size, which is a power of two
  double* all_;
  uint64_t mask_;
};

}  // namespace gossamer::model
