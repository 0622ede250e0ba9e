// SPDX-License-Identifier: Apache-2.0
/// Ranks in several processes. Each process has a part of the ranks, and of what two processes share (a stream, a
/// collective, a split of a communicator) each has a copy of its own, in which counters only grow. What a process has
/// done there it tells the others: elements, and how many were taken, which is the credit for more. So no process ever
/// holds more elements of a stream than its degree.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "runtime.h"

namespace gossamer::smi {

extern int process, processes;  ///< this one, and how many there are
inline bool distributed() { return processes > 1; }
inline bool isHere(int rank) { return ranks[static_cast<std::size_t>(rank)]->home == process; }
inline int homeOf(int rank) { return ranks[static_cast<std::size_t>(rank)]->home; }

/// What a record is about; its fields follow.
enum class Record : std::uint8_t {
  streamBound,  ///< a sender's message: type, count, place
  streamDegree,
  streamElements,
  streamTaken,
  collectiveOpened,
  collectiveElements,  ///< of a lane
  collectiveTaken,     ///< of a lane
  collectiveDone,      ///< calls of a member
  splitGiven,
};

/// Fields of records, one behind the other.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}
  template <class T>
  Writer& operator<<(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  /// Elements of a ring from one number to another, at most `mostElements`.
  Writer& elements(const Ring& ring, std::uint64_t from, std::uint64_t to);
  Writer& place(Place place);

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
  Place place();

 private:
  const std::uint8_t *at_, *end_;
};

/// Elements of one record.
constexpr std::uint64_t mostElements = 1 << 16;

/// A record to another process, which leaves with the next flush.
Writer tell(int to, Record record);

/// Joins the other processes through a library that has `gs_transport_join`.
void join(const std::string& library);
/// Takes what has come, and sends what there is to send. Called now and then by whoever runs.
void exchange();
/// Called when no fiber can run here: until one can (true), or the run is at its end (false). A deadlock of all
/// processes does not return.
bool attend();
/// Whether fibers are to stop: all ranks of all processes are done.
bool stopping();
/// The end of a run that has come to its end.
void leaveTransport();

// ---- Written by the parts that share something ----

void shipStreams();
void takeStream(Record record, Reader& in);
void shipCollectives();
/// False if the communicator is not known here yet: the record is looked at again when one is made.
bool takeCollective(Record record, Reader& in);
bool takeSplit(Reader& in);
/// A communicator was made: the records that waited for one are looked at again.
void communicatorMade();

}  // namespace gossamer::smi
