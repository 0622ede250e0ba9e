// SPDX-License-Identifier: Apache-2.0
#include "role_host.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gossamer/shell_constants.h"
#include "shell/frame.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace gossamer::shell {
namespace {

constexpr unsigned kStreamWindow = 32;
constexpr size_t kLinkFrames = 256;  // of a link that wait in each direction; more are lost, as in a switch
constexpr size_t kPieceHead = ShellLinkPiece::kBits / 8, kMostFrame = (1 << ShellLinkPiece::kLengthBits) - 1;
constexpr std::chrono::milliseconds kStopGrace{1000};  // after which a kernel that does not stop is cancelled

/// Bytes of an object file that the dynamic linker maps; a role may have any bytes after them.
size_t mapped_bytes(std::span<const uint8_t> file) {
  ElfW(Ehdr) head;
  if (file.size() < sizeof head) return file.size();
  std::memcpy(&head, file.data(), sizeof head);
  size_t most = sizeof head;
  for (size_t i = 0; i < head.e_phnum; i++) {
    const size_t at = head.e_phoff + i * sizeof(ElfW(Phdr));
    if (at > file.size() || file.size() - at < sizeof(ElfW(Phdr))) return file.size();
    ElfW(Phdr) part;
    std::memcpy(&part, file.data() + at, sizeof part);
    most = std::max(most, at + sizeof part);
    if (part.p_offset > file.size() || part.p_filesz > file.size() - part.p_offset) return file.size();
    most = std::max<size_t>(most, part.p_offset + part.p_filesz);
  }
  return most;
}

/// A file without a name that has the bytes which the dynamic linker maps; -1 if there is no memory for it.
int file_of(std::span<const uint8_t> image) {
  const int fd = memfd_create("gossamer-role", MFD_CLOEXEC);
  for (auto rest = image.first(mapped_bytes(image)); fd >= 0 && !rest.empty();) {
    const ssize_t some = ::write(fd, rest.data(), rest.size());
    if (some <= 0) break;
    rest = rest.subspan(static_cast<size_t>(some));
  }
  return fd;
}

}  // namespace

