// SPDX-License-Identifier: Apache-2.0
#include "machine/transport.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

namespace gossamer::machine {
namespace {

constexpr size_t kSendFrom = 1 << 20;  ///< bytes of requests that are sent before the host waits
constexpr size_t kReadBytes = 1 << 16;

Error disconnected() { return {Error::Kind::Disconnected, "the process that serves the machine has ended"}; }

}  // namespace

uint32_t Record::word(size_t at) const {
  uint32_t value = 0;
  if (at + sizeof value <= bytes) std::memcpy(&value, data + at, sizeof value);
  return value;
}

void Pipe::request(char kind, std::initializer_list<Bytes> payload) {
  size_t bytes = 0;
  for (const Bytes& part : payload) bytes += part.count;
  const uint32_t words[] = {static_cast<uint8_t>(kind), static_cast<uint32_t>(bytes)};
  const size_t before = out_.size();
  const auto add = [this](const void* data, size_t count) {
    const auto* at = static_cast<const uint8_t*>(data);
    out_.insert(out_.end(), at, at + count);
  };
  add(words, sizeof words);
  for (const Bytes& part : payload) add(part.data, part.count);
  if (copy_) copy_->insert(copy_->end(), out_.begin() + static_cast<ptrdiff_t>(before), out_.end());
  if (out_.size() > kSendFrom) flush();
}

void Pipe::flush() {
  if (out_.empty()) return;
  // SIGPIPE of an ended process must not end this one.
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  waiting_.begin();
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  bool broken = false, stop = false;
  size_t at = 0;
  while (at < out_.size() && !broken && !stop) {
    const ssize_t sent = ::write(to_, out_.data() + at, out_.size() - at);
    if (sent >= 0) at += static_cast<size_t>(sent);
    if (sent >= 0) continue;
    broken = errno != EINTR;
    if (!broken) {
      waiting_.end();
      stop = waiting_.interrupted();
      waiting_.begin();
    }
  }
  if (broken) {
    const timespec none{};
    ::sigtimedwait(&pipe, nullptr, &none);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  waiting_.end();
  // The rest of an interrupted request must follow before any other.
  out_.erase(out_.begin(), out_.begin() + static_cast<ptrdiff_t>(at));
  if (broken) throw disconnected();
  if (stop) throw Error(Error::Kind::Interrupted, "interrupted");
}

void Pipe::fill() {
  // Moves the incomplete record to the front.
  in_.erase(in_.begin(), in_.begin() + static_cast<ptrdiff_t>(in_at_));
  in_at_ = 0;
  const size_t before = in_.size();
  in_.resize(before + kReadBytes);
  ssize_t got;
  bool stop = false, again;
  do {
    waiting_.begin();
    got = ::read(from_, in_.data() + before, kReadBytes);
    again = got < 0 && errno == EINTR;
    waiting_.end();
    if (again) stop = waiting_.interrupted();
  } while (again && !stop);
  in_.resize(before + static_cast<size_t>(got > 0 ? got : 0));
  if (stop) throw Error(Error::Kind::Interrupted, "interrupted");
  if (got <= 0) throw disconnected();
}

Record Pipe::receive() {
  flush();
  struct Head {
    uint8_t kind, flags;
    uint16_t spare;
    uint32_t thread, bytes, spare_too;
    uint64_t cycle;
  } head;
  static_assert(sizeof head == 24);
  while (in_.size() - in_at_ < sizeof head) fill();
  std::memcpy(&head, in_.data() + in_at_, sizeof head);
  while (in_.size() - in_at_ < sizeof head + head.bytes) fill();
  const uint8_t* data = in_.data() + in_at_ + sizeof head;
  in_at_ += sizeof head + head.bytes;
  return {static_cast<sim::Kind>(head.kind), head.flags, head.thread, head.cycle, data, head.bytes};
}

}  // namespace gossamer::machine
