// SPDX-License-Identifier: Apache-2.0
/// An Ethernet switch on a Unix socket, for boards and hosts of one machine: it learns addresses, forwards, floods, and
/// loses, duplicates, damages, delays and paces frames as told. It needs no root.
///
///   shell_switch SOCKET [--mtu N] [--seed N] [--loss P] [--duplicate P] [--damage P] [--reorder P] [--rate BYTES/S]
///                [--queue BYTES] [--ports N --trunk BYTES/S]
///
/// Probabilities are those of each copy of a frame at its egress. --rate is the line rate of each port, preamble and
/// gap counted. With --ports N the first N clients are at one switch, the others at a second one, and --trunk is the
/// rate of the cable between them. Prints "ready" when clients can connect, and statistics as JSON when SIGTERM or
/// SIGINT ends it.

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "shell/port.h"

namespace {

using gossamer::shell::SwitchHello;
using Clock = std::chrono::steady_clock;

constexpr unsigned kLineOverhead = 24;  // preamble, FCS and gap of a frame on a cable
constexpr unsigned kLineLeast = 84;     // bytes that the shortest frame takes on a cable

[[noreturn]] void stop(const std::string& text) {
  std::fprintf(stderr, "shell_switch: %s\n", text.c_str());
  std::exit(2);
}

struct Options {
  std::string path;
  unsigned mtu = 1500;
  uint64_t seed = 1;
  double loss = 0, duplicate = 0, damage = 0, reorder = 0;
  double rate = 0, trunk = 0;
  size_t queue = 4 << 20;
  unsigned ports = 0;
};

struct Packet {
  std::shared_ptr<std::vector<uint8_t>> bytes;
  Clock::time_point due;
};

/// A pacer of a cable: when it is free again.
struct Line {
  double bytes_per_s = 0;
  Clock::time_point free{};

  /// When a frame that is ready at `now` has left the cable.
  Clock::time_point occupy(Clock::time_point now, size_t bytes) {
    if (bytes_per_s <= 0) return now;
    const double line = static_cast<double>(std::max<size_t>(bytes + kLineOverhead, kLineLeast));
    free = std::max(free, now) +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(line / bytes_per_s));
    return free;
  }
  /// Bytes that wait for the cable.
  double waiting(Clock::time_point now) const {
    return free <= now ? 0 : std::chrono::duration<double>(free - now).count() * bytes_per_s;
  }
};

struct Client {
  int fd = -1;
  bool greeted = false;
  unsigned number = 0;
  std::string name;
  Line line;
  std::deque<Packet> queue;  // due in order
  bool writable = true;
  uint64_t received = 0, sent = 0, lost = 0, dropped = 0, duplicated = 0, damaged = 0, reordered = 0, bytes = 0;
};

class Switch {
 public:
  explicit Switch(const Options& options) : options_(options), random_(options.seed), trunk_{options.trunk, {}} {
    listen();
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    add(listener_, EPOLLIN);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    signals_ = signalfd(-1, &signals, SFD_CLOEXEC);
    add(signals_, EPOLLIN);
    std::printf("ready\n");
    std::fflush(stdout);
  }
  ~Switch() { unlink(options_.path.c_str()); }

