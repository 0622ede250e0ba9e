// SPDX-License-Identifier: Apache-2.0
/// Memories of boards, through the loaders of their tiles.
#include <algorithm>

#include "machine/machine.h"

namespace gossamer::machine {
namespace {

using config::LoadOp;

constexpr uint32_t kWriteBytes = 1 << 20;  ///< written before the host waits for a reply
constexpr uint32_t kReadBytes = 1 << 16;   ///< requested at once
constexpr unsigned kAllGroups = (1U << config::LoadHeader::kGroupBits) - 1;

config::LoadHeader head(LoadOp op, uint32_t address, uint32_t length, unsigned group = 0) {
  config::LoadHeader head;
  head.op = op;
  head.group = static_cast<uint8_t>(group);
  head.address = address;
  head.length = length;
  return head;
}

void check_end(uint32_t address, uint64_t size) {
  if (uint64_t{address} + size > uint64_t{1} << 32) throw Error(Error::Kind::Input, "data beyond the end of memory");
}

}  // namespace

const std::vector<uint32_t>& Machine::boards_of(unsigned job) const {
  static const std::vector<uint32_t> only{0};
  return plan_.alone ? only : plan_.jobs.at(job);
}

Machine::Target Machine::at(uint32_t tile) const {
  const uint32_t its = tile % plan_.tiles, board = board_of(tile);
  const uint32_t number = plan_.is_guest() ? plan_.numbers.at(board) : board;
  return {tile_address(number, its % plan_.width, its / plan_.width), number_of(plan_.job_of(board)), 1};
}

Machine::Target Machine::memories(unsigned job) const {
  if (plan_.alone) return at(0);
  return {control_address(plan_.hosts[0]), number_of(job), static_cast<uint32_t>(boards_of(job).size()) * plan_.drams};
}

Machine::Target Machine::code(unsigned job) const {
  if (plan_.alone) return {every_tile_address(), job, 1};
  return {control_address(plan_.hosts[0]), number_of(job), static_cast<uint32_t>(boards_of(job).size()) * plan_.tiles};
}

Span Machine::span(uint32_t address) const {
  return translation_ ? translation_(address) : Span{address, (uint64_t{1} << 32) - address};
}

void Machine::write_lines(const Target& target, uint32_t address, const uint8_t* data, size_t size) {
  for (size_t begin = 0; begin < size; begin += kWriteBytes) {
    const size_t end = std::min<size_t>(size, begin + kWriteBytes);
    Flits flits;
    for (size_t at = begin; at < end;) {
      const Span where = span(static_cast<uint32_t>(address + at));
      const auto length = static_cast<uint32_t>(std::min<uint64_t>({kPacketBytes, where.adjacent, uint64_t{end - at}}));
      add_load(flits, target.dest, target.job, head(LoadOp::Write, where.address, length), at + length == end,
               data + at);
      at += length;
    }
    accepted(flits, target.replies);
  }
}

std::vector<uint8_t> Machine::read_lines(uint32_t tile, uint32_t address, size_t size) {
  const Target target = at(tile);
  std::vector<uint8_t> found;
  found.reserve(size);
  while (found.size() < size) {
    // Requests are answered in order.
    Flits flits;
    uint32_t replies = 0;
    const size_t end = std::min<size_t>(size, found.size() + kReadBytes);
    for (size_t at = found.size(); at < end;) {
      const Span where = span(static_cast<uint32_t>(address + at));
      const auto length = static_cast<uint32_t>(std::min<uint64_t>(where.adjacent, end - at));
      add_load(flits, target.dest, target.job, head(LoadOp::Read, where.address, length), true, nullptr);
      replies += (length + kPacketBytes - 1) / kPacketBytes;
      at += length;
    }
    const size_t before = found.size();
    for (const Reply& reply : accepted(flits, replies)) {
      found.insert(found.end(), reply.data.begin(), reply.data.end());
    }
    if (found.size() != before + (end - before)) throw Error(Error::Kind::Died, "a loader returns too little data");
  }
  return found;
}

std::vector<uint8_t> Machine::read(uint32_t tile, uint32_t address, size_t size) {
  if (!size) return {};
  check_end(address, size);
  const uint32_t before = address % plan_.line;
  std::vector<uint8_t> data =
      read_lines(tile, address - before, (before + size + plan_.line - 1) / plan_.line * plan_.line);
  data.erase(data.begin(), data.begin() + before);
  data.resize(size);
  return data;
}

void Machine::write(uint32_t tile, uint32_t address, const uint8_t* data, size_t size) {
  write_kept(at(tile), tile, address, data, size);
}

void Machine::write_kept(const Target& target, uint32_t tile, uint32_t address, const uint8_t* data, size_t size) {
  if (!size) return;
  check_end(address, size);
  // Memory is written in whole lines: the rest of the first and the last line is read first and kept.
  std::vector<uint8_t> whole;
  const uint32_t before = address % plan_.line;
  if (before) {
    whole = read_lines(tile, address - before, plan_.line);
    whole.resize(before);
  }
  whole.insert(whole.end(), data, data + size);
  if (const auto tail = static_cast<uint32_t>(whole.size() % plan_.line)) {
    const auto end = static_cast<uint32_t>(address - before + whole.size());
    const std::vector<uint8_t> last = read_lines(tile, end - tail, plan_.line);
    whole.insert(whole.end(), last.begin() + tail, last.end());
  }
  write_lines(target, address - before, whole.data(), whole.size());
}

void Machine::write_all(unsigned job, uint32_t address, const uint8_t* data, size_t size) {
  if (!size) return;
  check_end(address, size);
  const Target all = memories(job);
  if (all.replies == 1) return write_kept(all, boards_of(job)[0] * plan_.tiles, address, data, size);
  // The rest of a line may differ between memories, so each of them keeps its own.
  const size_t before = std::min<size_t>(size, (plan_.line - address % plan_.line) % plan_.line);
  const size_t whole = (size - before) / plan_.line * plan_.line;
  const auto each = [&](size_t from, size_t to) {
    for (const uint32_t board : boards_of(job)) {
      for (uint32_t dram = 0; dram < plan_.drams; ++dram) {
        write(tile_at(board * plan_.drams + dram), static_cast<uint32_t>(address + from), data + from, to - from);
      }
    }
  };
  each(0, before);
  write_lines(all, static_cast<uint32_t>(address + before), data + before, whole);
  each(before + whole, size);
}

void Machine::fill_all(unsigned job, uint32_t address, uint64_t size) {
  check_end(address, size);
  const Target all = memories(job);
  const uint64_t begin = (uint64_t{address} + plan_.line - 1) / plan_.line * plan_.line;
  const uint64_t end = (uint64_t{address} + size) / plan_.line * plan_.line;
  const std::vector<uint8_t> zeroes(std::min<uint64_t>(size, 2 * plan_.line));
  if (begin >= end) return write_all(job, address, zeroes.data(), size);
  write_all(job, address, zeroes.data(), begin - address);
  for (uint64_t at = begin; at < end; at += kWriteBytes) {
    Flits flits;
    const auto length = static_cast<uint32_t>(std::min<uint64_t>(kWriteBytes, end - at));
    add_load(flits, all.dest, all.job, head(LoadOp::Fill, static_cast<uint32_t>(at), length), true, nullptr);
    accepted(flits, all.replies);
  }
  write_all(job, static_cast<uint32_t>(end), zeroes.data(), address + size - end);
}

void Machine::write_group(const Target& target, unsigned group, uint32_t address, const uint8_t* code, size_t size) {
  std::vector<uint8_t> whole(code, code + size);
  whole.resize((size + kFlitBytes - 1) / kFlitBytes * kFlitBytes);
  Flits flits;
  for (size_t at = 0; at < whole.size(); at += kPacketBytes) {
    const auto length = static_cast<uint32_t>(std::min<size_t>(kPacketBytes, whole.size() - at));
    add_load(flits, target.dest, target.job,
             head(LoadOp::WriteInstr, static_cast<uint32_t>(address + at), length, group), at + length == whole.size(),
             whole.data() + at);
  }
  if (!flits.empty()) accepted(flits, target.replies);
}

void Machine::write_code(unsigned job, const uint8_t* code, size_t size) {
  write_group(this->code(job), kAllGroups, 0, code, size);
}

void Machine::write_code(uint32_t tile, unsigned group, uint32_t address, const uint8_t* code, size_t size) {
  write_group(at(tile), group, address, code, size);
}

std::vector<uint8_t> Machine::read_code(uint32_t tile, unsigned group, uint32_t address, uint32_t size) {
  const Target target = at(tile);
  Flits flits;
  add_load(flits, target.dest, target.job, head(LoadOp::ReadInstr, address, size, group), true, nullptr);
  std::vector<uint8_t> code;
  for (const Reply& reply : accepted(flits, (size + kPacketBytes - 1) / kPacketBytes)) {
    code.insert(code.end(), reply.data.begin(), reply.data.end());
  }
  return code;
}

}  // namespace gossamer::machine
