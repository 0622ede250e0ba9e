// SPDX-License-Identifier: Apache-2.0
#include "shell/port.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace gossamer::shell {
namespace {

/// Bursts to one receiver overflow the default of 208 KiB.
constexpr int kBufferBytes = 64 << 20;

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void fail(const std::string& name, const std::string& what, int error) {
  throw PortError(name + ": " + what + ": " + std::strerror(error));
}

void enlarge(int fd) {
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kBufferBytes, sizeof kBufferBytes) != 0)
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kBufferBytes, sizeof kBufferBytes);
  if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &kBufferBytes, sizeof kBufferBytes) != 0)
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kBufferBytes, sizeof kBufferBytes);
}

constexpr timespec kCollect{0, 1'000'000};
constexpr unsigned kFlood = 16;
/// Bytes that the simulated switch and its socket hold for a client.
constexpr size_t kSwitchBytes = 24 << 20;
constexpr unsigned kBatch = 32;

/// Frames that one system call has received.
class Batch {
 public:
  /// Frames have at most `bytes` bytes.
  explicit Batch(size_t bytes) {
    for (unsigned i = 0; i < kBatch; i++) {
      buffers_[i].resize(bytes);
      parts_[i] = {buffers_[i].data(), bytes};
      messages_[i].msg_hdr.msg_iov = &parts_[i];
      messages_[i].msg_hdr.msg_iovlen = 1;
    }
  }

  /// The next frame of a socket: nothing if none waits, an empty one at the end of a connection. Errors throw PortError
  /// that names the port, but an interface that is down may come back: a cable is replaced like this.
  std::optional<std::span<const uint8_t>> take(int fd, const std::string& name) {
    while (at_ == count_) {
      const int count = recvmmsg(fd, messages_, kBatch, MSG_DONTWAIT, nullptr);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno != EAGAIN && errno != ENETDOWN) fail(name, "cannot receive", errno);
      if (count <= 0) return std::nullopt;
      at_ = 0;
      count_ = static_cast<unsigned>(count);
    }
    const unsigned one = at_++;
    return std::span<const uint8_t>(buffers_[one].data(), messages_[one].msg_len);
  }

 private:
  std::vector<uint8_t> buffers_[kBatch];
  iovec parts_[kBatch];
  mmsghdr messages_[kBatch] = {};
  unsigned at_ = 0, count_ = 0;
};

/// What both kinds of sockets share.
class SocketPort : public Port {
 public:
  SocketPort(std::string name, const EtherTypes& types, int fd)
      : name_(std::move(name)), socket_(fd), image_type_(types.for_kind(ShellKind::Data)) {}

  void send(std::span<const uint8_t> frame) override {
    while (::send(socket_.fd(), frame.data(), frame.size(), MSG_NOSIGNAL) < 0) unsent(frame.size());
  }

  void send_all(std::span<const std::span<const uint8_t>> frames) override {
    mmsghdr messages[kBatch] = {};
    iovec parts[kBatch];
    while (!frames.empty()) {
      const size_t count = std::min<size_t>(frames.size(), kBatch);
      for (size_t i = 0; i < count; i++) {
        parts[i] = {const_cast<uint8_t*>(frames[i].data()), frames[i].size()};
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
      }
      const int sent = sendmmsg(socket_.fd(), messages, static_cast<unsigned>(count), MSG_NOSIGNAL);
      if (sent < 0) {
        unsent(frames[0].size());
        continue;
      }
      frames = frames.subspan(static_cast<size_t>(sent));
    }
  }

  std::span<const uint8_t> next(int timeout_ms) override {
    for (bool waited = false;; waited = true) {
      if (const auto frame = counted(take()); !frame.empty()) return frame;
      if (timeout_ms == 0 || (waited && timeout_ms > 0)) return {};
      // Only frames of images are many and need no answer soon; the average forgets them after some waits.
      const bool flood = flood_ >= kFlood;
      flood_ -= flood_ / 4;
      if (flood) {
        nanosleep(&kCollect, nullptr);
        if (const auto frame = counted(take()); !frame.empty()) return frame;
      }
      // A negative descriptor is ignored.
      pollfd waits[] = {{socket_.fd(), POLLIN, 0}, {also_, POLLIN, 0}};
      const int ready = poll(waits, 2, timeout_ms);
      if (ready < 0 && errno != EINTR) fail(name_, "cannot wait", errno);
      if (ready <= 0 || !waits[0].revents) return {};
    }
  }

  unsigned mtu() const override { return mtu_; }
  unsigned capacity() const override { return capacity_; }
  Mac mac() const override { return mac_; }

 protected:
  /// The next frame that has arrived; empty without one.
  virtual std::span<const uint8_t> take() = 0;

