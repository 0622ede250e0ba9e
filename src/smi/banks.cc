// SPDX-License-Identifier: Apache-2.0
#include "banks.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <tuple>

#include "gs_dram_controller.h"
#include "hardware.h"
#include "runtime.h"

namespace {

struct Bank;

}  // namespace

struct gs_smi_bank_stream : gossamer::smi::Waitable {
  gossamer::smi::Rank* rank = nullptr;
  std::string kernel;  ///< of the stream's opener
  int number = 0;      ///< of the bank
  bool writes = false;
  char* data = nullptr;
  std::uint64_t bytes = 0, moved = 0;  ///< in total, and moved by the kernel
  // With hardware: addresses in the bank, line-aligned except `start`. [start, requested) has been requested from the
  // controller; everything below `completed` has been answered.
  Bank* bank = nullptr;
  std::uint64_t start = 0, end = 0, requested = 0, completed = 0;
  std::uint64_t used = 0;  ///< cycle of the last call
  gossamer::smi::Fiber* waiting = nullptr;

  gossamer::smi::Wait wait(const gossamer::smi::Fiber&) const override {
    return {gossamer::smi::format("for DRAM bank %d ({})", number), {}};
  }
  gossamer::smi::WaitKind kind(const gossamer::smi::Fiber&) const override { return gossamer::smi::WaitKind::memory; }
  std::string label(gossamer::smi::WaitKind) const override { return gossamer::smi::format("DRAM bank %d", number); }
  /// Key of the arbitration order. Not the order of opening, since kernels run in any order within a cycle.
  auto key() const { return std::tie(start, writes, kernel); }
};

