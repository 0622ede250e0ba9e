// SPDX-License-Identifier: Apache-2.0
#include <HostLink.h>
#include <gossamer/device_config.h>
#include <gossamer/host/vertices.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "board.h"
#include "thread_output.h"

using gossamer::host::Board;
using gossamer::host::Message;
using gossamer::host::reject_call;
using gossamer::host::ThreadLocation;
using gossamer::host::ThreadOutput;
using gossamer::machine::Flits;
using gossamer::machine::Machine;
namespace config = gossamer::config;

namespace {

constexpr uint64_t kQueue = 1024;  ///< flits that may wait to enter the network
constexpr uint64_t kHeld = 4096;   ///< most flits that are buffered (useSendBuffer)
constexpr uint32_t kWordsPerFlit = config::mailbox::flit_bytes / 4;

std::string hex(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

/// The fabric's address of a thread or an accelerator; ends the program if it does not exist.
uint32_t fabric_address(const char* call, uint32_t dest) {
  constexpr uint32_t kKinds = 7u << config::AddressThread::kKindLsb;
  const uint32_t kind = dest & kKinds;
  ThreadLocation location;
  const bool exists = Board::location(dest & ~kKinds, location);
  if ((kind && kind != GS_ADDRESS_ACCELERATOR) || !exists) {
    const std::string boards = std::to_string(Board::boards_x()) + " x " + std::to_string(Board::boards_y());
    std::string what = "the address " + hex(dest) + " is not that of a receiver of messages";
    if (!kind && location.board >= Board::boards_x() * Board::boards_y()) {
      what = "the address " + hex(dest) + " is on board " + std::to_string(location.board);
    }
    reject_call(call, what + "; there are " + boards + " boards of " + std::to_string(TinselCoresPerBoard) +
                          " cores of " + std::to_string(TinselThreadsPerCore) + " threads; make addresses with toAddr");
  }
  const uint32_t tile = location.core / TinselCoresPerMailbox;
  using Thread = config::AddressThread;
  return kind | location.board << Thread::kBoardLsb | tile / GS_MESH_WIDTH << Thread::kTileYLsb |
         tile % GS_MESH_WIDTH << Thread::kTileXLsb |
         (location.core % TinselCoresPerMailbox * TinselThreadsPerCore + location.thread) << Thread::kThreadLsb;
}

void check_length(const char* call, uint32_t flits) {
  if (flits >= 1 && flits <= TinselMaxFlitsPerMsg) return;
  reject_call(call,
          "a message of " + std::to_string(flits) + " flits; it has 1 to " + std::to_string(TinselMaxFlitsPerMsg));
}

}  // namespace

struct HostLink::Buffers {
  std::vector<Flits> packets;  ///< buffered messages
  size_t flits = 0;

  /// Sends a packet once the queue has space; false if it has none and the call must not block.
  bool hand_over(Board& board, const char* call, const Flits& packet, bool block) {
    board.flush_stores(call);
    const uint64_t limit = kQueue - packet.size();
    const auto has_space = [&] { return board.sim().queued() <= limit; };
    if (!block && !board.poll(call, gossamer::sim::kSpace, limit, has_space)) return false;
    if (block && !board.wait(call, gossamer::sim::kSpace, limit, has_space)) board.fail_deadlocked(call);
    board.sim().send(packet);
    return true;
  }

  void flush(Board& board, const char* call) {
    for (const Flits& packet : packets) hand_over(board, call, packet, true);
    packets.clear();
    flits = 0;
  }

  bool send(Board& board, const char* call, Flits&& packet, bool block, bool hold) {
    if (hold) {
      flits += packet.size();
      packets.push_back(std::move(packet));
      if (flits > kHeld) flush(board, call);
      return true;
    }
    flush(board, call);
    return hand_over(board, call, packet, block);
  }

