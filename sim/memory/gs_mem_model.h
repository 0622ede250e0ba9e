// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace gossamer::sim {

/// A simulated memory, the implementation of gs_mem_model.sv.
class MemoryModel {
 public:
  static constexpr std::size_t kMaxBytes = 128;
  /// A response to a read, or (ack) to a write.
  struct Beat {
    bool ack = false, last = false;
    std::uint32_t id = 0;
    std::array<std::uint8_t, kMaxBytes> data{};
  };

  virtual ~MemoryModel() = default;

  /// Whether the memory accepts a beat in this cycle.
  virtual bool ready() const = 0;
  /// A beat of a request, at this cycle of the design.
  virtual void put(std::uint64_t cycle, bool write, bool last, std::uint64_t address, std::uint32_t id,
                   const std::uint8_t* data) = 0;
  /// Advances to the end of this cycle.
  virtual void tick(std::uint64_t cycle) = 0;
  /// Whether a response beat is available after this cycle.
  virtual bool has(std::uint64_t cycle) const = 0;
  virtual Beat get() = 0;
  /// Violated rules of the device, a sentence each.
  virtual const std::vector<std::string>& violations() const {
    static const std::vector<std::string> kNone;
    return kNone;
  }

  // Backdoor access: not part of the design, takes no simulated time.
  virtual std::uint64_t size() const = 0;
  /// Contents at `address`, as on the memory's port. They do not include queued writes: see idle().
  virtual void peek(std::uint64_t address, std::uint8_t* to, std::size_t count) const = 0;
  virtual void poke(std::uint64_t address, const std::uint8_t* from, std::size_t count) = 0;
  /// Whether no request is queued.
  virtual bool idle() const = 0;

  /// Hierarchical name of the module instance that it belongs to.
  std::string name;
};

/// The last memory of the simulation whose instance name ends in `nameEnd` (`u_dram`); null if none does.
MemoryModel* findMemory(const std::string& nameEnd);

/// Request beats that all memories of this process have received.
inline std::atomic<std::uint64_t> memoryBeats{0};

}  // namespace gossamer::sim
