// SPDX-License-Identifier: Apache-2.0
// HostLink of POLite programs on the engine cpu: one board without hardware, on which only graphs run. The devices are
// a shared object, whose main() runs on a thread of this process.
#include <DebugLink.h>
#include <HostLink.h>
#include <gossamer/core/exit_codes.h>
#include <gossamer/device_config.h>
#include <gossamer/host/routers.h>
#include <gossamer/host/vertices.h>

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gossamer_polite_job.h"

namespace gossamer::host {
namespace {

constexpr uint32_t kBoards = GS_BOARDS_WIDTH * GS_BOARDS_HEIGHT;
constexpr size_t kQueue = 1 << 20;  ///< messages that wait for a host that does not receive
constexpr unsigned kPolls = 8389;   ///< of a host after the end of the run: as many as on simulated boards
constexpr std::chrono::milliseconds kPoll{1};

[[noreturn]] void exit_program(int code, const std::string& line) {
  // The command discards the program's output if it finds this file.
  if (const char* folder = std::getenv("GOSSAMER_POLITE")) {
    if (FILE* file = std::fopen((std::string(folder) + "/failed").c_str(), "w")) std::fclose(file);
  }
  std::cout.flush();
  std::fflush(nullptr);
  std::fprintf(stderr, "gossamer: error: %s\n", line.c_str());
  ::_exit(code);
}

[[noreturn]] void died(const std::string& what) { exit_program(GS_EXIT_DIED, what); }

std::string name(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text) reject_call("HostLink", "there is no engine; start this program with ./gossamer polite run FOLDER");
  return text;
}

/// Whether the devices receive messages of the host.
bool receives_messages() {
  const char* text = std::getenv("GOSSAMER_POLITE_HEARS");
  return text && *text == '1';
}

}  // namespace

void reject_call(const char* call, const std::string& what) {
  exit_program(GS_EXIT_INPUT, std::string(call) + ": " + what);
}

/// The machine that this engine emulates.
class Board {
 public:
  using Message = std::array<uint8_t, TinselBytesPerMsg>;

  /// By vertex: the address of its thread.
  struct Graph {
    std::vector<uint8_t> states;
    std::vector<Vertices::Edges> pins;
    std::vector<uint32_t> threads;
    std::map<uint64_t, uint32_t> devices;  ///< by address of the thread and number on the thread
    uint32_t vertices, stateBytes, edgeBytes, messageBytes;
  };

  static const std::shared_ptr<Board>& open() {
    static const auto& board = *new std::shared_ptr<Board>(new Board);
    static const int registered = std::atexit([] { board->stop(); });
    (void)registered;
    return board;
  }

  static uint32_t address(uint32_t board, uint32_t core, uint32_t thread) {
    const uint32_t tile = core / TinselCoresPerMailbox;
    return board << GS_ADDRESS_BOARD_LSB | tile / GS_MESH_WIDTH << GS_ADDRESS_TILE_Y_LSB |
           tile % GS_MESH_WIDTH << GS_ADDRESS_TILE_X_LSB |
           (core % TinselCoresPerMailbox * TinselThreadsPerCore + thread);
  }
  static void parts(uint32_t address, uint32_t& board, uint32_t& core, uint32_t& thread) {
    const auto field = [address](unsigned lsb, unsigned bits) { return address >> lsb & ((1u << bits) - 1); };
    const uint32_t its = field(0, GS_ADDRESS_THREAD_BITS);
    const uint32_t tile = field(GS_ADDRESS_TILE_Y_LSB, GS_ADDRESS_TILE_Y_BITS) * GS_MESH_WIDTH +
                          field(GS_ADDRESS_TILE_X_LSB, GS_ADDRESS_TILE_X_BITS);
    board = address >> GS_ADDRESS_BOARD_LSB;
    core = tile * TinselCoresPerMailbox + its / TinselThreadsPerCore;
    thread = its % TinselThreadsPerCore;
  }

  // ---- The program ----

  std::shared_ptr<const Graph> written;

