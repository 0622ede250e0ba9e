// SPDX-License-Identifier: Apache-2.0
#include "shell/port.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

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

/// What both kinds of sockets share.
class SocketPort : public Port {
 public:
  SocketPort(std::string name, int fd) : name_(std::move(name)), socket_(fd) {}

  void send(std::span<const uint8_t> frame) override {
    while (::send(socket_.fd(), frame.data(), frame.size(), MSG_NOSIGNAL) < 0) {
      if (errno == EINTR) continue;
      if (errno == ENOBUFS || errno == EAGAIN) {
        pollfd wait{socket_.fd(), POLLOUT, 0};
        poll(&wait, 1, 10);
        continue;
      }
      if (errno == EMSGSIZE)
        throw PortError(name_ + ": a frame of " + std::to_string(frame.size()) + " bytes exceeds the interface's MTU");
      fail(name_, "cannot send", errno);
    }
  }

  size_t receive(std::span<uint8_t> buffer, int timeout_ms) override {
    for (;;) {
      const ssize_t length = recv(socket_.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_TRUNC);
      if (length > 0) {
        if (static_cast<size_t>(length) > buffer.size()) continue;
        return static_cast<size_t>(length);
      }
      if (length == 0) throw PortError(name_ + ": the switch has ended");
      if (errno == EINTR) continue;
      if (errno == ENETDOWN) {
        // An interface that is down may come back; a cable is replaced like this.
      } else if (errno != EAGAIN) {
        fail(name_, "cannot receive", errno);
      }
      if (timeout_ms == 0) return 0;
      pollfd wait{socket_.fd(), POLLIN, 0};
      const int ready = poll(&wait, 1, timeout_ms);
      if (ready == 0 || (ready < 0 && errno == EINTR)) return 0;
      if (ready < 0) fail(name_, "cannot wait", errno);
    }
  }

  int descriptor() const override { return socket_.fd(); }
  unsigned mtu() const override { return mtu_; }
  Mac mac() const override { return mac_; }

 protected:
  std::string name_;
  Socket socket_;
  unsigned mtu_ = 0;
  Mac mac_;
};

class InterfacePort final : public SocketPort {
 public:
  InterfacePort(const std::string& name, const EtherTypes& types) : SocketPort(name, open(name)) {
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

 private:
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
};

class SwitchPort final : public SocketPort {
 public:
  SwitchPort(const std::string& path, const Mac& mac) : SocketPort(path, open(path)) {
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
  }

 private:
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
  if (name.find('/') != std::string::npos) return std::make_unique<SwitchPort>(name, mac);
  return std::make_unique<InterfacePort>(name, types);
}

}  // namespace gossamer::shell