namespace {

using namespace gossamer::smi;
namespace sim = gossamer::sim;
using BankStream = gs_smi_bank_stream;

constexpr int mostBanks = 256, mostBytes = 64;
constexpr std::uint64_t page = 4096;
/// Lines of a burst, after which the bank arbitrates again; lines of a stream's buffer.
constexpr std::uint64_t burstLines = 64, bufferLines = 128;

struct Region {
  char* data;
  std::uint64_t bytes, address;
};

struct Bank {
  std::unique_ptr<sim::DramController> dram;
  std::uint64_t allocated = 0;
  std::vector<Region> regions;
  std::vector<BankStream*> open;  ///< in the order of their keys
  std::vector<BankStream*> ids;   ///< by the id of their requests
  BankStream* granted = nullptr;  ///< the stream whose burst is in progress
  std::uint64_t burstLeft = 0;    ///< its remaining lines
  std::uint64_t beats = 0;        ///< bytes of the line that is being written
};

sim::DramConfig dramConfig;
int bankCount = mostBanks;
std::vector<std::vector<Bank>> banks;  ///< by rank; created on first use

std::uint64_t line() { return dramConfig.lineBytes; }
std::uint64_t roundUp(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

std::vector<Bank>& banksOf(const Rank& rank) {
  if (banks.empty()) banks.resize(ranks.size());
  std::vector<Bank>& found = banks[static_cast<std::size_t>(rank.index)];
  if (found.empty()) found = std::vector<Bank>(static_cast<std::size_t>(bankCount));
  return found;
}

/// Lines that a stream can request now: a full burst, or all that is left of the stream; else 0.
std::uint64_t requestableLines(const BankStream& s) {
  const std::uint64_t rest = (s.end - s.requested) / line();
  std::uint64_t could = 0;
  if (s.writes) {
    const std::uint64_t written = s.start + s.moved;
    const std::uint64_t whole = s.moved == s.bytes ? s.end : written / line() * line();
    could = whole > s.requested ? (whole - s.requested) / line() : 0;
  } else {
    // A line leaves the buffer when its last byte is read.
    const std::uint64_t kept = (s.requested - (s.start + s.moved) / line() * line()) / line();
    could = std::min(rest, kept < bufferLines ? bufferLines - kept : 0);
  }
  return could >= std::min(burstLines, rest) ? std::min(burstLines, could) : 0;
}

/// Round-robin arbitration: grants the next stream that can request a burst.
void arbitrate(Bank& bank) {
  const auto begin = bank.open.begin(), end = bank.open.end();
  const auto after = std::find(begin, end, bank.granted);
  const auto first = after == end ? begin : after + 1;
  bank.burstLeft = 0;
  for (std::size_t at = 0, many = bank.open.size(); at < many && !bank.burstLeft; ++at) {
    const auto index = (static_cast<std::size_t>(first - begin) + at) % many;
    bank.burstLeft = requestableLines(*bank.open[index]);
    if (bank.burstLeft) bank.granted = bank.open[index];
  }
}

void close(Bank& bank, BankStream& s) {
  std::erase(bank.open, &s);
  // The round-robin pointer is lost with the stream: the first stream is next.
  if (bank.granted == &s) bank.granted = nullptr;
}

void handleResponse(Bank& bank, const sim::MemoryModel::Beat& beat) {
  if (!beat.last) return;
  BankStream& s = *bank.ids[beat.id];
  s.completed += line();
  if (s.waiting) {
    wake(s.waiting);
    s.waiting = nullptr;
  }
  if (s.completed == s.end) close(bank, s);
}

/// A cycle of a bank: one beat of a request, and one of a response.
bool clockBank(Bank& bank) {
  sim::DramController& dram = *bank.dram;
  // Without open streams the bank is not clocked; the model catches up to this cycle afterwards.
  if (bank.open.empty()) return false;
  dram.tick(now - 1);
  if (!bank.burstLeft) arbitrate(bank);
  const bool requests = bank.burstLeft && dram.ready();
  if (requests) {
    static const std::uint8_t nothing[sim::MemoryModel::kMaxBytes] = {};
    BankStream& s = *bank.granted;
    bank.beats += s.writes ? dramConfig.portBytes : line();
    const bool last = bank.beats == line();
    const auto number = static_cast<std::size_t>(std::find(bank.ids.begin(), bank.ids.end(), &s) - bank.ids.begin());
    dram.put(now, s.writes, last, s.requested, static_cast<std::uint32_t>(number), nothing);
    if (last) {
      bank.beats = 0;
      s.requested += line();
      --bank.burstLeft;
    }
  }
  dram.tick(now);
  const bool has = dram.has(now);
  if (has) handleResponse(bank, dram.get());
  return requests || has || !dram.idle();
}

[[noreturn]] void wrong(const std::string& what, CallSite site) {
  fail(GS_EXIT_INPUT, format("rank %d: %s", current->rank->index, what.c_str()), {site});
}

SMI_Bank_stream openStream(void* pointer, unsigned long long bytes, bool writes, const char* call, CallSite site) {
  Fiber& fiber = caller(call, site);
  char* data = static_cast<char*>(pointer);
  std::vector<Bank>& own = banksOf(*fiber.rank);
  for (std::size_t number = 0; number < own.size(); ++number) {
    Bank& bank = own[number];
    for (const Region& region : bank.regions) {
      if (data < region.data || data >= region.data + region.bytes) continue;
      const auto at = static_cast<std::uint64_t>(data - region.data);
      if (!bytes || bytes > region.bytes - at) {
        wrong(format("%s of %llu bytes, where %llu are allocated ({}); give 1 to %llu", call, bytes,
                     static_cast<unsigned long long>(region.bytes - at),
                     static_cast<unsigned long long>(region.bytes - at)),
              site);
      }
      // Never deleted: a call after the last byte is reported as an error.
      auto* made = new BankStream;
      made->rank = fiber.rank;
      made->kernel = fiber.name;
      made->number = static_cast<int>(number);
      made->writes = writes;
      made->data = data;
      made->bytes = bytes;
      if (!hardware) return {made};
      made->bank = &bank;
      made->start = region.address + at;
      made->end = roundUp(made->start + bytes, line());
      made->requested = made->completed = made->start / line() * line();
      bank.open.insert(std::upper_bound(bank.open.begin(), bank.open.end(), made,
                                        [](const BankStream* a, const BankStream* b) { return a->key() < b->key(); }),
                       made);
      const auto unused = std::find_if(bank.ids.begin(), bank.ids.end(), [&bank](const BankStream* one) {
        return std::find(bank.open.begin(), bank.open.end(), one) == bank.open.end();
      });
      if (unused == bank.ids.end())
        bank.ids.push_back(made);
      else
        *unused = made;
      return {made};
    }
  }
  wrong(format("%s at an address outside of the DRAM banks ({}); allocate it with SMI_Bank_alloc", call), site);
}

/// Checks a call, and waits until the bank permits it.
char* use(SMI_Bank_stream* descriptor, int bytes, bool writes, const char* call, CallSite site) {
  caller(call, site);
  BankStream* s = descriptor->stream;
  if (!s || s->writes != writes) {
    wrong(format("%s on a stream that was not opened to %s ({})", call, writes ? "write" : "read"), site);
  }
  if (bytes < 1 || bytes > mostBytes) {
    wrong(format("%s of %d bytes ({}); a call moves 1 to %d bytes, which is what a bank moves in a cycle", call, bytes,
                 mostBytes),
          site);
  }
  spend();
  std::uint64_t until = 0;
  for (;;) {
    while (hardware && s->used == now) nextCycle(site);
    // Checked after each wait: another kernel may have used the stream meanwhile.
    if (static_cast<std::uint64_t>(bytes) > s->bytes - s->moved) {
      wrong(format("%s of %d bytes, where the stream has %llu left ({}); open it with more", call, bytes,
                   static_cast<unsigned long long>(s->bytes - s->moved)),
            site);
    }
    if (s->waiting) wrong(format("%s on a stream that another kernel waits for ({})", call), site);
    until = s->moved + static_cast<std::uint64_t>(bytes);
    if (!hardware ||
        (writes ? s->start + until <= s->completed + bufferLines * line() : s->start + until <= s->completed))
      break;
    s->waiting = current;
    wait(*s, site);
  }
  s->used = now;
  char* at = s->data + s->moved;
  s->moved = until;
  return at;
}

}  // namespace

namespace gossamer::smi {

void makeBanks(const std::string& settings) {
  sim::DramConfig& c = dramConfig;
  const std::pair<const char*, std::uint64_t*> known[] = {{"bytes", &c.bytes},
                                                          {"bus_bytes", &c.busBytes},
                                                          {"banks", &c.banks},
                                                          {"burst_length", &c.burstLength},
                                                          {"cl", &c.cl},
                                                          {"row_bytes", &c.rowBytes},
                                                          {"cwl", &c.cwl},
                                                          {"rcd", &c.rcd},
                                                          {"rp", &c.rp},
                                                          {"ras", &c.ras},
                                                          {"rrd", &c.rrd},
                                                          {"faw", &c.faw},
                                                          {"wr", &c.wr},
                                                          {"wtr", &c.wtr},
                                                          {"rtp", &c.rtp},
                                                          {"rfc", &c.rfc},
                                                          {"refi", &c.refi},
                                                          {"dram_khz", &c.dramKhz},
                                                          {"core_khz", &c.coreKhz},
                                                          {"controller_latency", &c.controllerLatency},
                                                          {"line_bytes", &c.lineBytes},
                                                          {"port_bytes", &c.portBytes},
                                                          {"bank_bytes", &c.bankBytes}};
  std::istringstream in(settings);
  for (std::string word; in >> word;) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::uint64_t value = std::stoull(word.substr(equals + 1));
    if (name == "count") {
      bankCount = static_cast<int>(value);
    } else if (name == "double_rate") {
      c.doubleRate = value != 0;
    } else {
      const auto found = std::find_if(std::begin(known), std::end(known), [&](auto& one) { return name == one.first; });
      if (found == std::end(known)) fail(GS_EXIT_BUG, "unknown DRAM setting " + name);
      *found->second = value;
    }
  }
}

bool clockBanks() {
  bool moves = false;
  for (std::vector<Bank>& rank : banks) {
    for (Bank& bank : rank) {
      if (bank.dram) moves |= clockBank(bank);
    }
  }
  return moves;
}

}  // namespace gossamer::smi