  void load(const char* call) {
    const std::lock_guard lock(mutex_);
    if (running_) reject_call(call, "the devices still run; load a program when they have ended");
    ready_ = false;
  }
  void make_ready() { ready_ = true; }
  void go(const char* call) {
    if (!ready_) reject_call(call, "no thread is ready to start; call boot, startAll or startOne before");
    ready_ = false;
    if (thread_.joinable()) thread_.join();
    const std::lock_guard lock(mutex_);
    started_ = running_ = true;
    runs_ = std::exchange(written, nullptr);
    thread_ = std::thread([this, graph = runs_] {
      run(graph);
      const std::lock_guard lock(mutex_);
      running_ = false;
      changed_.notify_all();
    });
  }

  // ---- Calls of devices ----

  void message(const void* bytes, uint32_t count) {
    std::unique_lock lock(mutex_);
    // Lines may follow messages in the queue: a host that waits for lines must receive them.
    changed_.wait(lock, [this] { return messages.size() < kQueue || wait_for_lines_ || stop_; });
    Message& message = messages.emplace_back();
    std::memcpy(message.data() + 4, bytes, count);
    changed_.notify_all();
  }
  void line(uint32_t thread, const char* text) {
    uint32_t board, core, its;
    parts(thread, board, core, its);
    const std::lock_guard lock(mutex_);
    lines.push_back(std::to_string(board % GS_BOARDS_WIDTH) + ':' + std::to_string(board / GS_BOARDS_WIDTH) + ':' +
                    std::to_string(core) + ':' + std::to_string(its) + ": " + text);
    changed_.notify_all();
  }

  /// Delivers the host's next message to a device, or only checks for one. As on boards, where time stops while the
  /// host computes, the run cannot end before the host has waited.
  bool receive_message(uint32_t* device, void* bytes, uint32_t count, bool wait) {
    if (!wait && !any_down_.load(std::memory_order_acquire)) return false;
    std::unique_lock lock(mutex_);
    if (wait) {
      changed_.wait(lock, [this] { return !down_.empty() || waits_ || stop_; });
      return !down_.empty();
    }
    if (down_.empty()) return false;
    *device = down_.front().first;
    std::memcpy(bytes, down_.front().second.data() + 4, count);
    down_.pop_front();
    any_down_.store(!down_.empty(), std::memory_order_relaxed);
    return true;
  }
  /// Sends a message to a device of the graph that is written or runs.
  void send(const char* call, uint32_t thread, const void* message, uint32_t bytes) {
    const std::lock_guard lock(mutex_);
    const Graph* const graph = written ? written.get() : runs_.get();
    if (!graph) reject_call(call, "there is no hardware, and no graph whose devices could receive it");
    if (!receives_messages()) reject_call(call, kNotCompiledForMessages);
    Message copy{};
    std::memcpy(copy.data(), message, bytes);
    uint32_t local;
    std::memcpy(&local, copy.data(), sizeof local);
    const auto found = graph->devices.find(uint64_t{thread} << 32 | local);
    if (found == graph->devices.end()) {
      reject_call(call, "there is no device " + std::to_string(local) +
                       " on that thread (PMessage::destKey); take getThreadId and getLocalDeviceId of toDeviceAddr");
    }
    down_.emplace_back(found->second, copy);
    any_down_.store(true, std::memory_order_release);
    changed_.notify_all();
  }

  std::deque<Message> messages;
  std::deque<std::string> lines;

  // ---- Waiting ----

  /// Waits until a queue has an element; false if none can arrive any more. Calls `take` with the lock held.
  template <typename Queue, typename Take>
  bool wait(const Queue& queue, const Take& take) {
    std::unique_lock lock(mutex_);
    const Listens listens(*this, queue);
    changed_.wait(lock, [&] { return !queue.empty() || !running_; });
    if (queue.empty()) return false;
    take();
    changed_.notify_all();
    return true;
  }
  template <typename Queue>
  bool poll(const char* call, const Queue& queue) {
    std::unique_lock lock(mutex_);
    const Listens listens(*this, queue);
    if (changed_.wait_for(lock, running_ ? kPoll : kPoll / 10, [&] { return !queue.empty(); })) {
      polls_ = 0;
      return true;
    }
    if (!running_ && ++polls_ > kPolls) {
      lock.unlock();
      fail_deadlocked(call);
    }
    return false;
  }
  [[noreturn]] void fail_deadlocked(const char* call) {
    if (started_) died(std::string("the host waits in ") + call + ", but all threads have ended");
    died(std::string("the host waits in ") + call + ", but no thread was started (HostLink::go)");
  }