  /// Handles a message to a core whose threads are not prepared yet: a request of the boot loader.
  bool boot(Board& board, const char* call, const ThreadLocation& location, const void* msg, uint32_t flits_of_it) {
    const uint32_t core = location.board * TinselCoresPerBoard + location.core;
    if (location.thread != 0 || board.has_begun(core)) return false;
    BootReq req{};
    std::memcpy(&req, msg, std::min<size_t>(sizeof req, flits_of_it * size_t{config::mailbox::flit_bytes}));
    const uint32_t most = flits_of_it * kWordsPerFlit - 1;
    if (req.cmd > StartCmd || req.numArgs > most) {
      reject_call(call, "a message to core " + std::to_string(location.core) + " of board " +
                            std::to_string(location.board) +
                            ", whose threads have not been made ready (boot, startOne), and which is not a load "
                            "request");
    }
    switch (req.cmd) {
      case SetAddrCmd: board.set_address(core, req.args[0]); return true;
      case WriteInstrCmd: board.write_instructions(call, core, req.args, req.numArgs); return true;
      case StoreCmd: board.store(call, core, req.args, req.numArgs); return true;
      case LoadCmd: {
        const std::vector<uint32_t> words = board.load(call, core, req.args[0]);
        for (size_t at = 0; at < words.size(); at += kWordsPerFlit) {
          Message& message = board.sim().messages.emplace_back();
          std::memcpy(message.data(), &words[at], 4 * std::min<size_t>(kWordsPerFlit, words.size() - at));
        }
        return true;
      }
      default: {
        board.ready(call, core, req.args[0] + 1);
        // The core answers that it is ready.
        board.sim().messages.emplace_back();
        return true;
      }
    }
  }

  void receive(Board& board, const char* call, void* msg, size_t bytes, size_t remaining) {
    flush(board, call);
    auto& messages = board.sim().messages;
    if (messages.empty()) {
      const uint64_t most = std::min<size_t>(remaining, 1 << 16);
      const auto some = [&] { return messages.size() >= most; };
      if (!board.wait(call, gossamer::sim::kMessages, 0, some, most) && messages.empty()) board.fail_deadlocked(call);
    }
    std::memcpy(msg, messages.front().data(), bytes);
    messages.pop_front();
  }

  void dump(Board& board, FILE* out, uint32_t lines) {
    const char* call = "HostLink::dumpStdOut";
    output.dump(board, call, out, lines, [&] { flush(board, call); });
  }

