// SPDX-License-Identifier: Apache-2.0
// Every rule has the form of the standard: a minimum number of clocks between two events.
#include "gs_dram_checker.h"

namespace gossamer::sim {

namespace {
// Up to eight refreshes may be postponed.
constexpr std::uint64_t kPostponed = 8;
}  // namespace

void DramChecker::violate(std::uint64_t clock, const std::string& what) {
  count_++;
  if (violations_.size() < 100) violations_.push_back("clock " + std::to_string(clock) + ": " + what);
}

void DramChecker::need(std::uint64_t clock, std::uint64_t since, std::uint64_t gap, const char* rule) {
  if (since == kNever || clock >= since + gap) return;
  violate(clock, std::string(rule) + ": " + std::to_string(clock - since) + " clocks, not " + std::to_string(gap));
}

void DramChecker::observe(std::uint64_t clock, const DramCommand& command) {
  if (last_ != kNever && clock <= last_) violate(clock, "command: two commands in one clock");
  last_ = clock;
  seen_[command.kind]++;
  need(clock, refreshed_, c_.rfc, "tRFC");
  const std::uint64_t owed = clock / c_.refi;
  if (owed > seen_[DramCommand::kRefresh] + kPostponed) violate(clock, "tREFI: refreshes postponed for too long");
  const bool all = command.kind == DramCommand::kPrechargeAll || command.kind == DramCommand::kRefresh;
  if (!all && command.bank >= c_.banks) return violate(clock, "bank: the number does not exist");
  switch (command.kind) {
    case DramCommand::kActivate: return activate(clock, command);
    case DramCommand::kRead:
    case DramCommand::kWrite: return access(clock, command);
    case DramCommand::kPrecharge: return precharge(clock, bank_[command.bank]);
    case DramCommand::kPrechargeAll:
      for (Bank& bank : bank_) precharge(clock, bank);
      return;
    case DramCommand::kRefresh: return refresh(clock);
  }
}

void DramChecker::activate(std::uint64_t clock, const DramCommand& command) {
  Bank& bank = bank_[command.bank];
  if (bank.open) violate(clock, "activate: the bank is open");
  if (command.row >= c_.bytes / c_.banks / c_.rowBytes) violate(clock, "activate: the row does not exist");
  need(clock, bank.precharged, c_.rp, "tRP");
  need(clock, bank.activated, c_.ras + c_.rp, "tRC");
  if (!activates_.empty()) need(clock, activates_.back(), c_.rrd, "tRRD");
  if (activates_.size() == 4) {
    need(clock, activates_.front(), c_.faw, "tFAW");
    activates_.pop_front();
  }
  activates_.push_back(clock);
  bank.open = true;
  bank.activated = clock;
  bank.read = bank.writeEnd = kNever;
}

void DramChecker::access(std::uint64_t clock, const DramCommand& command) {
  Bank& bank = bank_[command.bank];
  const bool write = command.kind == DramCommand::kWrite;
  const std::uint64_t length = c_.doubleRate ? c_.burstLength / 2 : c_.burstLength;
  const std::uint64_t begin = clock + (write ? c_.cwl : c_.cl);
  if (!bank.open) violate(clock, write ? "write: the bank is closed" : "read: the bank is closed");
  if (command.column >= c_.rowBytes || command.column % (c_.busBytes * c_.burstLength) != 0) {
    violate(clock, "column: not the start of a burst in this row");
  }
  need(clock, bank.activated, c_.rcd, "tRCD");
  need(clock, access_, length, "tCCD");
  if (!write) need(clock, writeDataEnd_, c_.wtr, "tWTR");
  // A change of the bus's driver takes two clocks (single data rate: one); the same driver may continue without a gap.
  if (busUsed_) {
    const std::uint64_t gap = busWrote_ == write ? 0 : (c_.doubleRate ? 2 : 1);
    if (begin < busEnd_) {
      violate(clock, "data bus: two bursts overlap");
    } else if (begin < busEnd_ + gap) {
      violate(clock, "data bus: no time for the turnaround");
    }
  }
  busUsed_ = true;
  busWrote_ = write;
  busEnd_ = begin + length;
  access_ = clock;
  if (write) {
    bank.writeEnd = writeDataEnd_ = busEnd_;
  } else {
    bank.read = clock;
  }
}

void DramChecker::precharge(std::uint64_t clock, Bank& bank) {
  if (!bank.open) return;
  need(clock, bank.activated, c_.ras, "tRAS");
  need(clock, bank.read, c_.rtp, "tRTP");
  need(clock, bank.writeEnd, c_.wr, "tWR");
  bank.open = false;
  bank.precharged = clock;
}

void DramChecker::refresh(std::uint64_t clock) {
  for (const Bank& bank : bank_) {
    if (bank.open) violate(clock, "refresh: a bank is open");
    need(clock, bank.precharged, c_.rp, "tRP before refresh");
  }
  refreshed_ = clock;
}

}  // namespace gossamer::sim
