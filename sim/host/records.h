// SPDX-License-Identifier: Apache-2.0
/// The protocol between a simulator and the `rtl` engine: requests on standard input, records on standard output.
///
/// A request is {kind[8], 0[24], length[32]} and its payload, in little-endian order:
///   'S'  tile[32], bytes: sends them over the tile's debug bus; answered by Done when the tile has accepted all
///   'Q'  count[32], tile[32], bytes: the same, then waits for `count` replies, each a record Reply, then Done. Tile
///        ~0 means all tiles, each of which replies
///   'N'  replies[32], flits (network.h): sends them into the network and waits for `replies` replies of loaders, each
///        a record Packet, then Done. A packet to the tile address of all ones is sent to each tile
///   'I'  thread[32], bytes: input of a thread, delivered as the thread reads it
///   'Y'  symbols for the trace: {begin[32], end[32], length[32], name} each, sorted by begin
///   'R'  threads[32], 0[32], most cycles[64], watchdog[64]: starts that many threads and runs to the end; answered by
///        End. More words, if present, are the number of threads to start on each board[32]
///   'P'  cycle[64]: the run that starts or continues next pauses in this cycle, counted from its begin; answered by
///        Paused, after which any request but a run is allowed
///   'C'  nothing: continues the run
///   'X'  while a run is in progress: stops it
///   'T'  nothing: statistics of the last run; answered by Watch, an optional Note, and Done
/// A host program's session has further requests, which session.h describes.
/// A record is {kind[8], flags[8], 0[16], thread[32], length[32], 0[32], cycle[64]} and its payload. Threads are
/// numbered tile by tile, board by board; a Reply has the number of its tile's first thread, a Packet that of its host.
#pragma once

#include <gossamer/config.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace gossamer::sim {

enum class Kind : uint8_t {
  Line = 1,      ///< text of a thread without its end of line; flag 1: more of the line follows
  Emit = 2,      ///< word[32]
  Stopped = 3,   ///< code[32]
  Trap = 4,      ///< cause[32], pc[32], value[32]
  Reply = 5,     ///< a report as received
  Done = 6,      ///< nothing
  End = 7,       ///< reason[32], count[32], first and last cycle[64], instructions[64], then one ActiveThread each
  Failed = 8,    ///< text
  Progress = 9,  ///< instructions[64]
  Packet = 10,   ///< the flits of a packet to the host (network.h)
  Note = 20,     ///< text for the user
  Paused = 13,   ///< a run has reached the cycle of a 'P'
  Watch = 21,    ///< before End: statistics of all tiles (watch.h), JSON
  Queues = 22,   ///< before End of a deadlocked run: one OccupiedQueue for each queue that is not empty
  Byte = 11,     ///< byte[8] of a thread, in a host program's session (session.h)
  Woken = 12,    ///< a host program's wait is over (session.h)
  Active = 14,   ///< threads of some boards (wait.h)
};

enum class Reason : uint32_t { AllEnded = 0, MostCycles = 1, Deadlock = 2, Stuck = 3, Stopped = 4, Paused = 5 };

/// A queue that is not empty, in a record Queues.
struct OccupiedQueue {
  enum What : uint32_t {
    Thread = 1,  ///< a thread's queue of messages is full, and another message for it waits; index: thread of the tile
    Slots = 2,   ///< no message slot of the tile is free
    Router = 3,  ///< flits at an input of a tile's router; index: direction, 4 for the tile's own
    Switch = 4,  ///< packets at an input of a board's switch; index: port
    Sender = 5,  ///< packets wait to leave over a link; index: link
    Receiver = 6  ///< packets received over a link wait to be forwarded
  };
  uint32_t unit;      ///< number of the tile, or of the board
  uint32_t what;
  uint32_t index;
  uint32_t channels;  ///< a bit for each virtual network, or for each channel
};

/// A thread that has not ended, in a record End or Woken.
struct ActiveThread {
  uint32_t thread = 0;
  uint8_t doing = 0;
  uint8_t request = 0;
  uint16_t spare = 0;
  uint32_t pc = 0;
  uint32_t address = 0;
  uint32_t data = 0;
};
static_assert(sizeof(ActiveThread) == 20);

[[noreturn]] inline void fatal(const char* why) {
  std::fprintf(stderr, "simulator: %s\n", why);
  std::exit(EXIT_FAILURE);
}

