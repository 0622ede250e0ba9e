// SPDX-License-Identifier: Apache-2.0
/// Boards of gs_sim_stream, one model instance each, and the wires between them.
#include "fabric.h"

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "Vgs_sim_stream.h"
#include "verilated.h"

namespace {

constexpr unsigned kPorts = PORTS, kLinks = LINKS, kBlocks = BLOCKS;
/// Idle cycles after which a port has certainly sent its contents: `Linger`, plus the path to the switch and out of it.
/// A block searches the ranks of its table at most twice, and a port that waits for a collective requests it once.
constexpr unsigned kIdleCycles = kBlocks ? 1024 : 64;
constexpr unsigned kUpCycles = 100'000, kSettleCycles = 2'000;

struct Board {
  VerilatedContext context;
  Vgs_sim_stream top{&context};
  // By link: the board and link at the other end of the wire.
  unsigned far[kLinks] = {}, farLink[kLinks] = {};
  unsigned wired = 0;
  GsStreamPort ports[kPorts] = {};
  GsStreamBlock blocks[kBlocks ? kBlocks : 1] = {};
  GsStreamBarrier barrier = {};
};

std::vector<std::unique_ptr<Board>> boards;
std::int64_t flits_in_flight = 0;  ///< flits in links
unsigned quiescent = 0;

void low() {
  for (auto& board : boards) {
    board->top.clk_i = 0;
    board->top.eval();
  }
}

/// All outputs to the wires are registered: they reach the other boards at this clock edge.
void high() {
  for (auto& board : boards) {
    unsigned valid = 0, last = 0, error = 0;
    for (unsigned link = 0; link < kLinks; ++link) {
      if (!(board->wired >> link & 1)) continue;
      const Vgs_sim_stream& far = boards[board->far[link]]->top;
      const unsigned from = board->farLink[link];
      valid |= (far.away_valid_o >> from & 1u) << link;
      last |= (far.away_last_o >> from & 1u) << link;
      error |= (far.away_error_o >> from & 1u) << link;
      board->top.rx_data_i[link] = far.away_data_o[from];
      board->top.rx_keep_i[link] = far.away_keep_o[from];
    }
    board->top.rx_valid_i = valid;
    board->top.rx_last_i = last;
    board->top.rx_error_i = error;
  }
  for (auto& board : boards) {
    board->top.clk_i = 1;
    board->top.eval();
  }
}

void tick() {
  low();
  high();
}

void drive(Board& board) {
  Vgs_sim_stream& top = board.top;
  for (unsigned p = 0; p < kPorts; ++p) {
    const GsStreamPort& port = board.ports[p];
    top.send_valid_i[p] = port.opens_send;
    top.send_element_i[p] = port.send_type;
    top.send_rank_i[p] = port.send_rank;
    top.send_count_i[p] = port.send_count;
    top.s_valid_i[p] = port.push_valid;
    top.s_data_i[p] = port.push_data;
    top.recv_valid_i[p] = port.opens_receive;
    top.recv_element_i[p] = port.receive_type;
    top.recv_rank_i[p] = port.receive_rank;
    top.recv_count_i[p] = port.receive_count;
    top.m_ready_i[p] = port.pop_ready;
  }
  for (unsigned b = 0; b < kBlocks; ++b) {
    const GsStreamBlock& block = board.blocks[b];
    top.open_valid_i[b] = block.opens;
    top.open_kind_i[b] = block.kind;
    top.open_element_i[b] = block.type;
    top.open_op_i[b] = block.op;
    top.open_root_i[b] = block.root;
    top.open_count_i[b] = block.count;
    top.give_valid_i[b] = block.push_valid;
    top.give_data_i[b] = block.push_data;
    top.take_ready_i[b] = block.pop_ready;
  }
  top.arrive_valid_i = board.barrier.enters;
  top.release_ready_i = board.barrier.leaves;
}

/// Samples the handshakes of the coming clock edge; returns whether there are any.
bool sample(Board& board) {
  const Vgs_sim_stream& top = board.top;
  bool some = !top.empty_o;
  for (unsigned p = 0; p < kPorts; ++p) {
    GsStreamPort& port = board.ports[p];
    port.opened_send = port.opens_send && top.send_ready_o[p];
    port.pushed = port.push_valid && top.s_ready_o[p];
    port.opened_receive = port.opens_receive && top.recv_ready_o[p];
    port.popped = port.pop_ready && top.m_valid_o[p];
    port.pop_data = top.m_data_o[p];
    some |= port.opened_send || port.pushed || port.opened_receive || port.popped;
  }
  for (unsigned b = 0; b < kBlocks; ++b) {
    GsStreamBlock& block = board.blocks[b];
    block.opened = block.opens && top.open_ready_o[b];
    block.pushed = block.push_valid && top.give_ready_o[b];
    block.popped = block.pop_ready && top.take_valid_o[b];
    block.pop_data = top.take_data_o[b];
    some |= block.opened || block.pushed || block.popped;
  }
  GsStreamBarrier& barrier = board.barrier;
  barrier.has_entered = barrier.enters && top.arrive_ready_o;
  barrier.has_left = barrier.leaves && top.release_valid_o;
  some |= barrier.has_entered || barrier.has_left;
  flits_in_flight += __builtin_popcount(top.tx_fire_o) - __builtin_popcount(top.rx_fire_o);
  return some || top.tx_fire_o || top.rx_fire_o;
}

bool cycle(bool active) {
  for (auto& board : boards) drive(*board);
  low();
  bool some = false;
  for (auto& board : boards) some |= sample(*board);
  high();
  quiescent = some || flits_in_flight || active ? 0 : quiescent + 1;
  return quiescent < kIdleCycles;
}

GsStreamPort* portOf(int rank, int port) { return &boards[static_cast<std::size_t>(rank)]->ports[port]; }

GsStreamBlock* blockOf(int rank, int block) { return &boards[static_cast<std::size_t>(rank)]->blocks[block]; }

GsStreamBarrier* barrierOf(int rank) { return &boards[static_cast<std::size_t>(rank)]->barrier; }

int faulty() {
  for (std::size_t rank = 0; rank < boards.size(); ++rank) {
    if (boards[rank]->top.fault_o) return static_cast<int>(rank);
  }
  return -1;
}

/// Calls `act` for each line of one kind with the line's numbers.
template <class Act>
void each(const char* script, const char* kind, Act act) {
  std::istringstream lines(script);
  for (std::string line, word; std::getline(lines, line);) {
    std::istringstream in(line);
    if (!(in >> word) || word != kind) continue;
    unsigned numbers[4] = {};
    for (unsigned& number : numbers) in >> number;
    act(numbers);
  }
}

struct Entry {
  unsigned at, word;
};

/// Writes a table of all boards, one entry per board and cycle.
template <class Put>
void write(const char* script, const char* kind, Put put) {
  std::vector<std::vector<Entry>> entries(boards.size());
  each(script, kind, [&](const unsigned* n) { entries.at(n[0]).push_back({n[1], n[2]}); });
  for (std::size_t at = 0, left = 1; left; ++at) {
    left = 0;
    for (std::size_t rank = 0; rank < boards.size(); ++rank) {
      const bool valid = at < entries[rank].size();
      put(boards[rank]->top, valid, valid ? entries[rank][at] : Entry{});
      left += valid;
    }
    tick();
  }
}

bool up() {
  for (auto& board : boards) {
    if ((board->top.up_o & board->wired) != board->wired) return false;
  }
  return true;
}

bool ready() {
  for (auto& board : boards) {
    if (!board->top.ready_o) return false;
  }
  return true;
}

const GsFabric fabric{portOf, blockOf, barrierOf, cycle, faulty};

}  // namespace

