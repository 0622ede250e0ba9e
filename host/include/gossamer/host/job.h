// SPDX-License-Identifier: Apache-2.0
/// The host's side of a run of its vertices on the boards: the type-independent part of Job of gossamer/pgraph.h.
/// Simulated time passes only in recv, canRecv and finish.
#pragma once

#include <gossamer/host/vertices.h>

#include <deque>
#include <memory>
#include <vector>

namespace gossamer::host {

class Job {
 public:
  /// Maps the graph, loads the boards and starts all threads. Throws std::runtime_error if another run has not ended;
  /// ends the program if the graph does not fit or the vertex does not compile.
  Job(Vertices graph, const void* states);
  /// Continues a finished run with the next part, on its graph as the run left it. Unread messages stay queued.
  void go(Vertices graph, const void* states);
  /// Aborts an unfinished run. If a handler does not return, the boards are unusable afterwards.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Whether the run is over and the host has closed its end.
  bool over() const { return over_; }
  bool closed() const { return closed_; }

  /// Sends a message to a vertex. Only while the run is not over and the host has not closed its end.
  void send(uint32_t vertex, const void* message);
  /// Waits for the next message to the host. False if the run is over and all messages were read. Throws
  /// std::runtime_error if a vertex sends on a pin that does not exist.
  bool recv(void* message);
  /// Whether recv() would not block; lets a little time pass if it would.
  bool canRecv();
  void close() { closed_ = true; }
  /// Closes the host's end and waits for the end of the run; unread messages stay for recv().
  void finish();
  /// Whether a message was sent after the end.
  bool lost() const { return over_ && spoke_; }

  /// After the end: the final states, contiguous, and statistics.
  Vertices::Results results(void* states) const;

 private:
  struct Link;

  void begin(const void* states);
  void stop();
  void take();
  void answer();
  bool wait(uint64_t cycles);

  Vertices graph_;
  std::unique_ptr<Link> link_;
  std::deque<std::vector<uint8_t>> up_;
  bool asked_ = false;  ///< the vertices wait for the host's answer
  bool spoke_ = false;  ///< messages were sent since the last answer
  bool closed_ = false;
  bool over_ = false;
};

}  // namespace gossamer::host