  std::string name_;
  Socket socket_;
  unsigned mtu_ = 0, capacity_ = 0;
  Mac mac_;

 private:
  /// Handles the error of a frame that was not sent: waits if the port is full, throws if it has failed.
  void unsent(size_t bytes) {
    if (errno == EINTR) return;
    if (errno == ENOBUFS || errno == EAGAIN) {
      pollfd wait{socket_.fd(), POLLOUT, 0};
      poll(&wait, 1, 10);
      return;
    }
    if (errno == EMSGSIZE)
      throw PortError(name_ + ": a frame of " + std::to_string(bytes) + " bytes exceeds the interface's MTU");
    fail(name_, "cannot send", errno);
  }

  std::span<const uint8_t> counted(std::span<const uint8_t> frame) {
    if (frame.size() >= 14) flood_ += (frame[12] << 8 | frame[13]) == image_type_;
    return frame;
  }

  uint16_t image_type_;
  unsigned flood_ = 0;  // frames of images of the last waits
};

/// A packet socket. Frames of usual length arrive in a ring: the kernel writes them into memory that it shares with
/// this process, so a frame costs no system call. Long frames do not: the ring is too large for the caches, and copying
/// them there and back took longer than the calls, while the receivers of a broadcast share a frame that waits in their
/// sockets.
class InterfacePort final : public SocketPort {
 public:
  InterfacePort(const std::string& name, const EtherTypes& types) : SocketPort(name, types, open(name)) {
    ifreq request{};
    std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
    if (ioctl(socket_.fd(), SIOCGIFINDEX, &request) != 0) fail(name, "no such interface", errno);
    const int index = request.ifr_ifindex;
    if (ioctl(socket_.fd(), SIOCGIFMTU, &request) != 0) fail(name, "has no MTU", errno);
    mtu_ = static_cast<unsigned>(request.ifr_mtu);
    if (ioctl(socket_.fd(), SIOCGIFHWADDR, &request) != 0) fail(name, "has no address", errno);
    std::copy_n(reinterpret_cast<const uint8_t*>(request.ifr_hwaddr.sa_data), 6, mac_.bytes.begin());
    if (ioctl(socket_.fd(), SIOCGIFFLAGS, &request) != 0) fail(name, "has no state", errno);
    if (!(request.ifr_flags & IFF_UP)) throw PortError(name + ": the interface is down; ip link set " + name + " up");
    filter(types);
    enlarge(socket_.fd());
    if (mtu_ > kLongestInRing) {
      batch_.emplace(mtu_ + 14);
      capacity_ = static_cast<unsigned>(kBufferBytes / (2 * mtu_));
    } else {
      map_ring();
    }
    const int off = 1;
    setsockopt(socket_.fd(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &off, sizeof off);
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = index;
    if (bind(socket_.fd(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      fail(name, "cannot bind", errno);
    // Frames to group addresses other than broadcast reach the socket without a membership of each.
    packet_mreq all{};
    all.mr_ifindex = index;
    all.mr_type = PACKET_MR_ALLMULTI;
    setsockopt(socket_.fd(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all);
  }
  ~InterfacePort() override {
    if (ring_) munmap(ring_, ring_bytes_);
  }

 protected:
  std::span<const uint8_t> take() override {
    if (batch_) return batch_->take(socket_.fd(), name_).value_or(std::span<const uint8_t>());
    for (;;) {
      if (held_) {
        __atomic_store_n(&slot(at_)->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
        at_ = (at_ + 1) % slots_;
        held_ = false;
      }
      const tpacket2_hdr* head = slot(at_);
      if (!(__atomic_load_n(&head->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) return {};
      held_ = true;
      // The next frame's headers arrive in the cache while this frame is handled.
      const auto* following = reinterpret_cast<const uint8_t*>(slot((at_ + 1) % slots_));
      __builtin_prefetch(following);
      __builtin_prefetch(following + 64);
      __builtin_prefetch(following + 128);
      // A frame that is longer than the interface's MTU is not of this network.
      if (head->tp_snaplen == head->tp_len && head->tp_len > 0)
        return {reinterpret_cast<const uint8_t*>(head) + head->tp_mac, head->tp_snaplen};
    }
  }

 private:
  static constexpr size_t kBlock = 256 << 10;
  static constexpr unsigned kLongestInRing = 4096;
  static constexpr size_t kRingBytes = 32 << 20, kLeastRing = 1 << 20;

  tpacket2_hdr* slot(size_t number) const {
    return reinterpret_cast<tpacket2_hdr*>(ring_ + number / in_block_ * kBlock + number % in_block_ * slot_bytes_);
  }

  void map_ring() {
    const int version = TPACKET_V2;
    if (setsockopt(socket_.fd(), SOL_PACKET, PACKET_VERSION, &version, sizeof version) != 0)
      fail(name_, "has no receive ring", errno);
    const size_t head = TPACKET_ALIGN(TPACKET2_HDRLEN) + 32;
    slot_bytes_ = (head + 14 + mtu_ + 63) / 64 * 64;
    in_block_ = kBlock / slot_bytes_;
    for (ring_bytes_ = kRingBytes;; ring_bytes_ /= 2) {
      tpacket_req request{};
      request.tp_block_size = kBlock;
      request.tp_block_nr = static_cast<unsigned>(ring_bytes_ / kBlock);
      request.tp_frame_size = static_cast<unsigned>(slot_bytes_);
      request.tp_frame_nr = static_cast<unsigned>(in_block_ * request.tp_block_nr);
      slots_ = request.tp_frame_nr;
      if (setsockopt(socket_.fd(), SOL_PACKET, PACKET_RX_RING, &request, sizeof request) == 0) break;
      if (errno != ENOMEM || ring_bytes_ == kLeastRing) fail(name_, "no memory for a receive ring", errno);
    }
    void* mapped = mmap(nullptr, ring_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, socket_.fd(), 0);
    if (mapped == MAP_FAILED) fail(name_, "cannot map its receive ring", errno);
    ring_ = static_cast<uint8_t*>(mapped);
    capacity_ = static_cast<unsigned>(slots_);
  }

  static int open(const std::string& name) {
    // Protocol 0: no frame is received before the filter is attached and the socket bound.
    const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (fd < 0 && errno == EPERM)
      throw PortError(name + ": no permission for raw Ethernet; run as root or with CAP_NET_RAW");
    if (fd < 0) fail(name, "cannot open a packet socket", errno);
    return fd;
  }

  /// Passes the shell's EtherTypes only, so that other traffic of the interface costs nothing.
  void filter(const EtherTypes& types) {
    std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12)};
    const auto count = static_cast<uint8_t>(types.of.size());
    for (uint8_t i = 0; i < count; i++)
      code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, types.of[i], static_cast<uint8_t>(count - i), 0));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, 0x40000));
    const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
    if (setsockopt(socket_.fd(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0)
      fail(name_, "cannot filter", errno);
  }

  std::optional<Batch> batch_;  // instead of the ring
  uint8_t* ring_ = nullptr;
  size_t ring_bytes_ = 0, slot_bytes_ = 0, in_block_ = 0, slots_ = 0;
  size_t at_ = 0;      // slot of the next frame
  bool held_ = false;  // the caller has the frame of that slot
};

class SwitchPort final : public SocketPort {
 public:
  SwitchPort(const std::string& path, const EtherTypes& types, const Mac& mac) : SocketPort(path, types, open(path)) {
    mac_ = mac;
    enlarge(socket_.fd());
    SwitchHello hello;
    std::copy(mac.bytes.begin(), mac.bytes.end(), hello.mac);
    std::strncpy(hello.name, mac.text().c_str(), sizeof hello.name - 1);
    if (::send(socket_.fd(), &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) fail(path, "cannot greet", errno);
    pollfd wait{socket_.fd(), POLLIN, 0};
    if (poll(&wait, 1, 5000) != 1 || recv(socket_.fd(), &hello, sizeof hello, 0) != sizeof hello ||
        hello.magic != SwitchHello::kMagic)
      throw PortError(path + ": does not answer as a switch of this version");
    mtu_ = hello.mtu;
    capacity_ = static_cast<unsigned>(kSwitchBytes / std::max(mtu_, 1U));
    batch_.emplace(mtu_ + 14);
  }

 protected:
  std::span<const uint8_t> take() override {
    const auto frame = batch_->take(socket_.fd(), name_);
    if (frame && frame->empty()) throw PortError(name_ + ": the switch has ended");
    return frame.value_or(std::span<const uint8_t>());
  }

 private:
  std::optional<Batch> batch_;

  static int open(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
      throw PortError(path + ": the path of a switch has at most " + std::to_string(sizeof address.sun_path - 1) +
                      " bytes");
    std::memcpy(address.sun_path, path.data(), path.size());
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) fail(path, "cannot open a socket", errno);
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      const int error = errno;
      close(fd);
      fail(path, "no switch", error);
    }
    return fd;
  }
};

}  // namespace

std::unique_ptr<Port> open_port(const std::string& name, const EtherTypes& types, const Mac& mac) {
  if (name.find('/') != std::string::npos) return std::make_unique<SwitchPort>(name, types, mac);
  return std::make_unique<InterfacePort>(name, types);
}

}  // namespace gossamer::shell