  void run() {
    std::vector<epoll_event> events(64);
    for (;;) {
      const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), next_due());
      for (int i = 0; i < count; i++) {
        const int fd = events[i].data.fd;
        if (fd == signals_) return print();
        if (fd == listener_) {
          accept();
        } else if (auto at = clients_.find(fd); at != clients_.end()) {
          if (events[i].events & EPOLLOUT) at->second->writable = true;
          if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) read(*at->second);
        }
      }
      for (auto& [fd, client] : clients_) flush(*client);
      for (int fd : gone_) remove(fd);
      gone_.clear();
    }
  }

 private:
  void listen() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (options_.path.size() >= sizeof address.sun_path) stop(options_.path + ": the path is too long");
    std::memcpy(address.sun_path, options_.path.data(), options_.path.size());
    listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || ::listen(listener_, 64) != 0)
      stop(options_.path + ": " + std::strerror(errno));
  }

  void add(int fd, uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) stop(std::string("epoll: ") + std::strerror(errno));
  }

  void accept() {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    const int bytes = 16 << 20;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) != 0)
      setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    auto client = std::make_unique<Client>();
    client->fd = fd;
    client->number = joined_++;
    client->line.bytes_per_s = options_.rate;
    add(fd, EPOLLIN | EPOLLOUT | EPOLLET);
    clients_.emplace(fd, std::move(client));
  }

  void remove(int fd) {
    epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
    close(fd);
    std::erase_if(learned_, [fd](const auto& entry) { return entry.second == fd; });
    clients_.erase(fd);
  }

  void read(Client& client) {
    for (unsigned burst = 0;; burst++) {
      const ssize_t length = recv(client.fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (length <= 0) {
        gone_.push_back(client.fd);
        return;
      }
      if (!client.greeted) {
        greet(client, static_cast<size_t>(length));
      } else {
        forward(client, {buffer_.data(), static_cast<size_t>(length)});
      }
      // Frames of a fast sender leave before its next ones are read, or queues would grow without limit.
      if (burst % 16 == 15)
        for (auto& [fd, other] : clients_) flush(*other);
    }
  }

  void greet(Client& client, size_t length) {
    SwitchHello hello;
    if (length != sizeof hello) return gone_.push_back(client.fd);
    std::memcpy(&hello, buffer_.data(), sizeof hello);
    if (hello.magic != SwitchHello::kMagic) return gone_.push_back(client.fd);
    hello.name[sizeof hello.name - 1] = 0;
    client.name = hello.name;
    client.greeted = true;
    hello.mtu = options_.mtu;
    if (::send(client.fd, &hello, sizeof hello, MSG_NOSIGNAL) < 0) gone_.push_back(client.fd);
  }

  static uint64_t address(const uint8_t* at) {
    uint64_t value = 0;
    for (unsigned i = 0; i < 6; i++) value = value << 8 | at[i];
    return value;
  }

  void forward(Client& from, std::span<const uint8_t> frame) {
    if (frame.size() < 14 || frame.size() > options_.mtu + 14) {
      from.dropped++;
      return;
    }
    from.received++;
    const uint64_t to = address(frame.data()), source = address(frame.data() + 6);
    if (!(frame[6] & 1)) learned_[source] = from.fd;
    auto bytes = std::make_shared<std::vector<uint8_t>>(frame.begin(), frame.end());
    const auto now = Clock::now();
    if (const auto known = learned_.find(to); !(frame[0] & 1) && known != learned_.end()) {
      if (const auto client = clients_.find(known->second); client != clients_.end() && known->second != from.fd)
        deliver(from, *client->second, bytes, across(from, *client->second, frame.size(), now));
      return;
    }
    // A flooded frame crosses the trunk once.
    std::optional<Clock::time_point> crossed;
    for (auto& [fd, client] : clients_) {
      if (fd == from.fd || !client->greeted) continue;
      auto at = now;
      if (remote(from, *client)) {
        if (!crossed) crossed = across(from, *client, frame.size(), now);
        at = *crossed;
      }
      deliver(from, *client, bytes, at);
    }
  }

  bool remote(const Client& a, const Client& b) const {
    return options_.ports && (a.number < options_.ports) != (b.number < options_.ports);
  }
  Clock::time_point across(const Client& from, const Client& to, size_t bytes, Clock::time_point now) {
    return remote(from, to) ? trunk_.occupy(now, bytes) : now;
  }
  bool chance(double probability) { return probability > 0 && uniform_(random_) < probability; }

  void deliver(Client&, Client& to, const std::shared_ptr<std::vector<uint8_t>>& bytes, Clock::time_point at) {
    if (chance(options_.loss)) {
      to.lost++;
      return;
    }
    if (to.line.waiting(at) > static_cast<double>(options_.queue) ||
        to.queue.size() * bytes->size() > 8 * options_.queue) {
      to.dropped++;
      return;
    }
    auto data = bytes;
    if (chance(options_.damage)) {
      data = std::make_shared<std::vector<uint8_t>>(*bytes);
      (*data)[random_() % data->size()] ^= static_cast<uint8_t>(1 + random_() % 255);
      to.damaged++;
    }
    const auto due = to.line.occupy(at, bytes->size());
    to.queue.push_back({data, due});
    if (to.queue.size() > 1 && chance(options_.reorder)) {
      // The frame overtakes up to four others; the times at which the cable is free stay.
      const size_t last = to.queue.size() - 1, before = last - std::min<size_t>(last, 1 + random_() % 4);
      std::swap(to.queue[last].bytes, to.queue[before].bytes);
      to.reordered++;
    }
    if (chance(options_.duplicate)) {
      to.queue.push_back({data, to.line.occupy(at, bytes->size())});
      to.duplicated++;
    }
  }

  void flush(Client& client) {
    const auto now = options_.rate > 0 || options_.trunk > 0 ? Clock::now() : Clock::time_point::max();
    while (client.writable && !client.queue.empty() && client.queue.front().due <= now) {
      const auto& bytes = *client.queue.front().bytes;
      if (::send(client.fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        if (errno == EAGAIN || errno == ENOBUFS) {
          client.writable = false;
          return;
        }
        gone_.push_back(client.fd);
        client.queue.clear();
        return;
      }
      client.sent++;
      client.bytes += bytes.size();
      client.queue.pop_front();
    }
  }

  /// Milliseconds until a paced frame is due; -1 if none is.
  int next_due() const {
    std::optional<Clock::time_point> first;
    for (const auto& [fd, client] : clients_)
      if (client->writable && !client->queue.empty() && (!first || client->queue.front().due < *first))
        first = client->queue.front().due;
    if (!first) return -1;
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(*first - Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(wait, 0, 1000));
  }

  void print() const {
    std::printf("{\"ports\": [");
    bool comma = false;
    for (const auto& [fd, c] : clients_) {
      std::printf(
          "%s{\"name\": \"%s\", \"received\": %llu, \"sent\": %llu, \"bytes\": %llu, \"lost\": %llu, "
          "\"dropped\": %llu, \"duplicated\": %llu, \"damaged\": %llu, \"reordered\": %llu}",
          comma ? ", " : "", c->name.c_str(), static_cast<unsigned long long>(c->received),
          static_cast<unsigned long long>(c->sent), static_cast<unsigned long long>(c->bytes),
          static_cast<unsigned long long>(c->lost), static_cast<unsigned long long>(c->dropped),
          static_cast<unsigned long long>(c->duplicated), static_cast<unsigned long long>(c->damaged),
          static_cast<unsigned long long>(c->reordered));
      comma = true;
    }
    std::printf("]}\n");
  }

  Options options_;
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> uniform_{0, 1};
  Line trunk_;
  int listener_ = -1, epoll_ = -1, signals_ = -1;
  unsigned joined_ = 0;
  std::map<int, std::unique_ptr<Client>> clients_;
  std::unordered_map<uint64_t, int> learned_;
  std::vector<int> gone_;
  std::vector<uint8_t> buffer_ = std::vector<uint8_t>(1 << 16);
};

double number(const char* option, const char* text, double least, double most) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end || !(value >= least && value <= most))
    stop(std::string(option) + " " + text + ": must be a number from " + std::to_string(least) + " to " +
         std::to_string(most));
  return value;
}

}  // namespace

