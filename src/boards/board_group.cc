// SPDX-License-Identifier: Apache-2.0
#include "board_group.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <random>

namespace gossamer::machine {
namespace {

using shell::Mac;
using shell::ShellStatus;

constexpr uint32_t kLeaseMs = 10'000;
constexpr unsigned kDiscoverMs = 300, kOpenMs = 3000;
/// Milliseconds without a frame after which a board is asked for a sign of life, and after which it is lost. It sends
/// heartbeats once a second of its own time, which a simulation may stretch.
constexpr int64_t kQuiet = 1500, kLost = 5000;
constexpr std::chrono::milliseconds kCheckEvery{20};

/// What a status means for the user.
std::string words(ShellStatus status) {
  switch (status) {
    case ShellStatus::BadTag: return "the key is not the board's, or the board was reset; check the key file";
    case ShellStatus::NotOwner:
      return "another host has a session with it; wait for its end, or end the manager that has it";
    case ShellStatus::TimedOut: return "no answer; check the cable and the power";
    case ShellStatus::BadImage: return "the role is for another type of board, too large, or damaged";
    case ShellStatus::ConfigFailed: return "the board could not load the role";
    case ShellStatus::UnknownKind: return "its shell has no links to other boards; use boards whose shell has them";
    case ShellStatus::RoleFailed: return "the role reported a failure";
    default: return "status " + std::to_string(static_cast<unsigned>(status));
  }
}

/// An address that no manufacturer has assigned; only a switch's port has one of its own choice.
Mac random_mac() {
  std::random_device random;
  return Mac::of(uint64_t{0x02} << 40 | (uint64_t{random()} << 8 ^ random()) % (uint64_t{1} << 40));
}

}  // namespace

BoardGroup::BoardGroup(const GroupOptions& options) {
  try {
    const auto types = shell::EtherTypes::site();
    host_ = std::make_unique<shell::Host>(shell::open_port(options.port, types, random_mac()), types);
    host_->discover(kDiscoverMs);
    for (const auto& board : options.boards) {
      open(board);
      boards_.push_back({board.mac, {}});
    }
    configure(options);
    for (size_t b = 0; b < boards_.size(); ++b) {
      const uint32_t values[] = {static_cast<uint32_t>(b), static_cast<uint32_t>(options.kernels),
                                 static_cast<uint32_t>(options.kernels >> 32)};
      std::vector<shell::ShellRegisterWrite> writes(options.kernels ? std::size(values) : 1);
      for (uint32_t i = 0; i < writes.size(); ++i) {
        writes[i].address = sizeof(uint32_t) * i;
        writes[i].data = values[i];
      }
      check(boards_[b].mac, "its registers", host_->write_registers(boards_[b].mac, writes));
    }
    bind(options);
    run_ = std::random_device()() | 1U;
    for (const auto& [mac, status] : host_->start_all(opened_, 0, run_)) check(mac, "starting its role", status);
  } catch (const shell::PortError& error) {
    close();
    throw BoardError(error.what());
  } catch (const std::invalid_argument& error) {
    throw BoardError(error.what());  // the site's EtherTypes; no session is open yet
  } catch (...) {
    close();
    throw;
  }
}

BoardGroup::~BoardGroup() { close(); }

void BoardGroup::close() {
  for (const Mac& mac : opened_) {
    try {
      host_->close(mac);
    } catch (const shell::PortError&) {
      // The port has failed: the sessions end by their leases.
    }
  }
  opened_.clear();
}

void BoardGroup::check(const Mac& mac, const std::string& what, ShellStatus status) const {
  if (status != ShellStatus::Ok) throw BoardError("board " + mac.text() + ": " + what + ": " + words(status));
}

BoardError BoardGroup::damaged(size_t board) const {
  return BoardError("board " + boards_[board].mac.text() + ": its role sends packets that are no flits");
}

void BoardGroup::open(const GroupOptions::Board& board) {
  ShellStatus status = ShellStatus::BadTag;
  for (const auto& key : board.keys) {
    status = host_->open(board.mac, key, kLeaseMs, false, kOpenMs);
    if (status != ShellStatus::BadTag) break;
  }
  check(board.mac, "opening a session", status);
  opened_.push_back(board.mac);
}

void BoardGroup::configure(const GroupOptions& options) {
  std::ifstream file(options.role, std::ios::binary);
  const std::vector<uint8_t> role{std::istreambuf_iterator<char>(file), {}};
  if (role.empty()) throw BoardError(options.role + ": cannot be read");
  const shell::Image image = shell::make_image(role, options.board_type);
  for (const auto& [mac, result] : host_->configure(opened_, image, {})) check(mac, "loading its role", result.status);
}

void BoardGroup::bind(const GroupOptions& options) {
  for (const auto& link : options.links) {
    if (std::max(link.from, link.to) >= boards_.size()) throw BoardError("a link ends at no board");
    shell::ShellLinkBinding peer;
    peer.peer = boards_[link.to].mac.number();
    peer.peer_link = static_cast<uint16_t>(link.to_link);
    peer.identity = link.identity;
    const Mac& mac = boards_[link.from].mac;
    const ShellStatus status = host_->bind(mac, static_cast<uint16_t>(link.from_link), peer);
    check(mac, "binding link " + std::to_string(link.from_link), status);
  }
}

void BoardGroup::send(size_t board, sim::HostPort& port, uint64_t cycle) {
  One& one = boards_[board];
  for (unsigned network = 0; network < sim::kNetworks; ++network) {
    auto& packet = one.staged[network];
    for (;;) {
      while (packet.size() < kPacketFlits * sizeof(sim::Flit) && port.choose(1U << network) == network) {
        const auto* from = reinterpret_cast<const uint8_t*>(port.head(network).words.data());
        packet.insert(packet.end(), from, from + sizeof(sim::Flit));
        port.on_accepted(network, cycle);
      }
      // Without space the packet waits, and grows.
      if (packet.empty() || host_->send(one.mac, network, packet, 0) != ShellStatus::Ok) break;
      packet.clear();
    }
  }
}

bool BoardGroup::pending() const {
  return std::any_of(boards_.begin(), boards_.end(), [](const One& one) {
    return std::any_of(one.staged.begin(), one.staged.end(), [](const auto& packet) { return !packet.empty(); });
  });
}

void BoardGroup::step(int timeout_ms) {
  try {
    host_->step(timeout_ms);
  } catch (const shell::PortError& error) {
    throw BoardError(error.what());
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - checked_ < kCheckEvery) return;
  checked_ = now;
  for (const One& one : boards_) {
    const int64_t age = host_->age(one.mac);
    if (age < 0) throw BoardError("board " + one.mac.text() + ": was reset, or has ended the session");
    if (age > kQuiet) host_->ping(one.mac);
    if (age > kLost) throw BoardError("board " + one.mac.text() + ": does not answer any more");
    shell::ShellRun end;
    const ShellStatus status = host_->wait(one.mac, run_, 0, end);
    if (status == ShellStatus::Ok || status == ShellStatus::RoleFailed) {
      throw BoardError("board " + one.mac.text() + ": its role has ended");
    }
  }
}

}  // namespace gossamer::machine
