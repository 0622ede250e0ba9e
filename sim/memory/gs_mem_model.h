// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace gossamer::sim {

/// A simulated memory behind gs_mem_model.sv.
class MemoryModel {
 public:
  static constexpr std::size_t kMaxBytes = 128;
  /// An answer to a read, or (ack) to a write.
  struct Beat {
    bool ack = false, last = false;
    std::uint32_t id = 0;
    std::array<std::uint8_t, kMaxBytes> data{};
  };

  virtual ~MemoryModel() = default;

  /// Whether a beat is taken in this cycle.
  virtual bool ready() const = 0;
  /// A beat of a request, at this cycle of the design.
  virtual void put(std::uint64_t cycle, bool write, bool last, std::uint64_t address, std::uint32_t id,
                   const std::uint8_t* data) = 0;
  /// Lives on up to the end of this cycle.
  virtual void tick(std::uint64_t cycle) = 0;
  /// Whether there is a beat to take after this cycle.
  virtual bool has(std::uint64_t cycle) const = 0;
  virtual Beat get() = 0;
  /// Rules of the device that were broken, a sentence each.
  virtual const std::vector<std::string>& violations() const {
    static const std::vector<std::string> kNone;
    return kNone;
  }

  // For whoever looks in from outside: not part of the design, takes no time.
  virtual std::uint64_t size() const = 0;
  /// Contents at `address`, counted as on the memory's port. Writes that are still queued are not in it: see quiet().
  virtual void peek(std::uint64_t address, std::uint8_t* to, std::size_t count) const = 0;
  virtual void poke(std::uint64_t address, const std::uint8_t* from, std::size_t count) = 0;
  /// Whether nothing is queued.
  virtual bool quiet() const = 0;

  /// Hierarchical name of the module instance that it belongs to.
  std::string name;
};

/// All memories of the simulation, found by the end of their instance's name (`u_dram`); null if there is none.
MemoryModel* findMemory(const std::string& nameEnd);

/// Beats of requests that all memories of this process have been given.
inline std::atomic<std::uint64_t> memoryBeats{0};

}  // namespace gossamer::sim
