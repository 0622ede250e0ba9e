// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace gossamer::sim {

/// A simulated memory, as whoever looks in from outside sees it: not part of the design, takes no time.
class MemoryModel {
 public:
  virtual ~MemoryModel() = default;
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

}  // namespace gossamer::sim