/// A loaded role, from a file without a name.
struct RoleHost::Role {
  explicit Role(int file) : fd(file), object(dlopen(path().c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  Role(const Role&) = delete;
  Role& operator=(const Role&) = delete;

  int fd;
  void* object;
  const gs_role* entry = nullptr;
  std::array<uint32_t, GS_ROLE_REGISTERS> registers{};

  ~Role() {
    if (object) dlclose(object);
    // The dynamic linker takes a path that it has loaded for the same object, and some objects are never unloaded. The
    // number of such a file is not used again.
    if (void* loaded = dlopen(path().c_str(), RTLD_LAZY | RTLD_NOLOAD))
      dlclose(loaded);
    else
      close(fd);
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }
};

/// A kernel that runs or has run.
struct RoleHost::Run {
  pthread_t thread{};
  bool joined = false;
  const gs_role* entry = nullptr;
  uint32_t kernel = 0;
  std::atomic<bool> stop{false}, ended{false};
  Outcome outcome;
  gs_role_shell shell{};
  size_t most_packet = 0;

  struct Stream {
    std::deque<std::vector<uint8_t>> in;   // for the role
    bool taken = false;                    // the role has taken one since it was asked
    std::deque<std::vector<uint8_t>> out;  // of the role, not retired
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Stream> streams;
  struct Link {
    std::deque<std::vector<uint8_t>> out;
    size_t sent = 0;              // bytes of the first of them that were sent
    std::vector<uint8_t> pieces;  // received of a frame whose end is missing
  };
  std::vector<Link> links;
  std::deque<std::pair<uint32_t, std::vector<uint8_t>>> link_in;

  /// With `mutex` held.
  void link_arrives(uint16_t link, std::span<const uint8_t> frame) {
    if (link_in.size() < kLinkFrames * links.size())
      link_in.emplace_back(link, std::vector(frame.begin(), frame.end()));
  }
  int wake = -1;

  /// Wakes the shell, which waits for frames and for the kernel.
  void notify() const {
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake, &one, sizeof one);
  }

  void join() {
    if (!joined) pthread_join(thread, nullptr);
    joined = true;
  }
};

namespace {

/// Calls of the shell by the kernel are not cancelled: they have locks, and end when the kernel is to stop.
class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = 0;
};

}  // namespace

RoleHost::RoleHost(uint8_t* memory, uint64_t memory_bytes, uint32_t board_type, size_t most_packet)
    : memory_(memory),
      memory_bytes_(memory_bytes),
      board_type_(board_type),
      most_packet_(most_packet),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

RoleHost::~RoleHost() {
  stop();
  close(wake_);
}

void RoleHost::awake() {
  uint64_t count;
  [[maybe_unused]] const auto got = ::read(wake_, &count, sizeof count);
}

bool RoleHost::load(std::span<const uint8_t> bytes) {
  auto next = std::make_unique<Role>(file_of(bytes));
  if (next->object) next->entry = static_cast<const gs_role*>(dlsym(next->object, "gs_role_entry"));
  if (!next->entry || next->entry->version < 1 || next->entry->version > GS_ROLE_VERSION ||
      next->entry->board_type != board_type_)
    return false;
  // The old role has run until here.
  stop();
  role_ = std::move(next);
  return true;
}

uint16_t RoleHost::streams() const { return static_cast<uint16_t>(role_ ? role_->entry->streams : 0); }

uint16_t RoleHost::links() const {
  return static_cast<uint16_t>(role_ && role_->entry->version > 1 ? role_->entry->links : 0);
}

uint32_t& RoleHost::register_at(uint32_t address) { return role_->registers[address / 4 % GS_ROLE_REGISTERS]; }

void RoleHost::start(uint32_t kernel) {
  stop();
  run_ = std::make_unique<Run>();
  Run& run = *run_;
  run.most_packet = most_packet_;
  run.streams = std::vector<Run::Stream>(role_->entry->streams);
  run.shell.shell = &run;
  run.shell.memory = memory_;
  run.shell.memory_bytes = memory_bytes_;
  run.shell.registers = role_->registers.data();
  run.shell.stopped = [](void* shell) { return static_cast<int>(static_cast<Run*>(shell)->stop.load()); };
  run.shell.send = [](void* shell, uint32_t stream, const void* packet, size_t bytes) {
    const Uncancelled calls;
    Run& r = *static_cast<Run*>(shell);
    std::unique_lock lock(r.mutex);
    if (stream >= r.streams.size() || bytes > r.most_packet) return -1;
    auto& s = r.streams[stream];
    r.changed.wait(lock, [&] { return r.stop || s.out.size() < kStreamWindow; });
    if (r.stop) return -1;
    const auto* from = static_cast<const uint8_t*>(packet);
    s.out.emplace_back(from, from + bytes);
    if (s.out.size() == 1) r.notify();
    return 0;
  };
  run.links.resize(links());
  run.wake = wake_;
  run.shell.link_send = [](void* shell, uint32_t link, const void* frame, size_t bytes) {
    const Uncancelled calls;
    Run& r = *static_cast<Run*>(shell);
    const std::lock_guard lock(r.mutex);
    if (link >= r.links.size() || bytes == 0 || bytes > kMostFrame) return -1;
    auto& out = r.links[link].out;
    if (out.size() >= kLinkFrames) return 0;
    const auto* from = static_cast<const uint8_t*>(frame);
    out.emplace_back(from, from + bytes);
    if (out.size() == 1) r.notify();
    return 0;
  };
  run.shell.link_receive = [](void* shell, uint32_t* link, void* frame, size_t most, int timeout_ms) -> long {
    const Uncancelled calls;
    Run& r = *static_cast<Run*>(shell);
    std::unique_lock lock(r.mutex);
    const auto ready = [&] { return r.stop || !r.link_in.empty(); };
    if (timeout_ms < 0)
      r.changed.wait(lock, ready);
    else if (!ready() && timeout_ms > 0)
      r.changed.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready);
    if (r.stop || r.link_in.empty()) return -1;
    const auto [from, bytes] = std::move(r.link_in.front());
    r.link_in.pop_front();
    *link = from;
    std::memcpy(frame, bytes.data(), std::min(most, bytes.size()));
    return static_cast<long>(bytes.size());
  };
  run.shell.receive = [](void* shell, uint32_t stream, void* packet, size_t most, int timeout_ms) -> long {
    const Uncancelled calls;
    Run& r = *static_cast<Run*>(shell);
    std::unique_lock lock(r.mutex);
    if (stream >= r.streams.size()) return -1;
    auto& s = r.streams[stream];
    const auto ready = [&] { return r.stop || !s.in.empty(); };
    if (timeout_ms < 0)
      r.changed.wait(lock, ready);
    else
      r.changed.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready);
    if (r.stop || s.in.empty()) return -1;
    const auto bytes = std::move(s.in.front());
    s.in.pop_front();
    s.taken = true;
    std::memcpy(packet, bytes.data(), std::min(most, bytes.size()));
    return static_cast<long>(bytes.size());
  };
  run.entry = role_->entry;
  run.kernel = kernel;
  const auto body = [](void* argument) -> void* {
    // Cancelled in a loop without any call, too.
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
    Run& r = *static_cast<Run*>(argument);
    r.outcome.code = r.entry->run(&r.shell, r.kernel, &r.outcome.result);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    r.ended = true;
    return nullptr;
  };
  if (pthread_create(&run.thread, nullptr, body, &run)) {
    run.joined = run.ended = true;
    run.outcome.code = 1;
  }
}

