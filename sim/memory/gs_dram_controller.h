// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "gs_dram_checker.h"
#include "gs_dram_config.h"
#include "gs_mem_model.h"
#include "gs_mem_store.h"

namespace gossamer::sim {

/// Minimum distances of commands, in command clocks, which the controller derives from a configuration.
struct DramTiming {
  explicit DramTiming(const DramConfig& config);
  std::uint64_t cl, cwl, rcd, rp, ras, rc, rrd, faw, rtp, rfc, refi;
  std::uint64_t burst;           // data of one access, and distance of two accesses
  std::uint64_t readToWrite;     // commands
  std::uint64_t writeToRead;     // commands
  std::uint64_t writeToCharge;   // command to precharge
};

/// A DRAM with its controller and its checker.
///
/// The controller is simple: it transfers data strictly in the order of the requests, with a lookahead of kWindow
/// requests to close and open rows in time. Rows stay open. It refreshes on time. The device stores data by bank, row
/// and column of the commands: a wrong command returns wrong data.
class DramController : public MemoryModel {
 public:
  explicit DramController(const DramConfig& config);
  /// With a timing that may be wrong, to test the checker.
  DramController(const DramConfig& config, const DramTiming& timing);

  bool ready() const override { return queue_.size() < kCapacity && responses_.size() < kResponses; }
  void put(std::uint64_t cycle, bool write, bool last, std::uint64_t address, std::uint32_t id,
           const std::uint8_t* data) override;
  void tick(std::uint64_t cycle) override;
  bool has(std::uint64_t cycle) const override;
  Beat get() override;
  const std::vector<std::string>& violations() const override { return checker_.violations(); }
  bool idle() const override { return queue_.empty() && responses_.empty() && acks_.empty(); }

  std::uint64_t size() const override { return store_.size(); }
  void peek(std::uint64_t address, std::uint8_t* to, std::size_t count) const override;
  void poke(std::uint64_t address, const std::uint8_t* from, std::size_t count) override;

  const DramChecker& checker() const { return checker_; }
  /// Command clocks with data transfers, and all command clocks.
  std::uint64_t busyClocks() const { return busy_; }
  std::uint64_t clocks() const { return clock_; }

 private:
  // Lookahead and capacity in requests, and capacity in responses.
  static constexpr std::size_t kWindow = 16, kCapacity = 32, kResponses = 64;
  struct Location {
    std::uint64_t bank, row, column;
  };
  struct Request {
    bool write;
    std::uint32_t id;
    std::uint64_t address, visible;  // visible: first clock in which the controller sees it
    Location location;
    std::uint64_t done = 0;          // bytes
    std::array<std::uint8_t, kMaxBytes> data{};
  };
  struct Response {
    std::uint64_t cycle;
    std::uint32_t id;
    std::array<std::uint8_t, kMaxBytes> data;
  };
  struct Bank {
    bool open = false;
    std::uint64_t row = 0;
    std::uint64_t canActivate = 0, canAccess = 0, canPrecharge = 0;
  };

  Location locate(std::uint64_t address) const;
  std::uint64_t linear(const Location& location) const {
    return (location.row * c_.banks + location.bank) * c_.rowBytes + location.column;
  }
  void step();
  bool stepRefresh();
  bool access(Request& head);
  bool prepare(const Request& request);
  void send(const DramCommand& command);
  void wait(std::uint64_t until) { wake_ = until < wake_ ? until : wake_; }

  DramConfig c_;
  DramTiming t_;
  MemoryStore store_;
  DramChecker checker_;
  std::vector<Bank> bank_;
  std::deque<Request> queue_;
  Request incoming_{};
  std::uint64_t incomingBytes_ = 0;
  std::deque<Response> responses_;
  std::uint64_t respondedBytes_ = 0;  // bytes of the first response that have been sent
  std::deque<std::pair<std::uint64_t, std::uint32_t>> acks_;
  std::uint64_t now_ = 0;            // cycle of the last tick
  std::uint64_t clock_ = 0, wake_ = 0;
  std::uint64_t refreshDue_;
  std::uint64_t canRead_ = 0, canWrite_ = 0, canActivate_ = 0;
  std::deque<std::uint64_t> activates_;
  std::uint64_t busy_ = 0;
};

}  // namespace gossamer::sim
