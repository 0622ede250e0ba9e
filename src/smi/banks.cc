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
  std::string kernel;  ///< that opened it
  int number = 0;      ///< of the bank
  bool writes = false;
  char* data = nullptr;
  std::uint64_t bytes = 0, moved = 0;  ///< in all, and by the kernel
  // With hardware: addresses in the bank, of lines but for `start`. [start, asked) has been asked of the controller;
  // what is before `came` has been answered.
  Bank* bank = nullptr;
  std::uint64_t start = 0, end = 0, asked = 0, came = 0;
  std::uint64_t used = 0;  ///< cycle of the last call
  gossamer::smi::Fiber* waiting = nullptr;

  gossamer::smi::Wait wait(const gossamer::smi::Fiber&) const override {
    return {gossamer::smi::format("for DRAM bank %d ({})", number), {}};
  }
  /// What arbitration goes by: not the order of opening, since kernels run in any order within a cycle.
  auto key() const { return std::tie(start, writes, kernel); }
};

namespace {

using namespace gossamer::smi;
namespace sim = gossamer::sim;
using BankStream = gs_smi_bank_stream;

constexpr int mostBanks = 256, mostBytes = 64;
constexpr std::uint64_t page = 4096;
/// Lines that a stream moves before the bank turns to another one, and that its buffer has.
constexpr std::uint64_t burstLines = 64, bufferLines = 128;

struct Region {
  char* data;
  std::uint64_t bytes, address;
};

struct Bank {
  std::unique_ptr<sim::DramController> dram;
  std::uint64_t allocated = 0;
  std::vector<Region> regions;
  std::vector<BankStream*> open;     ///< in the order of their keys
  std::vector<BankStream*> numbers;  ///< by the number that their requests carry
  BankStream* turn = nullptr;        ///< whose burst it is
  std::uint64_t left = 0;            ///< lines of it
  std::uint64_t beats = 0;           ///< of a line that is being written
};

sim::DramConfig dramConfig;
int bankCount = mostBanks;
std::vector<std::vector<Bank>> banks;  ///< by rank; made as they are used

std::uint64_t line() { return dramConfig.lineBytes; }
std::uint64_t roundUp(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

std::vector<Bank>& banksOf(const Rank& rank) {
  if (banks.empty()) banks.resize(ranks.size());
  std::vector<Bank>& found = banks[static_cast<std::size_t>(rank.index)];
  if (found.empty()) found = std::vector<Bank>(static_cast<std::size_t>(bankCount));
  return found;
}

/// Lines that a stream could ask for now. It asks for a burst at once, or for what is left of it.
std::uint64_t wants(const BankStream& s) {
  const std::uint64_t rest = (s.end - s.asked) / line();
  std::uint64_t could = 0;
  if (s.writes) {
    const std::uint64_t given = s.start + s.moved;
    const std::uint64_t whole = s.moved == s.bytes ? s.end : given / line() * line();
    could = whole > s.asked ? (whole - s.asked) / line() : 0;
  } else {
    // A line leaves the buffer when its last byte is read.
    const std::uint64_t kept = (s.asked - (s.start + s.moved) / line() * line()) / line();
    could = std::min(rest, kept < bufferLines ? bufferLines - kept : 0);
  }
  return could >= std::min(burstLines, rest) ? std::min(burstLines, could) : 0;
}

/// The next stream in turn that has something to ask for.
void chooseStream(Bank& bank) {
  const auto begin = bank.open.begin(), end = bank.open.end();
  const auto after = std::find(begin, end, bank.turn);
  const auto first = after == end ? begin : after + 1;
  bank.left = 0;
  for (std::size_t at = 0, many = bank.open.size(); at < many && !bank.left; ++at) {
    const auto index = (static_cast<std::size_t>(first - begin) + at) % many;
    bank.left = wants(*bank.open[index]);
    if (bank.left) bank.turn = bank.open[index];
  }
}

void close(Bank& bank, BankStream& s) {
  std::erase(bank.open, &s);
  // Its place in the order goes to nobody: the first one is next.
  if (bank.turn == &s) bank.turn = nullptr;
}

void answer(Bank& bank, const sim::MemoryModel::Beat& beat) {
  if (!beat.last) return;
  BankStream& s = *bank.numbers[beat.id];
  s.came += line();
  if (s.waiting) {
    wake(s.waiting);
    s.waiting = nullptr;
  }
  if (s.came == s.end) close(bank, s);
}

/// A cycle of a bank: a beat of a request, and one of an answer.
bool clockBank(Bank& bank) {
  sim::DramController& dram = *bank.dram;
  // Without streams it is not clocked; the model lives on up to this cycle then.
  if (bank.open.empty()) return false;
  dram.tick(now - 1);
  if (!bank.left) chooseStream(bank);
  const bool asks = bank.left && dram.ready();
  if (asks) {
    static const std::uint8_t nothing[sim::MemoryModel::kMaxBytes] = {};
    BankStream& s = *bank.turn;
    bank.beats += s.writes ? dramConfig.portBytes : line();
    const bool last = bank.beats == line();
    const auto number =
        static_cast<std::size_t>(std::find(bank.numbers.begin(), bank.numbers.end(), &s) - bank.numbers.begin());
    dram.put(now, s.writes, last, s.asked, static_cast<std::uint32_t>(number), nothing);
    if (last) {
      bank.beats = 0;
      s.asked += line();
      --bank.left;
    }
  }
  dram.tick(now);
  const bool has = dram.has(now);
  if (has) answer(bank, dram.get());
  return asks || has || !dram.quiet();
}

[[noreturn]] void wrong(const std::string& what, Place place) {
  fail(exitInput, format("rank %d: %s", current->rank->index, what.c_str()), {place});
}

SMI_Bank_stream openStream(void* pointer, unsigned long long bytes, bool writes, const char* call, Place place) {
  Fiber& fiber = caller(call, place);
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
              place);
      }
      // Never deleted: a call after the last byte is told.
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
      made->asked = made->came = made->start / line() * line();
      bank.open.insert(std::upper_bound(bank.open.begin(), bank.open.end(), made,
                                        [](const BankStream* a, const BankStream* b) { return a->key() < b->key(); }),
                       made);
      const auto unused = std::find_if(bank.numbers.begin(), bank.numbers.end(), [&bank](const BankStream* one) {
        return std::find(bank.open.begin(), bank.open.end(), one) == bank.open.end();
      });
      if (unused == bank.numbers.end())
        bank.numbers.push_back(made);
      else
        *unused = made;
      return {made};
    }
  }
  wrong(format("%s at an address that is in no DRAM bank ({}); allocate it with SMI_Bank_alloc", call), place);
}

