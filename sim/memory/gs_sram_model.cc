// SPDX-License-Identifier: Apache-2.0
#include "gs_sram_model.h"

#include <algorithm>

namespace gossamer::sim {

SramController::SramController(const SramConfig& config)
    : c_(config),
      store_(config.bytes),
      ticks_(config.sramKhz * 2 * config.dataBytes),
      line_(config.lineBytes * config.coreKhz),
      latency_(config.readLatency * ticks_) {}

void SramController::put(std::uint64_t cycle, bool write, bool last, std::uint64_t address, std::uint32_t id,
                         const std::uint8_t* data) {
  if (incomingBytes_ == 0) incoming_ = Request{address, 0, 0, id};
  if (write) {
    std::copy_n(data, c_.portBytes, incoming_.data.begin() + static_cast<std::ptrdiff_t>(incomingBytes_));
    incomingBytes_ += c_.portBytes;
  }
  if (!last) return;
  incomingBytes_ = 0;
  std::uint64_t& free = write ? writeFree_ : readFree_;
  incoming_.begin = std::max((cycle + 1) * ticks_, free);
  incoming_.end = free = incoming_.begin + line_;
  (write ? writes_ : reads_).push_back(incoming_);
}

void SramController::tick(std::uint64_t cycle) {
  const std::uint64_t now = (cycle + 1) * ticks_;
  // A read returns the contents at the start of its bus transfer. Both queues are processed in order of time.
  while (true) {
    const bool write = !writes_.empty() && writes_.front().end <= now;
    const bool read = !reads_.empty() && reads_.front().end + latency_ <= now;
    if (!write && !read) return;
    if (write && (!read || writes_.front().end <= reads_.front().begin)) {
      store_.write(writes_.front().address, writes_.front().data.data(), c_.lineBytes);
      acks_.push_back(writes_.front().id);
      writes_.pop_front();
      writtenBytes_ += c_.lineBytes;
    } else {
      Request& request = reads_.front();
      store_.read(request.address, request.data.data(), c_.lineBytes);
      responses_.push_back(request);
      reads_.pop_front();
      readBytes_ += c_.lineBytes;
    }
  }
}

SramController::Beat SramController::get() {
  Beat beat;
  if (respondedBytes_ == 0 && !acks_.empty()) {
    beat.ack = beat.last = true;
    beat.id = acks_.front();
    acks_.pop_front();
    return beat;
  }
  const Request& response = responses_.front();
  beat.id = response.id;
  std::copy_n(response.data.begin() + static_cast<std::ptrdiff_t>(respondedBytes_), c_.portBytes, beat.data.begin());
  respondedBytes_ += c_.portBytes;
  beat.last = respondedBytes_ == c_.lineBytes;
  if (beat.last) {
    responses_.pop_front();
    respondedBytes_ = 0;
  }
  return beat;
}

}  // namespace gossamer::sim
