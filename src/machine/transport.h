// SPDX-License-Identifier: Apache-2.0
/// Carriers of requests to a machine, and of its records (sim/host/records.h, session.h): the packets of a host and
/// of the boards, and what is derived from them. At the other end is a simulator, or the program that has sessions with
/// boards behind Ethernet shells (board_session.cc).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "machine/packets.h"
#include "records.h"

namespace gossamer::machine {

/// A record. `data` is valid until the next one is received.
struct Record {
  sim::Kind kind{};
  uint8_t flags = 0;
  uint32_t thread = 0;
  uint64_t cycle = 0;
  const uint8_t* data = nullptr;
  size_t bytes = 0;

  uint32_t word(size_t at) const;
  std::string_view text() const { return {reinterpret_cast<const char*>(data), bytes}; }
};

/// Bytes of a request.
struct Bytes {
  const void* data;
  size_t count;
};

class Transport {
 public:
  virtual ~Transport() = default;
  /// Queues a request; it is sent at the latest by the next receive(). Throws Error (Disconnected).
  virtual void request(char kind, std::initializer_list<Bytes> payload) = 0;
  /// Sends all requests, and waits for the next record. Throws Error (Disconnected, Interrupted).
  virtual Record receive() = 0;
  /// Sends all requests.
  virtual void flush() = 0;
};

/// What the owner of a transport does while it blocks.
class Waiting {
 public:
  virtual ~Waiting() = default;
  virtual void begin() {}
  virtual void end() {}
  /// A signal has interrupted the call: whether the call ends (Error::Kind::Interrupted).
  virtual bool interrupted() { return false; }
};

/// A transport over two descriptors: pipes, or a socket.
class Pipe : public Transport {
 public:
  /// Owns neither the descriptors nor `waiting`.
  Pipe(int to, int from, Waiting& waiting) : to_(to), from_(from), waiting_(waiting) {}

  void request(char kind, std::initializer_list<Bytes> payload) override;
  Record receive() override;
  void flush() override;
  /// From now on, appends all requests to `copy` as well.
  void copy_to(std::vector<uint8_t>* copy) { copy_ = copy; }

 private:
  void fill();

  const int to_, from_;
  Waiting& waiting_;
  std::vector<uint8_t> out_, in_;
  size_t in_at_ = 0;
  std::vector<uint8_t>* copy_ = nullptr;
};

}  // namespace gossamer::machine
