// SPDX-License-Identifier: Apache-2.0
/// Ranks in several processes. Each process has some of the ranks. Of an object that two processes share (a stream, a
/// collective, a split of a communicator), each has its own copy, whose counters only grow. A process sends the others
/// its new elements, and the number of consumed elements, which is credit for more. So no process ever holds more
/// elements of a stream than its degree.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "runtime.h"

namespace gossamer::smi {

extern int process, processes;  ///< number of this one, and of all
inline bool distributed() { return processes > 1; }
inline bool isHere(int rank) { return ranks[static_cast<std::size_t>(rank)]->home == process; }
inline int homeOf(int rank) { return ranks[static_cast<std::size_t>(rank)]->home; }

/// Kinds of records; their fields follow.
enum class Record : std::uint8_t {
  streamBound,  ///< a sender's message: type, count, call site
  streamDegree,
  streamElements,
  streamTaken,
  collectiveOpened,
  collectiveElements,  ///< of a lane
  collectiveTaken,     ///< consumed elements of a lane
  collectiveDone,      ///< completed calls of a member
  splitGiven,
};

/// Appends fields to a record.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}
  template <class T>
  Writer& operator<<(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  /// Elements [from, to) of a ring, at most `mostElements`.
  Writer& elements(const Ring& ring, std::uint64_t from, std::uint64_t to);
  Writer& site(CallSite site);

 private:
  std::string& out_;
};

class Reader {
 public:
  Reader(const std::uint8_t* at, const std::uint8_t* end) : at_(at), end_(end) {}
  template <class T>
  T get() {
    T value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  bool more() const { return at_ != end_; }
  const std::uint8_t* at() const { return at_; }
  std::vector<std::uint64_t> elements();
  CallSite site();

 private:
  const std::uint8_t *at_, *end_;
};

/// Most elements of one record.
constexpr std::uint64_t mostElements = 1 << 16;

/// Begins a record to another process. It is sent by the next exchange().
Writer newRecord(int to, Record record);

/// Joins the other processes through src/distributed/mpi, built for the installed MPI.
void join(const std::string& library);
/// Handles received messages, and sends pending updates. Running kernels call it from time to time.
void exchange();
/// Called when no fiber of this process is ready. Returns true once one is, false at the end of the run. Does not
/// return from a deadlock of all processes.
bool waitForWork();
/// Whether all ranks of all processes are done, so that fibers must stop.
bool stopping();
/// Leaves the transport at the end of a run.
void leaveTransport();

// ---- Implemented by the owners of shared objects ----

void sendStreamUpdates();
void applyStreamRecord(Record record, Reader& in);
void sendCollectiveUpdates();
/// False if this process does not know the communicator yet: the record is retried when one is created.
bool applyCollectiveRecord(Record record, Reader& in);
bool applySplitRecord(Reader& in);
/// A communicator was created: deferred records are retried.
void communicatorMade();

}  // namespace gossamer::smi
