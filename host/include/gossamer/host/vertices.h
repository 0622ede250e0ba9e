// SPDX-License-Identifier: Apache-2.0
/// Vertices of a host program on the threads of the boards: what PGraph has in common for all types of devices.
#pragma once

#include <gossamer/host/errors.h>
#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <vector>

namespace gossamer::host {

/// A graph, its mapping to threads, and the way into the boards' memories.
class Vertices {
 public:
  /// The edges from one pin, by sender.
  struct Edges {
    std::vector<uint64_t> offsets;  ///< count + 1
    std::vector<uint32_t> targets;
    std::vector<uint8_t> values;  ///< edgeBytes for each target
  };

  // Set by who calls map().
  uint32_t count = 0;
  uint32_t stateBytes = 0;
  uint32_t edgeBytes = 0;  ///< 0 where edges have no values
  uint32_t messageBytes = 0;
  uint32_t boardsX = 0;  ///< columns and rows of boards to use; 0: all
  uint32_t boardsY = 0;
  bool chatty = false;
  std::vector<Edges> pins;
  std::vector<uint8_t> params;  ///< the same for all vertices
  std::string type;             ///< the vertex's type, where the mapper is to compile it
  /// What each vertex begins a part with that goes on; empty: all begin. A vertex that is gone is on no thread.
  enum Mark : uint8_t { kStays = 0, kBegins = 2, kChanged = 3, kGone = 4 };  // Queued of softswitch.h
  std::vector<uint8_t> marks;

  // Set by map(): of each vertex the address of its thread, and its number there.
  std::vector<uint32_t> threads;
  std::vector<uint32_t> locals;

  /// What of a thread stands in memory: states, header, addresses of lists, edges that messages come along, where
  /// messages go. None on the engine cpu.
  struct Region {
    uint8_t* data;  ///< what write() hands over
    uint32_t bytes;
    uint32_t address;
  };
  static constexpr unsigned kRegions = 5;
  struct Memory {
    uint32_t thread;  ///< its address
    Region regions[kRegions];
  };
  std::vector<Memory> memories;  ///< of each thread; set by map() too

  /// Gives each vertex a thread. Ends the program where the graph does not fit.
  void map();

  /// Hands tables and initial states, one behind the other, over to the threads that are started next.
  void write(const void* states);

  /// What the threads have left in memory.
  struct Results {
    uint64_t steps = 0;
    uint64_t sends = 0;
    uint64_t deliveries = 0;
    uint64_t hostMessages = 0;
    uint64_t retired = 0;  ///< instructions
    std::vector<int64_t> aggregates;  ///< words of the last step
  };
  /// Reads the final states, one behind the other, and the rest, when all threads have ended and flushed.
  Results read(void* states) const;
  /// Whether threads have given up after the most steps that the command allows, then as well.
  bool gaveUp() const;

 private:
  struct Tables;
  std::shared_ptr<Tables> tables_;
};

/// Whether a host's message is for a vertex that write() has handed over: it names it by its number in its thread, in
/// the first word, which becomes the key that the thread knows. Ends the program where the thread has no such vertex.
void address_vertex(const char* call, uint32_t thread, uint32_t* words);
/// From now on, until write() is called again, all messages have the keys that threads know.
void address_by_key();
/// Why a message to a vertex is refused where the threads' program was compiled without that.
inline constexpr const char* kNotCompiledForMessages =
    "the devices are compiled for a host that sends them nothing: no source of it, nor a header that one includes in "
    "quotes, calls send or trySend by ., -> or HostLink::";

}  // namespace gossamer::host