 private:
  /// Marks the host as waiting for elements of a queue. The lock is held at both ends.
  class Listens {
   public:
    template <typename Queue>
    Listens(Board& board, const Queue& queue)
        : board_(board), lines_(static_cast<const void*>(&queue) == &board.lines) {
      board_.wait_for_lines_ += lines_;
      ++board_.waits_;
      board_.changed_.notify_all();
    }
    ~Listens() {
      board_.wait_for_lines_ -= lines_;
      --board_.waits_;
    }
    Listens(const Listens&) = delete;
    Listens& operator=(const Listens&) = delete;

   private:
    Board& board_;
    const bool lines_;
  };

  void run(const std::shared_ptr<const Graph>& graph) {
    static const Graph& none = *new Graph{{}, {}, {}, {}, 0, 0, 0, 0};  // outlives the exit handlers
    const Graph& its = graph ? *graph : none;
    void* const object = ::dlopen(name("GOSSAMER_POLITE_DEVICES").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!object) died(std::string("the devices cannot be loaded: ") + ::dlerror());
    auto* const job = static_cast<const compat::Job**>(::dlsym(object, "gossamer_polite_job"));
    auto* const devices = reinterpret_cast<int (*)()>(::dlsym(object, "main"));
    if (!job || !devices) died("the devices have no main");
    std::vector<compat::Job::Pin> pins;
    for (const Vertices::Edges& pin : its.pins) {
      pins.push_back({pin.offsets.data(), pin.targets.data(), pin.values.data()});
    }
    const char* workers = std::getenv("GOSSAMER_THREADS");
    compat::Job given{};
    given.vertices = its.vertices;
    given.pins = static_cast<uint32_t>(pins.size());
    given.stateBytes = its.stateBytes;
    given.edgeBytes = its.edgeBytes;
    given.messageBytes = its.messageBytes;
    given.pin = pins.data();
    given.states = its.states.data();
    given.threads = its.threads.data();
    given.workers = workers ? static_cast<unsigned>(std::strtoul(workers, nullptr, 10)) : 0;
    given.stop = &stop_;
    given.message = [](const void* bytes, uint32_t count) { open()->message(bytes, count); };
    given.receives_messages = receives_messages();
    given.receive_message = [](uint32_t* device, void* bytes, uint32_t count, bool wait) {
      return open()->receive_message(device, bytes, count, wait);
    };
    given.line = [](uint32_t thread, const char* text) { open()->line(thread, text); };
    given.failed = [](const char* why) { died(why); };
    *job = &given;
    devices();
    *job = nullptr;
  }

  /// Before the program ends; it may do so while devices run.
  void stop() {
    {
      std::unique_lock lock(mutex_);
      __atomic_store_n(&stop_, 1, __ATOMIC_RELAXED);
      changed_.notify_all();
      if (!changed_.wait_for(lock, std::chrono::seconds(2), [this] { return !running_; })) {
        thread_.detach();  // a handler does not return, and the process ends now
        return;
      }
    }
    if (thread_.joinable()) thread_.join();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
  bool ready_ = false, started_ = false, running_ = false;
  unsigned waits_ = 0, wait_for_lines_ = 0;  ///< threads of the host
  std::deque<std::pair<uint32_t, Message>> down_;
  std::atomic<bool> any_down_{false};
  std::shared_ptr<const Graph> runs_;
  unsigned polls_ = 0;
  int stop_ = 0;
};

// ------------------------------------------------------------------------------ graphs

struct Vertices::Tables {};

void Vertices::map() {
  const char* const placer = std::getenv("POLITE_PLACER");
  if (placer && *placer) {
    const std::string names[] = {"metis", "kahypar", "bfs", "random", "direct", "default"};
    bool known = false;
    for (const std::string& one : names) known |= one == placer;
    if (!known) {
      reject_call("PGraph::map", std::string("POLITE_PLACER=") + placer +
                                ": there is no such placer; there are: metis, kahypar, bfs, random, direct");
    }
  }
  if (boardsX > GS_BOARDS_WIDTH || boardsY > GS_BOARDS_HEIGHT) {
    reject_call("PGraph::map", "the program asks for " + std::to_string(boardsX) + " x " + std::to_string(boardsY) +
                              " boards (POLITE_BOARDS_X, POLITE_BOARDS_Y), but there is one");
  }
  // Threads do not wait for each other here, so any mapping is valid.
  constexpr uint64_t kThreads = uint64_t{kBoards} * TinselThreadsPerBoard;
  threads.resize(count);
  locals.resize(count);
  std::vector<uint32_t> before(kThreads);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t number = i * kThreads / count;
    const uint32_t its = static_cast<uint32_t>(number % TinselThreadsPerBoard);
    threads[i] = Board::address(static_cast<uint32_t>(number / TinselThreadsPerBoard), its / TinselThreadsPerCore,
                                its % TinselThreadsPerCore);
    locals[i] = before[number]++;
  }
}