int main(int count, char** words) {
  Options options;
  for (int i = 1; i < count; i++) {
    const std::string word = words[i];
    if (word.rfind("--", 0) != 0) {
      options.path = word;
      continue;
    }
    if (i + 1 == count) stop(word + ": needs a value");
    const char* value = words[++i];
    const auto chance = [&] { return number(word.c_str(), value, 0, 1); };
    if (word == "--mtu")
      options.mtu = static_cast<unsigned>(number("--mtu", value, 256, 16000));
    else if (word == "--seed")
      options.seed = static_cast<uint64_t>(number("--seed", value, 0, 1e15));
    else if (word == "--loss")
      options.loss = chance();
    else if (word == "--duplicate")
      options.duplicate = chance();
    else if (word == "--damage")
      options.damage = chance();
    else if (word == "--reorder")
      options.reorder = chance();
    else if (word == "--rate")
      options.rate = number("--rate", value, 1, 1e12);
    else if (word == "--trunk")
      options.trunk = number("--trunk", value, 1, 1e12);
    else if (word == "--queue")
      options.queue = static_cast<size_t>(number("--queue", value, 1500, 1e9));
    else if (word == "--ports")
      options.ports = static_cast<unsigned>(number("--ports", value, 1, 1000));
    else
      stop(word + ": no such option");
  }
  if (options.path.empty()) stop("needs the path of its socket");
  Switch(options).run();
  return 0;
}
