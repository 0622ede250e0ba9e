// SPDX-License-Identifier: Apache-2.0
/// A host's part in the run of its vertices on the boards: what Job of gossamer/pgraph.h has in common for all types.
/// Simulated time passes in recv, canRecv and finish alone.
#pragma once

#include <gossamer/host/vertices.h>

#include <deque>
#include <memory>
#include <vector>

namespace gossamer::host {

class Job {
 public:
  /// Maps the graph, loads the boards and starts all threads. Throws std::runtime_error where another run has not
  /// ended; ends the program where the graph does not fit or the vertex does not compile.
  Job(Vertices graph, const void* states);
  /// The next part of a run that is over, on what has become of its graph. Messages that were not taken stay.
  void go(Vertices graph, const void* states);
  /// Breaks the run off where it is not over. Where a handler does not return, the boards are of no more use.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Whether the run is over and the host has closed its end.
  bool over() const { return over_; }
  bool closed() const { return closed_; }

  /// A message to a vertex. Only while the run is not over and the host has not closed its end.
  void send(uint32_t vertex, const void* message);
  /// The next message to the host; waits for it. False when the run is over and all were taken. Throws
  /// std::runtime_error where a vertex sends on a pin that is not there.
  bool recv(void* message);
  /// Whether recv() would not wait; lets a little time pass if it would.
  bool canRecv();
  void close() { closed_ = true; }
  /// Closes the host's end and waits for the run's; messages stay for recv().
  void finish();
  /// Whether a message was sent that came behind the end.
  bool lost() const { return over_ && spoke_; }

  /// The final states, one behind the other, and statistics, after the end.
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
  bool asked_ = false;  ///< the vertices wait for an answer
  bool spoke_ = false;  ///< messages were sent since the last answer
  bool closed_ = false;
  bool over_ = false;
};

}  // namespace gossamer::host
