// SPDX-License-Identifier: Apache-2.0
/// Packets between a host and boards: requests to loaders and control units, and what boards send to hosts. The layouts
/// are those of config/constants/fabric.toml (flit, load_header, control_*); nothing depends on a configuration.
#pragma once

#include <gossamer/config.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "control_flit.h"
#include "flit.h"

namespace gossamer::machine {

using sim::Flit;
using Flits = std::vector<Flit>;

/// Why a machine cannot do what it was asked to: what() is a line for the user.
struct Error : std::runtime_error {
  enum class Kind {
    Input,         ///< the request is wrong: no such memory, a thread that still runs
    Died,          ///< boards or their simulator report a failure
    Disconnected,  ///< the process at the other end has ended
    Interrupted    ///< a signal (Waiting::interrupted)
  };
  Error(Kind kind, const std::string& what) : std::runtime_error(what), kind(kind) {}
  Kind kind;
};

constexpr uint32_t kFlitBytes = 16;     ///< bytes of data in a flit
constexpr uint32_t kPacketBytes = 256;  ///< most bytes of data in a packet to a loader or from it
constexpr unsigned kAnswers = 12;       ///< most packets in flight to a control unit, which queues 16 answers
constexpr unsigned kBoardUnit = 31;     ///< unit of a board's own counters
constexpr unsigned kNoJob = 31;         ///< job of tiles and streaming ports without one
constexpr unsigned kTableEntries = 1U << config::switch_table_bits;

uint32_t tile_address(uint32_t board, uint32_t x, uint32_t y);
uint32_t control_address(uint32_t board);
uint32_t host_address(uint32_t host);
/// All tiles that a packet passes, at the port of a single tile.
uint32_t every_tile_address();
/// Index of a host's entry in a switch's table.
constexpr uint32_t host_entry(uint32_t host) { return kTableEntries - 1 - host; }

/// The sideband word of a flit.
uint32_t sideband(config::FlitKind kind, bool last, config::Vnet vnet, unsigned job = 0);

/// Appends a request to a loader. `head` lacks the address of a reply, which goes to host 0 if `reply`; `data` are
/// head.length bytes, or null.
void add_load(Flits& flits, uint32_t dest, unsigned job, config::LoadHeader head, bool reply, const uint8_t* data);

/// Appends the body of a message in the mailbox network, `count` flits of data.
void add_message(Flits& flits, uint32_t dest, const void* data, size_t count);
/// Appends the head of a message that a multicast router sends by key.
void add_key(Flits& flits, uint32_t dest, uint32_t key);

/// Appends packets that write entries of a switch's table.
void add_table(Flits& flits, uint32_t board, uint32_t first, const std::vector<uint8_t>& entries);
/// The packet that reads a counter: of a link (config::LinkCounter), or of the board (config::BoardCounter).
Flit read_counter(uint32_t board, unsigned unit, unsigned counter);
/// The field `children` of control_relay and idle_tree: at most eight boards.
config::Words<104> children(const std::vector<uint32_t>& boards);

// ---- From boards ----

/// The reply of a loader.
struct Reply {
  config::LoadHeader head;
  std::vector<uint8_t> data;
  uint64_t cycle = 0;
};
/// A failed access of an accelerator.
struct Fault {
  unsigned cause = 0;  ///< config::Trap
  uint32_t address = 0, accelerator = 0;
  uint64_t cycle = 0;
};
/// A message to a host.
struct Message {
  uint32_t host = 0;
  unsigned job = 0, epoch = 0;
  std::vector<uint8_t> data;
  uint64_t cycle = 0;
};
struct Answer : config::ControlAnswer {
  uint64_t cycle = 0;
};
struct Event : config::ControlEvent {
  uint64_t cycle = 0;
};
using Received = std::variant<Reply, Fault, Message, Answer, Event>;

/// Decodes a packet to a host, given by its flits in wire order.
Received decode(const uint8_t* flits, size_t bytes, uint64_t cycle);

}  // namespace gossamer::machine
