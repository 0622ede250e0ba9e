// SPDX-License-Identifier: Apache-2.0
/// Vertices of a host program on the threads of the boards: the type-independent part of PGraph.
#pragma once

#include <gossamer/host/errors.h>
#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <vector>

namespace gossamer::host {

/// A graph, its mapping to threads, and its transfer to the boards' memories.
class Vertices {
 public:
  /// The edges of one pin, by sender.
  struct Edges {
    std::vector<uint64_t> offsets;  ///< count + 1
    std::vector<uint32_t> targets;
    std::vector<uint8_t> values;  ///< edgeBytes for each target
  };

  // Set by the caller of map().
  uint32_t count = 0;
  uint32_t stateBytes = 0;
  uint32_t edgeBytes = 0;  ///< 0 where edges have no values
  uint32_t messageBytes = 0;
  uint32_t boardsX = 0;  ///< columns and rows of boards to use; 0: all
  uint32_t boardsY = 0;
  bool chatty = false;
  std::vector<Edges> pins;
  std::vector<uint8_t> params;  ///< the same for all vertices
  std::string type;             ///< the vertex's type, if the mapper shall compile it
  /// By vertex, when a run continues: how it begins the next part; empty: all begin. A deleted vertex has no thread.
  enum Mark : uint8_t { kStays = 0, kBegins = 2, kChanged = 3, kGone = 4 };  // Queued of softswitch.h
  std::vector<uint8_t> marks;

  // Set by map(): by vertex, the address of its thread and its number on the thread.
  std::vector<uint32_t> threads;
  std::vector<uint32_t> locals;

  /// The memory of a thread: states, header, address lists, incoming and outgoing edges. Empty on the engine cpu.
  struct Region {
    uint8_t* data;  ///< written by write()
    uint32_t bytes;
    uint32_t address;
  };
  static constexpr unsigned kRegions = 5;
  struct Memory {
    uint32_t thread;  ///< its address
    Region regions[kRegions];
  };
  std::vector<Memory> memories;  ///< by thread; set by map()

  /// Maps each vertex to a thread. Ends the program if the graph does not fit.
  void map();

  /// Writes tables and initial states (contiguous) for the threads that are started next.
  void write(const void* states);

  /// Results that the threads have left in memory.
  struct Results {
    uint64_t steps = 0;
    uint64_t sends = 0;
    uint64_t deliveries = 0;
    uint64_t hostMessages = 0;
    uint64_t retired = 0;  ///< instructions
    std::vector<int64_t> aggregates;  ///< words of the last step
  };
  /// Reads the final states (contiguous) and all other results, after all threads have ended and flushed.
  Results read(void* states) const;
  /// Also after the end: whether threads have stopped at the command's limit of steps.
  bool gaveUp() const;

 private:
  struct Tables;
  std::shared_ptr<Tables> tables_;
};

/// Translates a host's message to a vertex that write() has transferred: the first word is the vertex's number on its
/// thread, and becomes the key that the thread knows. Ends the program if the thread has no such vertex.
void address_vertex(const char* call, uint32_t thread, uint32_t* words);
/// From now on, until write() is called again, all messages already contain those keys.
void address_by_key();
/// The error for a message to a vertex if the threads' program was compiled without receiving host messages.
inline constexpr const char* kNotCompiledForMessages =
    "the devices are compiled for a host that sends them nothing: no source of it, nor a header that one includes in "
    "quotes, calls send or trySend by ., -> or HostLink::";

}  // namespace gossamer::host