void Vertices::write(const void* states) {
  auto graph = std::make_shared<Board::Graph>();
  const auto* bytes = static_cast<const uint8_t*>(states);
  graph->states.assign(bytes, bytes + size_t{count} * stateBytes);
  graph->pins = pins;
  graph->threads = threads;
  for (uint32_t i = 0; i < count; ++i) graph->devices.emplace(uint64_t{threads[i]} << 32 | locals[i], i);
  graph->vertices = count;
  graph->stateBytes = stateBytes;
  graph->edgeBytes = edgeBytes;
  graph->messageBytes = messageBytes;
  Board::open()->written = graph;
}

}  // namespace gossamer::host

using gossamer::host::Board;
using gossamer::host::reject_call;

namespace {

[[noreturn]] void no_hardware(const char* call) {
  reject_call(call, "there is no hardware; on the engine cpu only the devices of a PGraph run, take --engine rtl");
}

}  // namespace

gossamer::host::NextHop gossamer::host::next_hop(const char* call, uint32_t, uint32_t) { no_hardware(call); }

void gossamer::host::RouterTables::check(const char* call) const { no_hardware(call); }

// ------------------------------------------------------------------------------ HostLink

void HostLink::open() { board_ = Board::open(); }

bool HostLink::powerOnSelfTest() { return true; }

void HostLink::loadRoutes() {}

bool HostLink::send(uint32_t dest, uint32_t numFlits, void* msg, bool) {
  const char* call = "HostLink::send";
  if (numFlits < 1 || numFlits > TinselMaxFlitsPerMsg) {
    reject_call(call,
           "a message of " + std::to_string(numFlits) + " flits; it has 1 to " + std::to_string(TinselMaxFlitsPerMsg));
  }
  board_->send(call, dest, msg, numFlits * TinselBytesPerFlit);
  return true;
}
bool HostLink::trySend(uint32_t dest, uint32_t numFlits, void* msg) { return send(dest, numFlits, msg, false); }
bool HostLink::keySend(uint32_t, uint32_t, void*, bool) { no_hardware("HostLink::keySend"); }
bool HostLink::keyTrySend(uint32_t, uint32_t, void*) { no_hardware("HostLink::keyTrySend"); }
void HostLink::flush() {}

void HostLink::recvMsg(void* msg, uint32_t numBytes) {
  if (numBytes > TinselBytesPerMsg) {
    reject_call("HostLink::recvMsg",
           std::to_string(numBytes) + " bytes; a message has " + std::to_string(TinselBytesPerMsg));
  }
  auto& messages = board_->messages;
  const bool arrived = board_->wait(messages, [&] {
    std::memcpy(msg, messages.front().data(), numBytes);
    messages.pop_front();
  });
  if (!arrived) board_->fail_deadlocked("HostLink::recvMsg");
}

void HostLink::recv(void* msg) { recvMsg(msg, TinselBytesPerMsg); }
bool HostLink::canRecv() { return board_->poll("HostLink::canRecv", board_->messages); }
void HostLink::recvBulk(int numMsgs, void* msgs) { recvMsgs(numMsgs, TinselBytesPerMsg, msgs); }
void HostLink::recvMsgs(int numMsgs, int msgSize, void* msgs) {
  for (int i = 0; i < numMsgs; ++i) {
    recvMsg(static_cast<uint8_t*>(msgs) + size_t{1} * i * msgSize, static_cast<uint32_t>(msgSize));
  }
}

