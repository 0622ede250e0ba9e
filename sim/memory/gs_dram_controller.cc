// SPDX-License-Identifier: Apache-2.0
// Time is in command clocks. The loop skips clocks without events: while no command can be issued, each waiting party
// reports its earliest clock, and the loop continues at the minimum of these.
#include "gs_dram_controller.h"

#include <algorithm>

namespace gossamer::sim {

DramTiming::DramTiming(const DramConfig& c)
    : cl(c.cl),
      cwl(c.cwl),
      rcd(c.rcd),
      rp(c.rp),
      ras(c.ras),
      rc(c.ras + c.rp),
      rrd(c.rrd),
      faw(c.faw),
      rtp(c.rtp),
      rfc(c.rfc),
      refi(c.refi),
      burst(c.doubleRate ? c.burstLength / 2 : c.burstLength),
      readToWrite(c.cl + burst + (c.doubleRate ? 2 : 1) - c.cwl),
      writeToRead(c.cwl + burst + c.wtr),
      writeToCharge(c.cwl + burst + c.wr) {}

DramController::DramController(const DramConfig& config) : DramController(config, DramTiming(config)) {}

DramController::DramController(const DramConfig& config, const DramTiming& timing)
    : c_(config), t_(timing), store_(config.bytes), checker_(config), bank_(config.banks), refreshDue_(timing.refi) {}

DramController::Location DramController::locate(std::uint64_t address) const {
  // From high to low: row, upper part of the column, bank, lower part of the column.
  const std::uint64_t parts = c_.rowBytes / c_.bankBytes;
  const std::uint64_t low = address % c_.bankBytes;
  std::uint64_t rest = address / c_.bankBytes;
  std::uint64_t bank = rest % c_.banks;
  rest /= c_.banks;
  const std::uint64_t row = rest / parts;
  if (c_.bankHash) {
    for (std::uint64_t fold = row; fold != 0; fold /= c_.banks) bank ^= fold % c_.banks;
  }
  return {bank, row, (rest % parts) * c_.bankBytes + low};
}

void DramController::peek(std::uint64_t address, std::uint8_t* to, std::size_t count) const {
  for (std::size_t i = 0; i < count; i++) store_.read(linear(locate(address + i)), to + i, 1);
}

void DramController::poke(std::uint64_t address, const std::uint8_t* from, std::size_t count) {
  for (std::size_t i = 0; i < count; i++) store_.write(linear(locate(address + i)), from + i, 1);
}

void DramController::put(std::uint64_t cycle, bool write, bool last, std::uint64_t address, std::uint32_t id,
                         const std::uint8_t* data) {
  if (incomingBytes_ == 0) incoming_ = Request{write, id, address, 0, locate(address)};
  if (write) {
    std::copy_n(data, c_.portBytes, incoming_.data.begin() + static_cast<std::ptrdiff_t>(incomingBytes_));
    incomingBytes_ += c_.portBytes;
  }
  if (!last) return;
  incomingBytes_ = 0;
  const std::uint64_t seen = cycle + 1 + c_.controllerLatency / 2;
  incoming_.visible = (seen * c_.dramKhz + c_.coreKhz - 1) / c_.coreKhz;
  if (queue_.size() < kWindow) wake_ = 0;
  queue_.push_back(incoming_);
  // Later requests are served later: they access the new line.
  if (write) acks_.emplace_back(cycle + 1 + c_.controllerLatency / 2, id);
}

void DramController::tick(std::uint64_t cycle) {
  now_ = cycle;
  const std::uint64_t end = (cycle + 1) * c_.dramKhz / c_.coreKhz;
  while (clock_ < end) {
    if (wake_ > clock_) {
      clock_ = std::min(wake_, end);
      continue;
    }
    step();
    clock_++;
  }
}

bool DramController::has(std::uint64_t cycle) const {
  if (!responses_.empty() && (respondedBytes_ > 0 || responses_.front().cycle <= cycle)) return true;
  return !acks_.empty() && acks_.front().first <= cycle;
}

DramController::Beat DramController::get() {
  Beat beat;
  // The beats of a line are contiguous.
  if (respondedBytes_ == 0 && !acks_.empty() && acks_.front().first <= now_) {
    beat.ack = beat.last = true;
    beat.id = acks_.front().second;
    acks_.pop_front();
    return beat;
  }
  const Response& response = responses_.front();
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

void DramController::send(const DramCommand& command) { checker_.observe(clock_, command); }

void DramController::step() {
  wake_ = ~0ull;
  if (stepRefresh()) return;
  std::size_t visible = 0;
  const std::size_t window = std::min(queue_.size(), kWindow);
  while (visible < window && queue_[visible].visible <= clock_) visible++;
  if (visible < window) wait(queue_[visible].visible);
  if (visible == 0) return;
  if (access(queue_.front())) {
    wake_ = 0;
    return;
  }
  // A bank is prepared for the first request that needs it.
  std::uint64_t claimed = 0;
  for (std::size_t i = 0; i < visible; i++) {
    const std::uint64_t bit = 1ull << queue_[i].location.bank;
    if (claimed & bit) continue;
    claimed |= bit;
    if (prepare(queue_[i])) {
      wake_ = 0;
      return;
    }
  }
}

bool DramController::stepRefresh() {
  if (clock_ < refreshDue_) {
    wait(refreshDue_);
    return false;
  }
  bool open = false;
  std::uint64_t charge = 0, activate = 0;
  for (const Bank& bank : bank_) {
    open |= bank.open;
    if (bank.open) charge = std::max(charge, bank.canPrecharge);
    activate = std::max(activate, bank.canActivate);
  }
  const std::uint64_t when = open ? charge : activate;
  if (clock_ < when) {
    wait(when);
  } else if (open) {
    send({DramCommand::kPrechargeAll});
    for (Bank& bank : bank_) {
      if (bank.open) bank.canActivate = std::max(bank.canActivate, clock_ + t_.rp);
      bank.open = false;
    }
    wait(clock_ + 1);
  } else {
    send({DramCommand::kRefresh});
    for (Bank& bank : bank_) bank.canActivate = clock_ + t_.rfc;
    refreshDue_ += t_.refi;
    wait(clock_ + 1);
  }
  return true;
}

bool DramController::access(Request& head) {
  Bank& bank = bank_[head.location.bank];
  if (!bank.open || bank.row != head.location.row) return false;
  const std::uint64_t when = std::max(bank.canAccess, head.write ? canWrite_ : canRead_);
  if (clock_ < when) {
    wait(when);
    return false;
  }
  // A line may be a part of a burst, or several bursts.
  const std::uint64_t burstBytes = c_.busBytes * c_.burstLength;
  const std::uint64_t column = head.location.column + head.done;
  const std::uint64_t part = std::min(burstBytes, c_.lineBytes);
  Location location = head.location;
  location.column = column;
  location.row = bank.row;
  std::uint8_t* data = head.data.data() + head.done;
  send({head.write ? DramCommand::kWrite : DramCommand::kRead, location.bank, 0, column / burstBytes * burstBytes});
  if (head.write) {
    store_.write(linear(location), data, part);
    canRead_ = clock_ + t_.writeToRead;
    canWrite_ = clock_ + t_.burst;
    bank.canPrecharge = std::max(bank.canPrecharge, clock_ + t_.writeToCharge);
  } else {
    store_.read(linear(location), data, part);
    canRead_ = clock_ + t_.burst;
    canWrite_ = clock_ + t_.readToWrite;
    bank.canPrecharge = std::max(bank.canPrecharge, clock_ + t_.rtp);
  }
  busy_ += t_.burst;
  head.done += part;
  if (head.done < c_.lineBytes) return true;
  if (!head.write) {
    const std::uint64_t end = clock_ + t_.cl + t_.burst;
    const std::uint64_t cycle = (end * c_.coreKhz + c_.dramKhz - 1) / c_.dramKhz;
    responses_.push_back({cycle + c_.controllerLatency - c_.controllerLatency / 2, head.id, head.data});
  }
  queue_.pop_front();
  return true;
}

bool DramController::prepare(const Request& request) {
  Bank& bank = bank_[request.location.bank];
  if (bank.open && bank.row == request.location.row) return false;
  if (bank.open) {
    if (clock_ < bank.canPrecharge) {
      wait(bank.canPrecharge);
      return false;
    }
    send({DramCommand::kPrecharge, request.location.bank});
    bank.open = false;
    bank.canActivate = std::max(bank.canActivate, clock_ + t_.rp);
    return true;
  }
  std::uint64_t when = std::max(bank.canActivate, canActivate_);
  if (activates_.size() == 4) when = std::max(when, activates_.front() + t_.faw);
  if (clock_ < when) {
    wait(when);
    return false;
  }
  send({DramCommand::kActivate, request.location.bank, request.location.row});
  bank.open = true;
  bank.row = request.location.row;
  bank.canAccess = clock_ + t_.rcd;
  bank.canPrecharge = clock_ + t_.ras;
  bank.canActivate = clock_ + t_.rc;
  canActivate_ = clock_ + t_.rrd;
  if (activates_.size() == 4) activates_.pop_front();
  activates_.push_back(clock_);
  return true;
}

}  // namespace gossamer::sim