extern "C" {

void* SMI_Bank_alloc(int number, unsigned long long bytes) {
  const CallSite site = __builtin_return_address(0);
  const Fiber& fiber = caller("SMI_Bank_alloc", site);
  if (fiber.name != "main") {
    wrong("SMI_Bank_alloc outside of main ({}); allocate there, so that addresses are the same in each run", site);
  }
  if (!bankCount) wrong("SMI_Bank_alloc, but the boards have no DRAM ({}); give another --cluster", site);
  if (number < 0 || number >= bankCount) {
    wrong(format("SMI_Bank_alloc in bank %d ({}); banks are 0 to %d", number, bankCount - 1), site);
  }
  Bank& bank = banksOf(*fiber.rank)[static_cast<std::size_t>(number)];
  const std::uint64_t available = hardware ? dramConfig.bytes - bank.allocated : ~0ull >> 1;
  const std::uint64_t size = bytes <= available ? roundUp(std::max(bytes, 1ull), page) : 0;
  void* data = size && size <= available ? std::aligned_alloc(page, size) : nullptr;
  if (!data) {
    wrong(format("SMI_Bank_alloc of %llu bytes in bank %d exceeds its free space ({}); allocate less", bytes, number),
          site);
  }
  std::memset(data, 0, size);
  bank.regions.push_back({static_cast<char*>(data), bytes, bank.allocated});
  bank.allocated += size;
  if (hardware && !bank.dram) bank.dram = std::make_unique<sim::DramController>(dramConfig);
  return data;
}

SMI_Bank_stream SMI_Open_bank_read(const void* from, unsigned long long bytes) {
  return openStream(const_cast<void*>(from), bytes, false, "SMI_Open_bank_read", __builtin_return_address(0));
}

SMI_Bank_stream SMI_Open_bank_write(void* to, unsigned long long bytes) {
  return openStream(to, bytes, true, "SMI_Open_bank_write", __builtin_return_address(0));
}

void SMI_Bank_read(SMI_Bank_stream* stream, void* data, int bytes) {
  const char* from = use(stream, bytes, false, "SMI_Bank_read", __builtin_return_address(0));
  std::memcpy(data, from, static_cast<std::size_t>(bytes));
}

void SMI_Bank_write(SMI_Bank_stream* stream, const void* data, int bytes) {
  char* to = use(stream, bytes, true, "SMI_Bank_write", __builtin_return_address(0));
  std::memcpy(to, data, static_cast<std::size_t>(bytes));
}

void SMI_Bank_flush(SMI_Bank_stream* stream) {
  const CallSite site = __builtin_return_address(0);
  caller("SMI_Bank_flush", site);
  BankStream* s = stream->stream;
  if (!s || !s->writes) wrong("SMI_Bank_flush on a stream that was not opened to write ({})", site);
  if (s->moved < s->bytes) {
    wrong(format("SMI_Bank_flush, where the stream has %llu bytes left to write ({}); write them first",
                 static_cast<unsigned long long>(s->bytes - s->moved)),
          site);
  }
  while (hardware && s->completed < s->end) {
    s->waiting = current;
    wait(*s, site);
  }
}

}  // extern "C"