uint32_t HostLink::toAddr(uint32_t meshX, uint32_t meshY, uint32_t coreId, uint32_t threadId) {
  return Board::address(meshY * GS_BOARDS_WIDTH + meshX, coreId, threadId);
}
void HostLink::fromAddr(uint32_t addr, uint32_t* meshX, uint32_t* meshY, uint32_t* coreId, uint32_t* threadId) {
  uint32_t board;
  Board::parts(addr, board, *coreId, *threadId);
  *meshX = board % GS_BOARDS_WIDTH;
  *meshY = board / GS_BOARDS_WIDTH;
}

void HostLink::loadAll(const char*, const char*) { board_->load("HostLink::loadAll"); }
void HostLink::boot(const char*, const char*) {
  board_->load("HostLink::boot");
  board_->make_ready();
}
void HostLink::go() { board_->go("HostLink::go"); }
void HostLink::startAll() { board_->make_ready(); }

void HostLink::setAddr(uint32_t, uint32_t, uint32_t, uint32_t) { no_hardware("HostLink::setAddr"); }
void HostLink::store(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t*) { no_hardware("HostLink::store"); }
void HostLink::loadInstrsOntoCore(const char*, uint32_t, uint32_t, uint32_t) {
  no_hardware("HostLink::loadInstrsOntoCore");
}
void HostLink::loadDataViaCore(const char*, uint32_t, uint32_t, uint32_t) { no_hardware("HostLink::loadDataViaCore"); }
void HostLink::startOne(uint32_t, uint32_t, uint32_t, uint32_t) { no_hardware("HostLink::startOne"); }
void HostLink::goOne(uint32_t, uint32_t, uint32_t) { no_hardware("HostLink::goOne"); }

bool HostLink::pollStdOut(FILE* outFile, uint32_t* lineCount) {
  if (!board_->poll("HostLink::pollStdOut", board_->lines)) return false;
  auto& lines = board_->lines;
  return board_->wait(lines, [&] {
    for (; !lines.empty(); lines.pop_front()) {
      std::fprintf(outFile, "%s\n", lines.front().c_str());
      if (lineCount) ++*lineCount;
    }
  });
}
bool HostLink::pollStdOut(FILE* outFile) { return pollStdOut(outFile, nullptr); }
bool HostLink::pollStdOut() { return pollStdOut(stdout); }

void HostLink::dumpStdOut(FILE* outFile) {
  auto& lines = board_->lines;
  while (board_->wait(lines, [&] {
    std::fprintf(outFile, "%s\n", lines.front().c_str());
    lines.pop_front();
  })) {
  }
  std::fflush(outFile);
}
void HostLink::dumpStdOut(FILE* outFile, uint32_t wanted) {
  auto& lines = board_->lines;
  for (uint32_t i = 0; i < wanted; ++i) {
    const bool arrived = board_->wait(lines, [&] {
      std::fprintf(outFile, "%s\n", lines.front().c_str());
      lines.pop_front();
    });
    if (!arrived) board_->fail_deadlocked("HostLink::dumpStdOut");
  }
  std::fflush(outFile);
}
void HostLink::dumpStdOut() { dumpStdOut(stdout); }

// ------------------------------------------------------------------------------ DebugLink

struct DebugLink::Dest {};

DebugLink::DebugLink(DebugLinkParams params) {
  if (params.numBoxesX != 1 || params.numBoxesY != 1) {
    reject_call("HostLink", std::to_string(params.numBoxesX) + " x " + std::to_string(params.numBoxesY) +
                           " boxes are asked for, but there is one; ask for 1 x 1 (HOSTLINK_BOXES_X, "
                           "HOSTLINK_BOXES_Y)");
  }
  boxMeshXLen = meshXLen = GS_BOARDS_WIDTH;
  boxMeshYLen = meshYLen = GS_BOARDS_HEIGHT;
}
DebugLink::~DebugLink() = default;
void DebugLink::setDest(uint32_t, uint32_t, uint32_t, uint32_t) {}
void DebugLink::setBroadcastDest(uint32_t, uint32_t, uint32_t) {}
void DebugLink::put(uint32_t, uint32_t, uint8_t) { no_hardware("DebugLink::put"); }
void DebugLink::get(uint32_t*, uint32_t*, uint32_t*, uint32_t*, uint8_t*) { no_hardware("DebugLink::get"); }
bool DebugLink::canGet() { return false; }
int32_t DebugLink::getBoardTemp(uint32_t, uint32_t) { return 25; }
int32_t DebugLink::getBridgeTemp(uint32_t, uint32_t) { return 25; }
