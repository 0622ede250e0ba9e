// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "gs_mem_model.h"
#include "gs_mem_store.h"

namespace gossamer::sim {

/// Parameters of a QDR SRAM, from [memory.sram] of a configuration.
struct SramConfig {
  std::uint64_t bytes = 1ull << 23, dataBytes = 2;
  /// The SRAM's clock and the design's, in kHz. Each bus transfers two items of dataBytes in an SRAM clock.
  std::uint64_t sramKhz = 450000, coreKhz = 250000;
  /// From request to first data, in the design's cycles.
  std::uint64_t readLatency = 16;
  std::uint64_t lineBytes = 32, portBytes = 32;
};

/// A QDR SRAM with its controller: reads and writes have separate buses and are served in order.
///
/// Time is in ticks: a byte on a bus takes coreKhz ticks, and a cycle has as many ticks as a bus transfers kilobytes in
/// a second, so that no time is rounded.
class SramController : public MemoryModel {
 public:
  explicit SramController(const SramConfig& config);
  bool ready() const override { return reads_.size() + responses_.size() < kReads && writes_.size() < kWrites; }
  void put(std::uint64_t cycle, bool write, bool last, std::uint64_t address, std::uint32_t id,
           const std::uint8_t* data) override;
  void tick(std::uint64_t cycle) override;
  bool has(std::uint64_t) const override { return !responses_.empty() || !acks_.empty(); }
  Beat get() override;
  bool idle() const override { return reads_.empty() && writes_.empty() && responses_.empty() && acks_.empty(); }

  std::uint64_t size() const override { return store_.size(); }
  void peek(std::uint64_t address, std::uint8_t* to, std::size_t count) const override {
    store_.read(address, to, count);
  }
  void poke(std::uint64_t address, const std::uint8_t* from, std::size_t count) override {
    store_.write(address, from, count);
  }
  /// Bytes that each bus transferred.
  std::uint64_t readBytes() const { return readBytes_; }
  std::uint64_t writtenBytes() const { return writtenBytes_; }

 private:
  static constexpr std::size_t kReads = 64, kWrites = 32;
  struct Request {
    std::uint64_t address, begin, end;  // begin, end: of its transfer on the bus
    std::uint32_t id;
    std::array<std::uint8_t, kMaxBytes> data{};
  };

  SramConfig c_;
  MemoryStore store_;
  std::uint64_t ticks_, line_, latency_;  // ticks of a cycle, of a line on a bus, of the read latency
  std::uint64_t readFree_ = 0, writeFree_ = 0;
  std::deque<Request> reads_, writes_, responses_;
  std::deque<std::uint32_t> acks_;
  Request incoming_{};
  std::uint64_t incomingBytes_ = 0, respondedBytes_ = 0;
  std::uint64_t readBytes_ = 0, writtenBytes_ = 0;
};

}  // namespace gossamer::sim