void RoleHost::stop() {
  if (!run_) return;
  {
    const std::lock_guard lock(run_->mutex);
    run_->stop = true;
  }
  run_->changed.notify_all();
  const auto end = std::chrono::steady_clock::now() + kStopGrace;
  while (!run_->ended && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  if (!run_->ended) {
    pthread_cancel(run_->thread);
    resets_++;
  }
  run_->join();
  run_.reset();
}

std::optional<RoleHost::Outcome> RoleHost::ended() {
  if (!run_ || !run_->ended) return std::nullopt;
  run_->join();
  return run_->outcome;
}

uint32_t RoleHost::inward_room(uint16_t stream) {
  const std::lock_guard lock(run_->mutex);
  return static_cast<uint32_t>(kStreamWindow - run_->streams[stream].in.size());
}

void RoleHost::deliver(uint16_t stream, std::span<const uint8_t> packet) {
  const std::lock_guard lock(run_->mutex);
  run_->streams[stream].in.emplace_back(packet.begin(), packet.end());
  run_->changed.notify_all();
}

bool RoleHost::inward_taken(uint16_t stream) {
  const std::lock_guard lock(run_->mutex);
  return std::exchange(run_->streams[stream].taken, false);
}

uint32_t RoleHost::outward_held(uint16_t stream) {
  const std::lock_guard lock(run_->mutex);
  return static_cast<uint32_t>(run_->streams[stream].out.size());
}

std::vector<uint8_t> RoleHost::outward(uint16_t stream, uint32_t index) {
  const std::lock_guard lock(run_->mutex);
  return run_->streams[stream].out[index];
}

void RoleHost::outward_retire(uint16_t stream, uint32_t packets) {
  const std::lock_guard lock(run_->mutex);
  auto& out = run_->streams[stream].out;
  out.erase(out.begin(), out.begin() + packets);
  run_->changed.notify_all();
}

bool RoleHost::link_holds(uint16_t link) {
  if (!run_) return false;
  const std::lock_guard lock(run_->mutex);
  return !run_->links[link].out.empty();
}

void RoleHost::link_take(uint16_t link, std::vector<uint8_t>& payload, size_t most) {
  const std::lock_guard lock(run_->mutex);
  auto& [out, sent, pieces] = run_->links[link];
  while (!out.empty() && payload.size() + kPieceHead < most) {
    const std::span<const uint8_t> frame = out.front();
    const size_t bytes = std::min(frame.size() - sent, most - payload.size() - kPieceHead);
    ShellLinkPiece piece;
    piece.first = sent == 0;
    piece.last = sent + bytes == frame.size();
    piece.length = static_cast<uint16_t>(bytes);
    const auto head = bytes_of(piece);
    payload.insert(payload.end(), head.begin(), head.end());
    payload.insert(payload.end(), frame.begin() + static_cast<ptrdiff_t>(sent),
                   frame.begin() + static_cast<ptrdiff_t>(sent + bytes));
    sent += bytes;
    if (!piece.last) return;
    sent = 0;
    out.pop_front();
  }
}

std::vector<uint8_t> RoleHost::link_next(uint16_t link) {
  if (!run_) return {};
  const std::lock_guard lock(run_->mutex);
  auto& out = run_->links[link].out;
  if (out.empty()) return {};
  auto frame = std::move(out.front());
  out.pop_front();
  return frame;
}

void RoleHost::link_pass(uint16_t link, std::span<const uint8_t> frame) {
  if (!run_ || link >= run_->links.size() || frame.empty() || frame.size() > kMostFrame) return;
  const std::lock_guard lock(run_->mutex);
  run_->link_arrives(link, frame);
  run_->changed.notify_all();
}

bool RoleHost::link_deliver(uint16_t link, bool gap, std::span<const uint8_t> payload) {
  if (!run_) return true;
  const std::lock_guard lock(run_->mutex);
  // The frames before a malformed piece are delivered.
  run_->changed.notify_all();
  auto& pieces = run_->links[link].pieces;
  if (gap) pieces.clear();
  for (size_t at = 0; at < payload.size();) {
    ShellLinkPiece piece;
    if (payload.size() - at >= kPieceHead) piece = layout_of<ShellLinkPiece>(payload.subspan(at));
    at += std::min(kPieceHead, payload.size() - at);
    if (piece.length == 0 || piece.length > payload.size() - at || pieces.size() + piece.length > kMostFrame) {
      pieces.clear();
      return false;
    }
    const auto bytes = payload.subspan(at, piece.length);
    at += piece.length;
    // The begin of a frame is missing, or its end.
    if (piece.first) pieces.clear();
    if (!piece.first && pieces.empty()) continue;
    pieces.insert(pieces.end(), bytes.begin(), bytes.end());
    if (!piece.last) continue;
    run_->link_arrives(link, pieces);
    pieces.clear();
  }
  return true;
}

}  // namespace gossamer::shell