  ThreadOutput output;
};

// ------------------------------------------------------------------------------ the boards

void HostLink::open() {
  board_ = Board::open();
  buffers_ = std::make_shared<Buffers>();
}

bool HostLink::powerOnSelfTest() {
  const Board::Lock lock(*board_);
  return board_->sim().use("HostLink::powerOnSelfTest", [](Machine& machine) {
    try {
      machine.check_identity();
    } catch (const gossamer::machine::Error& error) {
      if (error.kind != gossamer::machine::Error::Kind::Died) throw;
      return false;
    }
    return true;
  });
}

void HostLink::loadRoutes() {
  const char* call = "HostLink::loadRoutes";
  const Board::Lock lock(*board_);
  buffers_->flush(*board_, call);
  board_->load_tables(call);
}

uint32_t HostLink::toAddr(uint32_t meshX, uint32_t meshY, uint32_t coreId, uint32_t threadId) {
  return board_->address("HostLink::toAddr", meshX, meshY, coreId, threadId);
}

void HostLink::fromAddr(uint32_t addr, uint32_t* meshX, uint32_t* meshY, uint32_t* coreId, uint32_t* threadId) {
  ThreadLocation location;
  Board::location(addr, location);
  *meshX = location.board % Board::boards_x();
  *meshY = location.board / Board::boards_x();
  *coreId = location.core;
  *threadId = location.thread;
}

// ------------------------------------------------------------------------------ messages

bool HostLink::send(uint32_t dest, uint32_t numFlits, void* msg, bool block) {
  const char* call = "HostLink::send";
  const Board::Lock lock(*board_);
  check_length(call, numFlits);
  const uint32_t to = fabric_address(call, dest);
  ThreadLocation location;
  if (!(dest >> config::AddressThread::kKindLsb)) {
    Board::location(dest, location);
    if (buffers_->boot(*board_, call, location, msg, numFlits)) return true;
  }
  uint32_t words[TinselMaxFlitsPerMsg * kWordsPerFlit];
  std::memcpy(words, msg, numFlits * size_t{config::mailbox::flit_bytes});
  if (!(dest >> config::AddressThread::kKindLsb)) gossamer::host::address_vertex(call, dest, words);
  Flits packet;
  gossamer::machine::add_message(packet, to, words, numFlits);
  return buffers_->send(*board_, call, std::move(packet), block, useSendBuffer);
}

bool HostLink::trySend(uint32_t dest, uint32_t numFlits, void* msg) { return send(dest, numFlits, msg, false); }

bool HostLink::keySend(uint32_t key, uint32_t numFlits, void* msg, bool block) {
  const char* call = "HostLink::keySend";
  const Board::Lock lock(*board_);
  check_length(call, numFlits);
  constexpr uint32_t kRouter = static_cast<uint32_t>(config::Endpoint::Key) << config::AddressKey::kKindLsb;
  Flits packet;
  gossamer::machine::add_key(packet, kRouter, key);
  gossamer::machine::add_message(packet, kRouter, msg, numFlits);
  return buffers_->send(*board_, call, std::move(packet), block, useSendBuffer);
}

bool HostLink::keyTrySend(uint32_t key, uint32_t numFlits, void* msg) { return keySend(key, numFlits, msg, false); }

void HostLink::flush() {
  const Board::Lock lock(*board_);
  buffers_->flush(*board_, "HostLink::flush");
}

void HostLink::recv(void* msg) {
  const Board::Lock lock(*board_);
  buffers_->receive(*board_, "HostLink::recv", msg, TinselBytesPerMsg, 1);
}

bool HostLink::canRecv() {
  const char* call = "HostLink::canRecv";
  const Board::Lock lock(*board_);
  buffers_->flush(*board_, call);
  return board_->poll(call, gossamer::sim::kMessages, 0, [this] { return !board_->sim().messages.empty(); });
}

void HostLink::recvMsg(void* msg, uint32_t numBytes) {
  const char* call = "HostLink::recvMsg";
  const Board::Lock lock(*board_);
  if (numBytes > TinselBytesPerMsg) {
    reject_call(call, std::to_string(numBytes) + " bytes; a message has " + std::to_string(TinselBytesPerMsg));
  }
  buffers_->receive(*board_, call, msg, numBytes, 1);
}

void HostLink::recvBulk(int numMsgs, void* msgs) { recvMsgs(numMsgs, TinselBytesPerMsg, msgs); }

void HostLink::recvMsgs(int numMsgs, int msgSize, void* msgs) {
  const char* call = "HostLink::recvMsgs";
  const Board::Lock lock(*board_);
  if (msgSize < 0 || msgSize > TinselBytesPerMsg) {
    reject_call(call, std::to_string(msgSize) + " bytes; a message has " + std::to_string(TinselBytesPerMsg));
  }
  auto* at = static_cast<uint8_t*>(msgs);
  for (int i = 0; i < numMsgs; ++i) {
    buffers_->receive(*board_, call, at, static_cast<size_t>(msgSize), static_cast<size_t>(numMsgs - i));
    at += msgSize;
  }
}

// ------------------------------------------------------------------------------ loading and starting

void HostLink::loadAll(const char* codeFilename, const char* dataFilename) {
  const Board::Lock lock(*board_);
  board_->load_all("HostLink::loadAll", codeFilename, dataFilename);
}

void HostLink::boot(const char* codeFilename, const char* dataFilename) {
  const char* call = "HostLink::boot";
  const Board::Lock lock(*board_);
  board_->load_all(call, codeFilename, dataFilename);
  for (uint32_t core = 0; core < board_->cores(); ++core) board_->ready(call, core, TinselThreadsPerCore);
}

void HostLink::startAll() {
  const Board::Lock lock(*board_);
  for (uint32_t core = 0; core < board_->cores(); ++core) {
    board_->ready("HostLink::startAll", core, TinselThreadsPerCore);
  }
}

void HostLink::go() {
  const Board::Lock lock(*board_);
  std::vector<uint32_t> all;
  for (uint32_t core = 0; core < board_->cores(); ++core) {
    if (board_->is_ready(core)) all.push_back(core);
  }
  if (all.empty()) reject_call("HostLink::go", "no thread is ready to start; call boot, startAll or startOne before");
  board_->go(all);
}

void HostLink::setAddr(uint32_t meshX, uint32_t meshY, uint32_t coreId, uint32_t addr) {
  const Board::Lock lock(*board_);
  board_->set_address(board_->core("HostLink::setAddr", meshX, meshY, coreId), addr);
}

void HostLink::store(uint32_t meshX, uint32_t meshY, uint32_t coreId, uint32_t numWords, uint32_t* data) {
  const char* call = "HostLink::store";
  const Board::Lock lock(*board_);
  board_->store(call, board_->core(call, meshX, meshY, coreId), data, numWords);
}

void HostLink::loadInstrsOntoCore(const char* codeFilename, uint32_t meshX, uint32_t meshY, uint32_t coreId) {
  const char* call = "HostLink::loadInstrsOntoCore";
  const Board::Lock lock(*board_);
  board_->load_code(call, codeFilename, board_->core(call, meshX, meshY, coreId));
}

void HostLink::loadDataViaCore(const char* dataFilename, uint32_t meshX, uint32_t meshY, uint32_t coreId) {
  const char* call = "HostLink::loadDataViaCore";
  const Board::Lock lock(*board_);
  board_->load_data(call, dataFilename, board_->core(call, meshX, meshY, coreId));
}

void HostLink::startOne(uint32_t meshX, uint32_t meshY, uint32_t coreId, uint32_t numThreads) {
  const char* call = "HostLink::startOne";
  const Board::Lock lock(*board_);
  board_->ready(call, board_->core(call, meshX, meshY, coreId), numThreads);
}

void HostLink::goOne(uint32_t meshX, uint32_t meshY, uint32_t coreId) {
  const char* call = "HostLink::goOne";
  const Board::Lock lock(*board_);
  const uint32_t core = board_->core(call, meshX, meshY, coreId);
  if (!board_->is_ready(core)) reject_call(call, "the threads of this core are not ready; call startOne before");
  board_->go({core});
}

// ------------------------------------------------------------------------------ text output of threads

bool HostLink::pollStdOut(FILE* outFile, uint32_t* lineCount) {
  const Board::Lock lock(*board_);
  const char* call = "HostLink::pollStdOut";
  buffers_->flush(*board_, call);
  board_->poll(call, gossamer::sim::kBytes, 0, [this] { return !board_->sim().output.empty(); });
  return buffers_->output.print(*board_, outFile, lineCount);
}

bool HostLink::pollStdOut(FILE* outFile) { return pollStdOut(outFile, nullptr); }
bool HostLink::pollStdOut() { return pollStdOut(stdout); }

void HostLink::dumpStdOut(FILE* outFile) {
  const Board::Lock lock(*board_);
  buffers_->dump(*board_, outFile, 0);
}

void HostLink::dumpStdOut(FILE* outFile, uint32_t lines) {
  const Board::Lock lock(*board_);
  if (lines) buffers_->dump(*board_, outFile, lines);
}

void HostLink::dumpStdOut() { dumpStdOut(stdout); }
