// SPDX-License-Identifier: Apache-2.0
#include "machine/packets.h"

#include <algorithm>
#include <cstring>

namespace gossamer::machine {
namespace {

using config::FlitKind;
using config::Vnet;
using Layout = config::Flit;

constexpr unsigned kSideband = 160;  ///< first bit of a flit's sideband, which follows payload and destination
constexpr unsigned kEntries = 12;    ///< of a switch's table, in one packet

uint32_t endpoint(config::Endpoint kind) { return static_cast<uint32_t>(kind) << config::AddressTile::kKindLsb; }

unsigned field(const Flit& flit, unsigned lsb, unsigned bits) {
  return flit.words[lsb / 32] >> lsb % 32 & ((1U << bits) - 1);
}

Flit body(uint32_t dest, const void* data, size_t bytes, uint32_t side) {
  Flit flit;
  std::memcpy(flit.words.data(), data, bytes);
  flit.words[4] = dest;
  flit.words[5] = side;
  return flit;
}

std::vector<uint8_t> payload(const uint8_t* flits, size_t bytes, size_t first) {
  std::vector<uint8_t> data;
  for (size_t at = first * sizeof(Flit); at + sizeof(Flit) <= bytes; at += sizeof(Flit)) {
    data.insert(data.end(), flits + at, flits + at + kFlitBytes);
  }
  return data;
}

}  // namespace

uint32_t tile_address(uint32_t board, uint32_t x, uint32_t y) {
  using Tile = config::AddressTile;
  return endpoint(config::Endpoint::Tile) | board << Tile::kBoardLsb | y << Tile::kTileYLsb | x << Tile::kTileXLsb;
}

uint32_t control_address(uint32_t board) {
  return endpoint(config::Endpoint::Control) | board << config::AddressControl::kBoardLsb;
}

uint32_t host_address(uint32_t host) {
  return endpoint(config::Endpoint::Host) | host << config::AddressHost::kHostLsb;
}

uint32_t every_tile_address() {
  using Tile = config::AddressTile;
  return endpoint(config::Endpoint::Tile) | ((1U << (Tile::kBoardLsb + Tile::kBoardBits)) - (1U << Tile::kTileXLsb));
}

uint32_t sideband(FlitKind kind, bool last, Vnet vnet, unsigned job) {
  return static_cast<uint32_t>(kind) << (Layout::kKindLsb - kSideband) |
         static_cast<uint32_t>(last) << (Layout::kLastLsb - kSideband) |
         static_cast<uint32_t>(vnet) << (Layout::kVnetLsb - kSideband) | job << (Layout::kJobLsb - kSideband);
}

void add_load(Flits& flits, uint32_t dest, unsigned job, config::LoadHeader head, bool reply, const uint8_t* data) {
  head.reply = reply ? host_address(0) : 0;
  const uint32_t rows = data ? head.length / kFlitBytes : 0;
  const auto packed = head.pack();
  flits.push_back(body(dest, packed.word, kFlitBytes, sideband(FlitKind::Header, !rows, Vnet::Request, job)));
  for (uint32_t row = 0; row < rows; ++row) {
    flits.push_back(
        body(dest, data + row * kFlitBytes, kFlitBytes, sideband(FlitKind::Body, row + 1 == rows, Vnet::Request, job)));
  }
}

void add_message(Flits& flits, uint32_t dest, const void* data, size_t count) {
  const auto* from = static_cast<const uint8_t*>(data);
  for (size_t i = 0; i < count; ++i) {
    flits.push_back(
        body(dest, from + i * kFlitBytes, kFlitBytes, sideband(FlitKind::Body, i + 1 == count, Vnet::Mailbox)));
  }
}

void add_key(Flits& flits, uint32_t dest, uint32_t key) {
  flits.push_back(body(dest, &key, sizeof key, sideband(FlitKind::Key, false, Vnet::Mailbox)));
}

void add_table(Flits& flits, uint32_t board, uint32_t first, const std::vector<uint8_t>& entries) {
  for (size_t at = 0; at < entries.size(); at += kEntries) {
    config::ControlRoute route;
    route.op_code = config::ControlOp::Route;
    route.first = static_cast<uint16_t>(first + at);
    route.count = static_cast<uint8_t>(std::min<size_t>(kEntries, entries.size() - at));
    for (unsigned i = 0; i < route.count; ++i) route.entries.put(8 * i, 8, entries[at + i]);
    flits.push_back(sim::ControlFlit::to(board, route));
  }
}

Flit read_counter(uint32_t board, unsigned unit, unsigned counter) {
  config::ControlRead read;
  read.op_code = config::ControlOp::Read;
  read.unit = static_cast<uint8_t>(unit);
  read.counter = static_cast<uint8_t>(counter);
  return sim::ControlFlit::to(board, read);
}

config::Words<104> children(const std::vector<uint32_t>& boards) {
  constexpr unsigned kBits = 13;
  config::Words<104> packed;
  for (unsigned i = 0; i < boards.size(); ++i) packed.put(kBits * i, kBits, 1U << (kBits - 1) | boards[i]);
  return packed;
}

Received decode(const uint8_t* flits, size_t bytes, uint64_t cycle) {
  Flit flit;
  std::memcpy(flit.words.data(), flits, sizeof flit);
  if (!flit.is(FlitKind::Header)) {
    return Message{flit.dest() >> config::AddressHost::kHostLsb & ((1U << config::AddressHost::kHostBits) - 1),
                   field(flit, Layout::kJobLsb, Layout::kJobBits), field(flit, Layout::kEpochLsb, Layout::kEpochBits),
                   payload(flits, bytes, 0), cycle};
  }
  if (sim::ControlFlit::op(flit) == config::ControlOp::Answer) {
    return Answer{sim::ControlFlit::read<config::ControlAnswer>(flit), cycle};
  }
  if (sim::ControlFlit::op(flit) == config::ControlOp::Event) {
    return Event{sim::ControlFlit::read<config::ControlEvent>(flit), cycle};
  }
  const auto head = sim::ControlFlit::read<config::LoadHeader>(flit);
  if (head.op == config::LoadOp::Fault) return Fault{head.tag, head.address, head.reply, cycle};
  return Reply{head, payload(flits, bytes, 1), cycle};
}

}  // namespace gossamer::machine