/// A request of the host.
struct Request {
  uint8_t kind = 0;
  std::vector<uint8_t> payload;

  uint32_t word(size_t at) const {
    uint32_t value = 0;
    if (at + sizeof value > payload.size()) fatal("a request is truncated");
    std::memcpy(&value, payload.data() + at, sizeof value);
    return value;
  }
  uint64_t long_word(size_t at) const { return word(at) | static_cast<uint64_t>(word(at + 4)) << 32; }

  /// Reads the next request from standard input; false at its end.
  static bool read(Request& request) {
    uint32_t head[2];
    if (!fill(head, sizeof head)) return false;
    request.kind = static_cast<uint8_t>(head[0]);
    request.payload.assign(head[1], 0);
    return fill(request.payload.data(), head[1]);
  }

  /// Whether the host has requested a stop, or has closed the connection.
  static bool stop_requested() {
    pollfd in{STDIN_FILENO, POLLIN, 0};
    if (::poll(&in, 1, 0) <= 0) return false;
    Request request;
    return !read(request) || request.kind == 'X';
  }

 private:
  static bool fill(void* to, size_t bytes) {
    auto* at = static_cast<uint8_t*>(to);
    while (bytes) {
      const ssize_t got = ::read(STDIN_FILENO, at, bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      bytes -= static_cast<size_t>(got);
    }
    return true;
  }
};

/// Records of one source in the order of their cycles, until they are written together with those of other sources.
class Records {
 public:
  void put(Kind kind, uint64_t cycle, uint32_t thread, const void* payload, size_t bytes, uint8_t flags = 0) {
    const Head head{static_cast<uint8_t>(kind), flags, 0, thread, static_cast<uint32_t>(bytes), 0, cycle};
    entries_.push_back({cycle, data_.size(), sizeof head + bytes});
    const auto* at = reinterpret_cast<const uint8_t*>(&head);
    data_.insert(data_.end(), at, at + sizeof head);
    at = static_cast<const uint8_t*>(payload);
    data_.insert(data_.end(), at, at + bytes);
  }

  /// Moves all records to the end of `bytes`, with the source's number; `unpack` appends them to that source.
  void pack(uint32_t source, std::vector<uint8_t>& bytes) {
    if (entries_.empty()) return;
    const uint64_t head[] = {source, data_.size()};
    const auto* at = reinterpret_cast<const uint8_t*>(head);
    bytes.insert(bytes.end(), at, at + sizeof head);
    bytes.insert(bytes.end(), data_.begin(), data_.end());
    clear();
  }
  static void unpack(const std::vector<Records*>& sources, const uint8_t* bytes, size_t count) {
    for (const uint8_t* end = bytes + count; bytes < end;) {
      uint64_t head[2];
      std::memcpy(head, bytes, sizeof head);
      bytes += sizeof head;
      Records& source = *sources.at(head[0]);
      for (size_t at = 0; at < head[1];) {
        Head one;
        std::memcpy(&one, bytes + at, sizeof one);
        source.entries_.push_back({one.cycle, source.data_.size() + at, sizeof one + one.bytes});
        at += sizeof one + one.bytes;
      }
      source.data_.insert(source.data_.end(), bytes, bytes + head[1]);
      bytes += head[1];
    }
  }
  void clear() {
    entries_.clear();
    data_.clear();
  }

  /// Writes the records of all sources, sorted by cycle, then by source, and clears them.
  static void write(const std::vector<Records*>& sources, std::FILE* out) {
    struct Location {
      uint64_t cycle;
      const uint8_t* data;
      size_t bytes;
    };
    std::vector<Location> all;
    for (const Records* source : sources) {
      for (const Entry& entry : source->entries_) {
        all.push_back({entry.cycle, source->data_.data() + entry.at, entry.bytes});
      }
    }
    std::stable_sort(all.begin(), all.end(), [](const Location& a, const Location& b) { return a.cycle < b.cycle; });
    for (const Location& location : all) std::fwrite(location.data, 1, location.bytes, out);
    for (Records* source : sources) source->clear();
  }

 private:
  struct Head {
    uint8_t kind, flags;
    uint16_t spare;
    uint32_t thread, bytes, spare_too;
    uint64_t cycle;
  };
  static_assert(sizeof(Head) == 24);
  struct Entry {
    uint64_t cycle;
    size_t at, bytes;
  };
  std::vector<uint8_t> data_;
  std::vector<Entry> entries_;
};

}  // namespace gossamer::sim