/// Looks at a call, and waits until the bank lets it go on.
char* use(SMI_Bank_stream* descriptor, int bytes, bool writes, const char* call, Place place) {
  caller(call, place);
  BankStream* s = descriptor->stream;
  if (!s || s->writes != writes) {
    wrong(format("%s on a stream that was not opened to %s ({})", call, writes ? "write" : "read"), place);
  }
  if (bytes < 1 || bytes > mostBytes) {
    wrong(format("%s of %d bytes ({}); a call moves 1 to %d, as a bank does in a cycle", call, bytes, mostBytes),
          place);
  }
  spend();
  std::uint64_t until = 0;
  for (;;) {
    while (hardware && s->used == now) nextCycle(place);
    // Looked at after each wait: meanwhile another kernel may have used the stream.
    if (static_cast<std::uint64_t>(bytes) > s->bytes - s->moved) {
      wrong(format("%s of %d bytes, where the stream has %llu left ({}); open it with more", call, bytes,
                   static_cast<unsigned long long>(s->bytes - s->moved)),
            place);
    }
    if (s->waiting) wrong(format("%s on a stream that another kernel waits for ({})", call), place);
    until = s->moved + static_cast<std::uint64_t>(bytes);
    if (!hardware || (writes ? s->start + until <= s->came + bufferLines * line() : s->start + until <= s->came)) break;
    s->waiting = current;
    wait(*s, place);
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
      if (found == std::end(known)) fail(exitBug, "a DRAM has no setting " + name);
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
  const Place place = __builtin_return_address(0);
  const Fiber& fiber = caller("SMI_Bank_alloc", place);
  if (fiber.name != "main") {
    wrong("SMI_Bank_alloc outside of main ({}); allocate there, so that addresses are the same in each run", place);
  }
  if (!bankCount) wrong("SMI_Bank_alloc, but the boards have no DRAM ({}); give another --cluster", place);
  if (number < 0 || number >= bankCount) {
    wrong(format("SMI_Bank_alloc in bank %d ({}); banks are 0 to %d", number, bankCount - 1), place);
  }
  Bank& bank = banksOf(*fiber.rank)[static_cast<std::size_t>(number)];
  const std::uint64_t room = hardware ? dramConfig.bytes - bank.allocated : ~0ull >> 1;
  const std::uint64_t size = bytes <= room ? roundUp(std::max(bytes, 1ull), page) : 0;
  void* data = size && size <= room ? std::aligned_alloc(page, size) : nullptr;
  if (!data) {
    wrong(format("SMI_Bank_alloc of %llu bytes in bank %d, which is more than there is ({}); give less", bytes, number),
          place);
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
  const Place place = __builtin_return_address(0);
  caller("SMI_Bank_flush", place);
  BankStream* s = stream->stream;
  if (!s || !s->writes) wrong("SMI_Bank_flush on a stream that was not opened to write ({})", place);
  if (s->moved < s->bytes) {
    wrong(format("SMI_Bank_flush, where the stream has %llu bytes left to write ({}); write them first",
                 static_cast<unsigned long long>(s->bytes - s->moved)),
          place);
  }
  while (hardware && s->came < s->end) {
    s->waiting = current;
    wait(*s, place);
  }
}

}  // extern "C"