const GsFabric* gs_fabric_make(const char* script) {
  each(script, "boards", [](const unsigned* n) {
    for (unsigned at = 0; at < n[0]; ++at) {
      boards.push_back(std::make_unique<Board>());
      boards.back()->top.board_i = static_cast<std::uint16_t>(at);
      boards.back()->top.rst_ni = 0;
    }
  });
  each(script, "wire", [](const unsigned* n) {
    Board& board = *boards.at(n[0]);
    board.wired |= 1u << n[1];
    board.far[n[1]] = n[2];
    board.farLink[n[1]] = n[3];
    board.top.far_i[n[1]] = static_cast<std::uint8_t>(n[2]);
    board.top.far_link_i[n[1]] = static_cast<std::uint8_t>(n[3]);
  });
  for (int at = 0; at < 8; ++at) tick();
  for (auto& board : boards) board->top.rst_ni = 1;
  while (!ready()) tick();
  write(script, "route", [](Vgs_sim_stream& top, bool valid, const Entry& entry) {
    top.table_we_i = valid;
    top.table_index_i = static_cast<std::uint8_t>(entry.at);
    top.table_entry_i = static_cast<std::uint8_t>(entry.word);
  });
  write(script, "tree", [](Vgs_sim_stream& top, bool valid, const Entry& entry) {
    top.tree_we_i = valid;
    top.tree_root_i = static_cast<std::uint8_t>(entry.at);
    top.tree_entry_i = static_cast<std::uint16_t>(entry.word);
  });
  write(script, "way", [](Vgs_sim_stream& top, bool valid, const Entry& entry) {
    top.rank_edge_we_i = valid;
    top.tree_root_i = static_cast<std::uint8_t>(entry.at);
    top.tree_entry_i = static_cast<std::uint16_t>(entry.word);
  });
  write(script, "order", [](Vgs_sim_stream& top, bool valid, const Entry& entry) {
    top.order_we_i = valid;
    top.tree_root_i = static_cast<std::uint8_t>(entry.at);
    top.tree_entry_i = static_cast<std::uint16_t>(entry.word);
  });
  for (auto& board : boards) board->top.bind_i = 1;
  tick();
  for (auto& board : boards) board->top.bind_i = 0;
  for (unsigned at = 0; !up(); ++at) {
    if (at == kUpCycles) return nullptr;
    tick();
  }
  for (unsigned at = 0; at < kSettleCycles; ++at) tick();
  return &fabric;
}
