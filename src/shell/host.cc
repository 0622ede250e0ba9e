// SPDX-License-Identifier: Apache-2.0
#include "shell/host.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gossamer::shell {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kResend{20};
constexpr unsigned kMostDoublings = 5;  // of kResend, while a slow board does not answer
constexpr unsigned kCommandTimeoutMs = 3000;
constexpr unsigned kMostFires = 100;
constexpr unsigned kComplaints = 5;
constexpr milliseconds kSilent{2500}, kUnanswered{300};  // without a valid frame, of a board that has a session
constexpr unsigned kUnansweredTries = 4;
constexpr milliseconds kComplaintGap{5};
constexpr unsigned kOpenTries = 3;
constexpr unsigned kFruitless =
    3;  // times of silence after which a board that reports, but misses no less, is given up
constexpr size_t kMostUnreadable = 1024;
constexpr size_t kMostBoards = 4096;
constexpr uint64_t kMostStreams = 1 << 16;  // as a role announces them
constexpr unsigned kStreamWindow = 32;
constexpr uint32_t kNoStream = ~uint32_t{0};
constexpr uint32_t kNoChunk = ~uint32_t{0}, kNoCommand = ~uint32_t{0};
constexpr unsigned kBatch = 16;  // frames of an image that are sent with one system call
// A query with this bit in its number asks how far a board is, not what it misses.
constexpr uint32_t kProbe = uint32_t{1} << 31;
constexpr unsigned kProbesAhead = 4;
constexpr milliseconds kProbeAgain{5}, kMostProbeAgain{320}, kLagging{30};
constexpr unsigned kLeastCredits = 16;
constexpr size_t kHead = shell_frame_header_bytes - 14;

uint32_t ceil_div(uint64_t a, uint64_t b) { return static_cast<uint32_t>((a + b - 1) / b); }

/// Chunks that a board misses.
struct Missing {
  std::vector<uint64_t> bits;
  uint32_t count = 0;

  explicit Missing(uint32_t chunks) : bits((chunks + 63) / 64) {}
  bool has(uint32_t chunk) const { return bits[chunk / 64] >> (chunk % 64) & 1; }
  void set(uint32_t chunk, bool value) {
    if (has(chunk) == value) return;
    bits[chunk / 64] ^= uint64_t{1} << (chunk % 64);
    count += value ? 1 : ~uint32_t{0};
  }
  /// The first missing chunk from `chunk` on; `end` without one.
  uint32_t next(uint32_t chunk, uint32_t end) const {
    for (uint32_t word = chunk / 64; word < bits.size(); word++) {
      uint64_t value = bits[word];
      if (word == chunk / 64) value &= ~uint64_t{0} << (chunk % 64);
      if (value) return word * 64 + static_cast<uint32_t>(__builtin_ctzll(value));
    }
    return end;
  }
};

}  // namespace

struct Host::Command {
  uint32_t seq = 0;
  ShellHeader header;
  std::vector<uint8_t> payload;
  Clock::time_point sent;
  unsigned tries = 0;
};

struct Host::Session {
  Mac mac;
  uint64_t nonce = 0;
  std::optional<Blake2s> keyed;
  uint32_t next = 1;
  std::deque<Command> pending;  // not acknowledged, in order
  struct Answer {
    ShellStatus status{};
    std::vector<uint8_t> payload;
  };
  std::map<uint32_t, Answer> answers;    // of commands that wait for one
  uint32_t pinged = 0;                   // number of the last command of `ping`
  uint32_t writing = 1;                  // number of the first command of the last call of write
  ShellStatus failed = ShellStatus::Ok;  // the first error of a write whose answer was not asked for
  std::optional<ShellStatusReport> status;
  std::optional<std::pair<uint64_t, std::pair<ShellStatus, ShellRun>>> ended;
  bool lost = false;  // the board no longer knows the session
  milliseconds keep_every{1000};
  Clock::time_point kept{};  // when the last frame that keeps the session was sent
  unsigned complaints = 0;   // rejected tags since the last valid frame
  bool armed = false;        // a broadcast has started it, and no frame has shown yet that the board received it
  uint64_t run = 0;          // the last run that was started, and the number of that command
  uint32_t started = 0;

  // Configuration
  uint64_t binding = 0;
  uint32_t begun = 0;  // the number of its `begin`
  std::optional<Missing> missing;
  uint32_t least_missing = 0;    // fewest chunks that it has missed
  uint32_t most_blocks = 0;      // most blocks that it has verified
  Clock::time_point progress{};  // when one of the two last changed
  uint32_t round = 0;            // of the query that the reports below answer
  uint32_t reported_to = 0;      // chunks below are known in this round
  bool reported = false;
  bool silent = false;                          // has not answered the query before
  unsigned unanswered = 0;                      // queries since the last report
  std::map<uint32_t, Clock::time_point> asked;  // when, by the query's number; until it or a later one is answered
  Clock::duration latency{};                    // of the last answer
  uint32_t probed = 0;                          // the last probe that it has answered
  bool described = false;                       // a report has come since the configuration began
  std::optional<ShellStatus> loaded;
  Clock::time_point loaded_at{};
  Clock::time_point heard{};

  struct Stream {
    std::deque<std::vector<uint8_t>> out;
    uint32_t out_first = 1, out_sent = 1, out_limit = 1 + kStreamWindow;
    Clock::time_point sent_at{};
    unsigned tries = 0;  // since the last packet was acknowledged
    std::deque<std::vector<uint8_t>> in;
    uint32_t in_expected = 1;
    bool owe = false;
  };
  std::map<uint32_t, Stream> streams;
};

Image make_image(std::span<const uint8_t> role, uint32_t board_type) {
  Image image;
  image.body = role;
  image.board_type = board_type;
  constexpr size_t kBlock = size_t{1} << shell_block_bytes_log2;
  std::vector<std::span<const uint8_t>> blocks;
  for (size_t at = 0; at < role.size(); at += kBlock)
    blocks.push_back(role.subspan(at, std::min(kBlock, role.size() - at)));
  for (const Digest& hash : blake2s_many(blocks))
    image.manifest.insert(image.manifest.end(), hash.begin(), hash.begin() + shell_block_hash_bytes);
  image.root = blake2s(image.manifest);
  return image;
}

Host::Host(std::unique_ptr<Port> port, const EtherTypes& types)
    : port_(std::move(port)), types_(types), random_(uint64_t{std::random_device{}()} << 32 | std::random_device{}()) {}

Host::~Host() = default;

void Host::transmit(const Frame& frame, const Blake2s* keyed) {
  encode(frame, types_, keyed, out_);
  bytes_sent_ += out_.size();
  frames_sent_++;
  traffic_[frame.to].sent += out_.size();
  port_->send(out_);
}

size_t Host::part_bytes(const Mac& board) const {
  const auto known = known_.find(board);
  const unsigned mtu = known == known_.end() ? 0 : std::min<unsigned>(port_->mtu(), known->second.about.mtu);
  return mtu >= 9000 ? shell_chunk_bytes_9000 : shell_chunk_bytes_1500;
}

bool Host::receive_one(int timeout_ms) {
  const auto frame = port_->next(timeout_ms);
  if (frame.empty()) return false;
  handle(frame);
  return true;
}

void Host::pump(unsigned ms) {
  const auto end = Clock::now() + milliseconds(ms);
  do {
    receive_one(static_cast<int>(std::clamp<long long>(
        std::chrono::duration_cast<milliseconds>(end - Clock::now()).count(), 0, kResend.count() / 2)));
    while (receive_one(0)) {
    }
    resend_due();
  } while (Clock::now() < end);
}

void Host::step(int timeout_ms) {
  if (receive_one(timeout_ms)) {
    while (receive_one(0)) {
    }
  }
  resend_due();
}

std::vector<Host::Known> Host::discover(unsigned wait_ms) {
  ShellHeader header;
  header.kind = ShellKind::Solicit;
  transmit({kBroadcast, port_->mac(), header, {}}, nullptr);
  pump(wait_ms);
  std::vector<Known> all;
  for (const auto& [mac, known] : known_) all.push_back(known);
  return all;
}

Host::Session& Host::session(const Mac& board) {
  const auto at = sessions_.find(board);
  if (at == sessions_.end()) throw PortError(board.text() + ": no session is open");
  return *at->second;
}

void Host::drop(const Mac& board) { sessions_.erase(board); }

int64_t Host::missing(const Mac& board) const {
  const auto at = sessions_.find(board);
  if (at == sessions_.end() || !at->second->missing) return -1;
  const Session& s = *at->second;
  if (s.loaded) return 0;
  // What was repaired counts as received; the last chunk is missing until the board has confirmed all.
  return s.described ? std::max<int64_t>(s.missing->count, 1) : -1;
}

int64_t Host::age(const Mac& board) const {
  const auto at = sessions_.find(board);
  if (at == sessions_.end() || at->second->lost) return -1;
  return std::chrono::duration_cast<milliseconds>(Clock::now() - at->second->heard).count();
}

void Host::ping(const Mac& board) {
  Session& s = session(board);
  if (s.lost || !s.pending.empty()) return;
  s.answers.erase(s.pinged);
  s.pinged = issue(s, ShellKind::AskRegister, 0, 0, {}, true);
}

ShellStatus Host::open(const Mac& board, const Key& key, uint32_t lease_ms, bool take_over, unsigned timeout_ms,
                       Mac* owner) {
  uint64_t nonce = 0, challenge = 0;
  const Blake2s by_board(key);
  const auto end = Clock::now() + milliseconds(timeout_ms);
  ShellStatus seen = ShellStatus::TimedOut;
  unsigned tries = 0;
  while (Clock::now() < end) {
    if (!known_.contains(board)) {
      ShellHeader header;
      header.kind = ShellKind::Solicit;
      transmit({board, port_->mac(), header, {}}, nullptr);
      pump(50);
      continue;
    }
    // The board computes the session's key from the challenge at its first open with a nonce. If that answer is lost
    // and an announcement has brought another challenge, the same nonce would leave the two with different keys.
    if (nonce == 0 || known_[board].challenge != challenge) {
      challenge = known_[board].challenge;
      do nonce = random_();
      while (nonce == 0);
    }
    ShellOpen wanted;
    wanted.nonce = nonce;
    wanted.lease = lease_ms;
    const auto payload = bytes_of(wanted);
    ShellHeader header;
    header.kind = ShellKind::Open;
    header.session = challenge;
    header.take_over = take_over;
    opening_ = board;
    opening_nonce_ = nonce;
    opening_keyed_ = Blake2s(session_key(key, board, port_->mac(), header.session, nonce));
    const Blake2s session_keyed = opening_keyed_;
    opened_.reset();
    transmit({board, port_->mac(), header, payload}, &by_board);
    const auto until = Clock::now() + milliseconds(60);
    while (!opened_ && Clock::now() < until) receive_one(10);
    if (!opened_) continue;
    if (*opened_ == ShellStatus::Ok) {
      auto next = std::make_unique<Session>();
      next->mac = board;
      next->nonce = nonce;
      next->keyed = session_keyed;
      next->status = opened_status_;
      next->heard = next->kept = Clock::now();
      next->keep_every = milliseconds(std::clamp<uint32_t>(lease_ms / 4, 25, 1000));
      sessions_[board] = std::move(next);
      opening_nonce_ = 0;
      return ShellStatus::Ok;
    }
    seen = *opened_;
    if (seen == ShellStatus::NotOwner) {
      if (owner) *owner = opened_owner_;
      break;
    }
    // The challenge may have changed since the announcement: request another one, once.
    known_.erase(board);
    if (seen == ShellStatus::BadTag) {
      if (++tries == kOpenTries) break;
    }
  }
  opening_nonce_ = 0;
  return seen;
}

ShellStatus Host::close(const Mac& board) {
  Session& s = session(board);
  const uint32_t seq = issue(s, ShellKind::Close, 0, 0, {}, true);
  const ShellStatus status = complete(s, seq, 500);
  sessions_.erase(board);
  return status;
}

ShellStatus Host::rekey(const Mac& board, std::span<const uint8_t> salt) {
  Session& s = session(board);
  return complete(s, issue(s, ShellKind::Rekey, 0, 0, salt, true), kCommandTimeoutMs);
}

// ------------------------------------------------------------------------------------------------------ receiving

/// Announcements have no tag, so anyone may send them from any number of addresses: the board that was not heard of for
/// the longest time makes room for a new one, unless it has a session.
void Host::make_room(const Mac& board) {
  if (known_.size() < kMostBoards || known_.contains(board)) return;
  auto oldest = known_.end();
  for (auto it = known_.begin(); it != known_.end(); ++it) {
    if (sessions_.contains(it->first) || (opening_nonce_ && it->first == opening_)) continue;
    if (oldest == known_.end() || it->second.seen < oldest->second.seen) oldest = it;
  }
  if (oldest == known_.end()) return;
  traffic_.erase(oldest->first);
  known_.erase(oldest);
}

void Host::handle(std::span<const uint8_t> bytes) {
  Frame frame;
  Drop drop = decode(bytes, types_, frame);
  if (drop == Drop::None && frame.header.kind == ShellKind::Announce && frame.payload.size() < ShellAnnounce::kBits / 8)
    drop = Drop::Length;
  if (drop != Drop::None) {
    if (drop == Drop::Type || drop == Drop::Short) return;
    // Addresses may be damaged too: a bound on what such frames can fill.
    if (unreadable_.size() < kMostUnreadable || unreadable_.contains(frame.from)) {
      auto& one = unreadable_[frame.from];
      one = {one.frames + 1, drop, frame.header.version};
    }
    return;
  }
  const ShellHeader& header = frame.header;
  if (header.kind == ShellKind::Announce) make_room(frame.from);
  if (known_.contains(frame.from) || sessions_.contains(frame.from) || header.kind == ShellKind::Announce)
    traffic_[frame.from].received += bytes.size();
  if (header.kind == ShellKind::Announce) {
    known_[frame.from] = {frame.from, layout_of<ShellAnnounce>(frame.payload), header.session, Clock::now()};
    return;
  }
  if (frame.to != port_->mac()) return;
  if (opening_nonce_ && frame.from == opening_) {
    if (header.kind == ShellKind::Opened && header.session == opening_nonce_) {
      if (header.status == ShellStatus::Ok && tag_matches(bytes, opening_keyed_)) {
        opened_ = ShellStatus::Ok;
        if (frame.payload.size() >= bytes_of(ShellStatusReport{}).size())
          opened_status_ = layout_of<ShellStatusReport>(frame.payload);
      } else if (header.status == ShellStatus::NotOwner) {
        opened_ = ShellStatus::NotOwner;
        opened_owner_ = Mac::of(header.binding);
      }
      return;
    }
    if (header.kind == ShellKind::Error && header.offset == static_cast<uint64_t>(ShellKind::Open)) {
      opened_ = header.status;
      return;
    }
  }
  const auto at = sessions_.find(frame.from);
  if (at == sessions_.end()) return;
  Session& s = *at->second;
  if (header.session != s.nonce) {
    return;
  }
  if (header.kind == ShellKind::Error) {
    // Untagged, so it only makes the host send again what it would send later, and a flood of them no flood of
    // commands.
    if (header.status == ShellStatus::OutOfSequence)
      for (auto& command : s.pending)
        if (Clock::now() - command.sent > kComplaintGap) command.sent = {};
    // Any number may be forged, or answer frames that were damaged. A board that has the session sends heartbeats, and
    // answers a command that is sent again; one that has lost it sends only these.
    const bool unanswered = !s.pending.empty() && s.pending.front().tries >= kUnansweredTries;
    if (header.status == ShellStatus::BadTag && ++s.complaints >= kComplaints &&
        Clock::now() - s.heard > (unanswered ? kUnanswered : kSilent))
      s.lost = true;
    return;
  }
  // A board's frames of a session are tagged; a frame of another kind could be anyone's.
  if (!tagged(header.kind) || !tag_matches(bytes, *s.keyed)) return;
  s.heard = Clock::now();
  s.lost = false;
  s.complaints = 0;
  handle_session(s, frame);
}

void Host::handle_session(Session& s, const Frame& frame) {
  const ShellHeader& header = frame.header;
  switch (header.kind) {
    case ShellKind::Heartbeat:
    case ShellKind::Status:
      if (frame.payload.size() >= bytes_of(ShellStatusReport{}).size())
        s.status = layout_of<ShellStatusReport>(frame.payload);
      if (s.status && s.status->state != ShellState::Armed) s.armed = false;
      return;
    case ShellKind::Report: {
      constexpr size_t kStart = ShellReport::kBits / 8;
      if (!s.missing || header.binding != s.binding || frame.payload.size() < kStart) return;
      if (header.seq & kProbe) s.probed = std::max(s.probed, header.seq & ~kProbe);
      if (const auto asked = s.asked.find(header.seq); asked != s.asked.end()) {
        s.latency = Clock::now() - asked->second;
        s.asked.erase(s.asked.begin(), std::next(asked));
      }
      const auto report = layout_of<ShellReport>(frame.payload);
      if (report.blocks > s.most_blocks) {
        s.most_blocks = report.blocks;
        s.progress = Clock::now();
      }
      if (header.seq != s.round) return;
      const auto chunks = static_cast<uint32_t>(s.missing->bits.size() * 64);
      // Frames of one round are in order; a gap means that one is lost, and the next round shows it.
      for (uint32_t c = s.reported_to; c < std::min(report.base, chunks); c++) s.missing->set(c, false);
      const size_t bits = (frame.payload.size() - kStart) * 8;
      for (size_t i = 0; i < bits && report.base + i < chunks; i++)
        s.missing->set(static_cast<uint32_t>(report.base + i), frame.payload[kStart + i / 8] >> (7 - i % 8) & 1);
      s.reported_to = static_cast<uint32_t>(report.base + bits);
      if (header.last) {
        for (uint32_t c = s.reported_to; c < chunks; c++) s.missing->set(c, false);
        s.reported = s.described = true;
      }
      return;
    }
    case ShellKind::Loaded:
      // A late or recorded confirmation of an earlier transfer of the same image acknowledges no later `begin`.
      if (static_cast<int32_t>(header.acknowledge - s.begun) <= 0) return;
      if (header.binding == s.binding && !s.loaded) {
        s.loaded = header.status;
        s.loaded_at = s.heard;
      }
      return;
    case ShellKind::Finished:
      // A late or recorded report of an earlier run of this number acknowledges no later start.
      if (static_cast<int32_t>(header.acknowledge - s.started) <= 0) return;
      s.armed = false;
      if (frame.payload.size() >= ShellRun::kBits / 8)
        s.ended = {header.binding, {header.status, layout_of<ShellRun>(frame.payload)}};
      return;
    case ShellKind::Packet:
    case ShellKind::Credit: {
      if (header.binding != s.run) return;  // of an earlier run, whose packets had numbers of their own
      if (header.offset >= kMostStreams) return;
      auto& stream = s.streams[static_cast<uint32_t>(header.offset)];
      while (!stream.out.empty() && static_cast<int32_t>(header.acknowledge - stream.out_first) > 0) {
        stream.out.pop_front();
        stream.out_first++;
        stream.tries = 0;
        stream.sent_at = Clock::now();
      }
      if (static_cast<int32_t>(stream.out_sent - stream.out_first) < 0) stream.out_sent = stream.out_first;
      if (header.kind == ShellKind::Credit) {
        stream.out_limit = header.seq;
      } else {
        if (header.seq == stream.in_expected && stream.in.size() < 4 * kStreamWindow) {
          stream.in.emplace_back(frame.payload.begin(), frame.payload.end());
          stream.in_expected++;
        }
        stream.owe = true;
      }
      return;
    }
    default: break;
  }
  // An answer to a command. It acknowledges all commands before its own.
  const uint32_t seq = header.seq;
  while (!s.pending.empty() && static_cast<int32_t>(header.acknowledge - s.pending.front().seq) > 0) {
    const auto& first = s.pending.front();
    if (first.seq != seq && first.header.wants_answer && !s.answers.contains(first.seq)) break;  // its answer is lost
    s.pending.pop_front();
  }
  if (header.status != ShellStatus::Ok && header.kind == ShellKind::Stored && s.failed == ShellStatus::Ok &&
      static_cast<int32_t>(seq - s.writing) >= 0)
    s.failed = header.status;
  // The answer to a rejected write may be lost: each later one names the last rejected write and its status.
  if (header.kind == ShellKind::Stored && header.binding && s.failed == ShellStatus::Ok &&
      static_cast<int32_t>(static_cast<uint32_t>(header.binding) - s.writing) >= 0)
    s.failed = static_cast<ShellStatus>(header.binding >> 32);
  if (s.answers.contains(seq)) return;
  s.answers[seq] = {header.status, {frame.payload.begin(), frame.payload.end()}};
}

void Host::resend_due() {
  const auto now = Clock::now();
  // What goes to all boards is untagged and keeps no session, and an idle one has no frames: a credit of a stream that
  // no role has changes nothing.
  for (auto& [mac, s] : sessions_) {
    if (now - s->kept < s->keep_every) continue;
    s->kept = now;
    ShellHeader header;
    header.kind = ShellKind::Credit;
    header.session = s->nonce;
    header.offset = kNoStream;
    transmit({mac, port_->mac(), header, {}}, &*s->keyed);
  }
  // Boards whose broadcast was lost stay armed; the others ignore the next one.
  if (fires_left_ && now - fired_ > kResend &&
      std::ranges::any_of(sessions_, [](const auto& entry) { return entry.second->armed; }))
    fire();
  for (auto& [mac, one] : sessions_) {
    Session& s = *one;
    for (auto& command : s.pending) {
      if (now - command.sent < kResend * (1U << command.tries)) continue;
      command.sent = now;
      command.tries = std::min(command.tries + 1, kMostDoublings);
      // The last frame of the window asks for an answer, so that a lost answer to another is repaired.
      ShellHeader header = command.header;
      header.wants_answer = 1;
      transmit({s.mac, port_->mac(), header, command.payload}, &*s.keyed);
    }
    for (auto& [number, stream] : s.streams) {
      ShellHeader header;
      header.session = s.nonce;
      header.offset = number;
      header.binding = s.run;
      bool repeat = now - stream.sent_at > kResend * (1U << stream.tries);
      if (repeat && stream.out_sent != stream.out_first) {
        stream.out_sent = stream.out_first;
        stream.tries = std::min(stream.tries + 1, kMostDoublings);
      }
      // A packet without credit makes the board repeat its last credit, which may be lost.
      while (stream.out_sent - stream.out_first < stream.out.size() &&
             (static_cast<int32_t>(stream.out_limit - stream.out_sent) > 0 || std::exchange(repeat, false))) {
        header.kind = ShellKind::Packet;
        header.seq = stream.out_sent;
        header.acknowledge = stream.in_expected;
        transmit({s.mac, port_->mac(), header, stream.out[stream.out_sent - stream.out_first]}, &*s.keyed);
        stream.out_sent++;
        stream.sent_at = now;
        stream.owe = false;
      }
      if (stream.owe) {
        header.kind = ShellKind::Credit;
        header.seq = stream.in_expected + static_cast<uint32_t>(4 * kStreamWindow - stream.in.size());
        header.acknowledge = stream.in_expected;
        transmit({s.mac, port_->mac(), header, {}}, &*s.keyed);
        stream.owe = false;
      }
    }
  }
}

// ------------------------------------------------------------------------------------------------------ commands

uint32_t Host::issue(Session& s, ShellKind kind, uint64_t offset, uint64_t binding, std::span<const uint8_t> payload,
                     bool wants_answer) {
  const auto end = Clock::now() + milliseconds(kCommandTimeoutMs);
  while (s.pending.size() >= shell_command_window && Clock::now() < end && !s.lost) {
    receive_one(1);
    while (receive_one(0)) {
    }
    resend_due();
  }
  if (s.next == kNoCommand) {
    // The numbers of this session are used up: it must be opened again.
    s.lost = true;
    return kNoCommand;
  }
  Command command;
  command.seq = s.next++;
  command.header.kind = kind;
  command.header.session = s.nonce;
  command.header.seq = command.seq;
  command.header.offset = offset;
  command.header.binding = binding;
  command.header.wants_answer = wants_answer;
  command.payload.assign(payload.begin(), payload.end());
  command.sent = Clock::now();
  transmit({s.mac, port_->mac(), command.header, payload}, &*s.keyed);
  s.pending.push_back(std::move(command));
  return s.next - 1;
}

ShellStatus Host::complete(Session& s, uint32_t seq, unsigned timeout_ms, std::vector<uint8_t>* payload) {
  const auto end = Clock::now() + milliseconds(timeout_ms);
  while (!s.answers.contains(seq)) {
    if (Clock::now() >= end || s.lost) return s.lost ? ShellStatus::BadTag : ShellStatus::TimedOut;
    receive_one(5);
    while (receive_one(0)) {
    }
    resend_due();
  }
  auto& answer = s.answers[seq];
  const ShellStatus status = answer.status;
  if (payload) *payload = std::move(answer.payload);
  s.answers.erase(s.answers.begin(), s.answers.upper_bound(seq));
  return status;
}

ShellStatus Host::write(const Mac& board, uint64_t address, std::span<const uint8_t> bytes) {
  Session& s = session(board);
  // The second frame would have a small address, and would be sent before the first one is rejected.
  if (bytes.size() > 1 && address > ~uint64_t{0} - (bytes.size() - 1)) return ShellStatus::BadAddress;
  s.failed = ShellStatus::Ok;
  s.writing = s.next;
  const size_t part = part_bytes(board);
  uint32_t seq = 0;
  for (size_t at = 0; at < bytes.size() && s.failed == ShellStatus::Ok; at += part) {
    const size_t size = std::min(part, bytes.size() - at);
    const bool last = at + size == bytes.size() || (at / part) % (shell_command_window / 2) == 0;
    seq = issue(s, ShellKind::Write, address + at, 0, bytes.subspan(at, size), last);
    while (receive_one(0)) {
    }
    if (s.lost) return ShellStatus::BadTag;
  }
  const ShellStatus status = bytes.empty() ? ShellStatus::Ok : complete(s, seq, kCommandTimeoutMs);
  return s.failed != ShellStatus::Ok ? s.failed : status;
}

ShellStatus Host::fetch(const Mac& board, ShellKind kind, uint64_t address, uint64_t binding,
                        std::span<uint8_t> bytes) {
  Session& s = session(board);
  const size_t part = part_bytes(board);
  std::deque<std::pair<uint32_t, size_t>> asked;
  size_t at = 0;
  while (at < bytes.size() || !asked.empty()) {
    if (at < bytes.size() && asked.size() < shell_command_window) {
      ShellReadRequest request;
      request.bytes = static_cast<uint32_t>(std::min(part, bytes.size() - at));
      asked.emplace_back(issue(s, kind, address + at, binding, bytes_of(request), true), at);
      at += request.bytes;
      continue;
    }
    std::vector<uint8_t> payload;
    const auto [seq, place] = asked.front();
    asked.pop_front();
    const ShellStatus status = complete(s, seq, kCommandTimeoutMs, &payload);
    if (status != ShellStatus::Ok) return status;
    if (payload.size() != std::min(part, bytes.size() - place)) return ShellStatus::BadLength;
    std::copy(payload.begin(), payload.end(), bytes.begin() + static_cast<ptrdiff_t>(place));
  }
  return ShellStatus::Ok;
}

ShellStatus Host::read(const Mac& board, uint64_t address, std::span<uint8_t> bytes) {
  return fetch(board, ShellKind::Read, address, 0, bytes);
}

ShellStatus Host::write_registers(const Mac& board, std::span<const ShellRegisterWrite> entries) {
  std::vector<uint8_t> payload;
  for (const auto& entry : entries) {
    const auto bytes = bytes_of(entry);
    payload.insert(payload.end(), bytes.begin(), bytes.end());
  }
  Session& s = session(board);
  return complete(s, issue(s, ShellKind::Registers, 0, 0, payload, true), kCommandTimeoutMs);
}

ShellStatus Host::read_register(const Mac& board, uint32_t address, uint32_t& value) {
  Session& s = session(board);
  std::vector<uint8_t> payload;
  const ShellStatus status =
      complete(s, issue(s, ShellKind::AskRegister, address, 0, {}, true), kCommandTimeoutMs, &payload);
  if (status == ShellStatus::Ok && payload.size() >= 4) value = static_cast<uint32_t>(get(payload, 0, 4));
  return status;
}

ShellStatus Host::start(const Mac& board, uint32_t kernel, uint64_t run) {
  Session& s = session(board);
  s.ended.reset();
  s.streams.clear();
  s.run = run;
  s.started = issue(s, ShellKind::Start, kernel, run, {}, true);
  return complete(s, s.started, kCommandTimeoutMs);
}

std::map<Mac, ShellStatus> Host::start_all(std::span<const Mac> boards, uint32_t kernel, uint64_t run) {
  for (auto& byte : secret_) byte = static_cast<uint8_t>(random_() >> 24);
  const Digest hash = blake2s(secret_);
  std::map<Mac, uint32_t> asked;
  std::map<Mac, ShellStatus> statuses;
  for (const Mac& board : boards) {
    Session& s = session(board);
    s.ended.reset();
    s.streams.clear();
    s.run = run;
    asked[board] = s.started = issue(s, ShellKind::Arm, kernel, run, hash, true);
  }
  for (const auto& [board, seq] : asked) {
    statuses[board] = complete(session(board), seq, kCommandTimeoutMs);
    session(board).armed = statuses[board] == ShellStatus::Ok;
  }
  fires_left_ = kMostFires;
  fire();
  return statuses;
}

void Host::fire() {
  ShellHeader header;
  header.kind = ShellKind::Fire;
  transmit({kBroadcast, port_->mac(), header, secret_}, nullptr);
  fires_left_--;
  fired_ = Clock::now();
}

ShellStatus Host::wait(const Mac& board, uint64_t run, unsigned timeout_ms, ShellRun& end) {
  Session& s = session(board);
  const auto until = Clock::now() + milliseconds(timeout_ms);
  while (!s.ended || s.ended->first != run) {
    if (s.lost) return ShellStatus::BadTag;
    if (Clock::now() >= until) return ShellStatus::TimedOut;
    receive_one(10);
    while (receive_one(0)) {
    }
    resend_due();
  }
  end = s.ended->second.second;
  return s.ended->second.first;
}

ShellStatus Host::result(const Mac& board, uint64_t run, uint64_t offset, std::span<uint8_t> bytes) {
  return fetch(board, ShellKind::AskResult, offset, run, bytes);
}

ShellStatus Host::finish(const Mac& board, uint64_t run) {
  Session& s = session(board);
  return complete(s, issue(s, ShellKind::Finish, 0, run, {}, true), kCommandTimeoutMs);
}

ShellStatus Host::bind(const Mac& board, uint16_t link, const ShellLinkBinding& peer) {
  Session& s = session(board);
  return complete(s, issue(s, ShellKind::Bind, link, 0, bytes_of(peer), true), kCommandTimeoutMs);
}

ShellStatus Host::send(const Mac& board, uint32_t stream, std::span<const uint8_t> packet, unsigned timeout_ms) {
  Session& s = session(board);
  if (packet.size() > port_->mtu() - kHead) return ShellStatus::BadLength;
  auto& one = s.streams[stream];
  const auto end = Clock::now() + milliseconds(timeout_ms);
  while (one.out.size() >= kStreamWindow) {
    if (Clock::now() >= end) return ShellStatus::TimedOut;
    receive_one(1);
    while (receive_one(0)) {
    }
    resend_due();
  }
  one.out.emplace_back(packet.begin(), packet.end());
  resend_due();
  return ShellStatus::Ok;
}

std::optional<std::vector<uint8_t>> Host::receive(const Mac& board, uint32_t stream, unsigned timeout_ms) {
  Session& s = session(board);
  const auto end = Clock::now() + milliseconds(timeout_ms);
  while (s.streams[stream].in.empty()) {
    if (Clock::now() >= end) return std::nullopt;
    receive_one(5);
    while (receive_one(0)) {
    }
    resend_due();
  }
  auto& one = s.streams[stream];
  auto packet = std::move(one.in.front());
  one.in.pop_front();
  one.owe = true;
  return packet;
}

const ShellStatusReport* Host::status(const Mac& board) const {
  const auto at = sessions_.find(board);
  return at == sessions_.end() || !at->second->status ? nullptr : &*at->second->status;
}

// ------------------------------------------------------------------------------------------------------ configure

std::map<Mac, ConfigureResult> Host::configure(std::span<const Mac> boards, const Image& image,
                                               const ConfigureOptions& options) {
  const auto begun = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begun).count(); };
  std::map<Mac, ConfigureResult> results;
  if (options.unicast && boards.size() > 1) {
    for (const Mac& board : boards) {
      const double before = seconds();
      auto one = configure(std::span(&board, 1), image, options);
      one[board].seconds += before;
      results.merge(one);
    }
    return results;
  }
  size_t chunk_bytes = shell_chunk_bytes_9000;
  uint32_t credits = 8192;
  for (const Mac& board : boards) {
    chunk_bytes = std::min(chunk_bytes, part_bytes(board));
    if (const auto known = known_.find(board); known != known_.end())
      credits = std::min<uint32_t>(credits, known->second.about.credits);
  }
  credits = std::max<uint32_t>(credits, kLeastCredits);
  const uint32_t manifest_chunks = ceil_div(image.manifest.size(), chunk_bytes);
  const uint32_t chunks = manifest_chunks + ceil_div(image.body.size(), chunk_bytes);
  const uint64_t binding = get(image.root, 0, 8);
  const auto chunk_of = [&](uint32_t chunk) -> std::pair<std::span<const uint8_t>, size_t> {
    // The bytes that there are, and the chunk's size, to which zeros fill it up.
    const bool manifest = chunk < manifest_chunks;
    const std::span<const uint8_t> from = manifest ? std::span<const uint8_t>(image.manifest) : image.body;
    const size_t at = size_t{manifest ? chunk : chunk - manifest_chunks} * chunk_bytes;
    const size_t have = std::min<size_t>(chunk_bytes, from.size() - at);
    return {from.subspan(at, have), manifest ? chunk_bytes : have};
  };

  ShellImage about;
  about.body_bytes = image.body.size();
  about.board_type = image.board_type;
  about.chunk_bytes = static_cast<uint16_t>(chunk_bytes);
  about.auto_load = options.auto_load;
  about.chunks = chunks;
  about.manifest_bytes = static_cast<uint32_t>(image.manifest.size());
  for (unsigned i = 0; i < 4; i++) about.root.word[3 - i] = get(image.root, 8 * i, 8);

  std::vector<Session*> active;
  std::map<Mac, uint32_t> asked;
  for (const Mac& board : boards) {
    Session& s = session(board);
    s.binding = binding;
    s.missing.emplace(chunks);
    s.described = false;
    s.loaded.reset();
    s.silent = false;
    s.unanswered = 0;
    s.asked.clear();
    s.latency = {};
    s.probed = 0;
    asked[board] = s.begun = issue(s, ShellKind::Begin, 0, binding, bytes_of(about), true);
    s.least_missing = chunks;
    s.most_blocks = 0;
    s.progress = Clock::now();
  }
  // A board that does not answer for long after half of the others have is not waited for, and served last.
  const auto begin_sent = Clock::now();
  auto begin_until = begin_sent + milliseconds(options.drop_ms);
  for (bool half = false; Clock::now() < begin_until;) {
    const auto waiting = std::ranges::count_if(asked, [&](const auto& entry) {
      const Session& s = session(entry.first);
      return !s.answers.contains(entry.second) && !s.lost;
    });
    if (!waiting) break;
    if (!half && 2 * static_cast<size_t>(waiting) <= asked.size()) {
      half = true;
      const auto now = Clock::now();
      begin_until = std::min(begin_until, now + std::max<Clock::duration>(kLagging, 2 * (now - begin_sent)));
    }
    receive_one(2);
    while (receive_one(0)) {
    }
    resend_due();
  }
  /// Takes the boards that have accepted the image; those without an answer remain in `asked`.
  const auto accepted = [&](std::vector<Session*>& list, unsigned timeout_ms) {
    std::erase_if(asked, [&](const auto& entry) {
      Session& s = session(entry.first);
      const bool answered = s.answers.contains(entry.second) || s.lost;
      if (!answered && timeout_ms == 0) return false;
      const ShellStatus status = complete(s, entry.second, timeout_ms);
      // A confirmation that arrived before this answer is of an earlier configuration.
      s.loaded.reset();
      if (status == ShellStatus::Ok)
        list.push_back(&s);
      else
        results[entry.first] = {status, seconds()};
      return true;
    });
  };
  accepted(active, 0);
  const auto to = [&] { return active.size() == 1 ? active[0]->mac : options.group; };

  std::vector<uint8_t> payload;
  double pace = 0;
  const auto paced = [&](size_t bytes) {
    if (options.bytes_per_s <= 0) return;
    pace += static_cast<double>(bytes) / options.bytes_per_s;
    for (double ahead = pace - seconds(); ahead > 0; ahead = pace - seconds()) {
      receive_one(ahead > 0.002 ? 1 : 0);
      resend_due();
    }
  };
  std::vector<std::vector<uint8_t>> encoded(kBatch);
  std::vector<std::span<const uint8_t>> batch;
  const auto flush = [&] {
    port_->send_all(batch);
    for (const auto& frame : batch) {
      bytes_sent_ += frame.size();
      frames_sent_++;
      paced(frame.size());
    }
    batch.clear();
  };
  const auto send_data = [&](uint32_t chunk, const Mac& target) {
    auto [bytes, size] = chunk_of(chunk);
    if (bytes.size() < size) {
      payload.assign(bytes.begin(), bytes.end());
      payload.resize(size);
      bytes = payload;
    }
    ShellHeader header;
    header.kind = ShellKind::Data;
    header.binding = binding;
    header.offset = chunk;
    auto& out = encoded[batch.size()];
    encode({target, port_->mac(), header, bytes}, types_, nullptr, out);
    batch.emplace_back(out);
    if (batch.size() == kBatch || options.bytes_per_s > 0) flush();
  };
  const auto report_progress = [&](uint32_t sent) {
    if (options.progress) options.progress(sent, chunks, static_cast<unsigned>(results.size()));
  };

  // Flow control: a board answers a probe after all frames that were sent before it, so the answer says how far the
  // board is, whatever it has lost. The host is at most `credits` frames ahead of the boards that keep up. A board that
  // does not answer in time no longer holds up the others until it has caught up.
  uint32_t probe = 0;
  Clock::time_point probed_at{};
  const auto send_probe = [&](const Mac& target) {
    probe++;
    probed_at = Clock::now();
    ShellHeader header;
    header.kind = ShellKind::Query;
    header.binding = binding;
    header.seq = kProbe | probe;
    header.offset = chunks - 1;
    transmit({target, port_->mac(), header, {}}, nullptr);
  };
  const auto flow = [&](const Mac& target) {
    const uint32_t wanted = probe < kProbesAhead ? 0 : probe - kProbesAhead + 1;
    send_probe(target);
    const auto begin_wait = Clock::now();
    auto again = kProbeAgain;
    Clock::duration half_wait{};  // until half of the boards had arrived here
    const auto waits = [&] {
      return std::ranges::any_of(active, [&](Session* s) { return !s->silent && !s->loaded && s->probed < wanted; });
    };
    for (Session* s : active) s->silent = s->silent && s->probed < wanted;
    while (waits()) {
      receive_one(1);
      while (receive_one(0)) {
      }
      resend_due();
      const auto now = Clock::now();
      const auto arrived = std::ranges::count_if(active, [&](Session* s) { return s->loaded || s->probed >= wanted; });
      if (2 * static_cast<size_t>(arrived) < active.size()) half_wait = now - begin_wait;
      if (now - begin_wait > std::max<Clock::duration>(kLagging, 4 * half_wait))
        for (Session* s : active) s->silent = s->silent || s->probed < wanted;
      else if (now - probed_at > again) {
        send_probe(target);
        again = std::min(2 * again, kMostProbeAgain);  // probes cost a slow board time, too
      }
    }
  };

  if (options.bytes_per_s > 0) pace = seconds();
  for (uint32_t chunk = 0; chunk < chunks && !active.empty(); chunk++) {
    send_data(chunk, to());
    if (chunk % 64 == 63) {
      while (receive_one(0)) {
      }
      resend_due();
      report_progress(chunk);
    }
    if (chunk % (credits / kProbesAhead) == credits / kProbesAhead - 1) {
      flush();
      resend_due();
      flow(to());
    }
  }
  flush();
  // To send all chunks once may take longer than a board may be without progress.
  for (Session* s : active) s->progress = Clock::now();

  uint32_t round = static_cast<uint32_t>(random_()) & ~kProbe >> 1;
  std::vector<Session*> slow, fruitless;
  const auto settle = [&] {
    for (auto list : {&active, &slow})
      std::erase_if(*list, [&](Session* s) {
        std::optional<ShellStatus> end = s->loaded;
        if (!end && s->lost) end = ShellStatus::BadTag;
        if (!end && !options.auto_load && s->reported && s->missing->count == 0) end = ShellStatus::Ok;
        if (!end && Clock::now() - s->heard > milliseconds(options.drop_ms)) end = ShellStatus::TimedOut;
        // Blocks whose hashes never agree: a board with a defect, or a sender of forged chunks.
        if (s->reported && s->missing->count < s->least_missing) {
          s->least_missing = s->missing->count;
          s->progress = Clock::now();
        }
        if (!end && Clock::now() - s->progress > kFruitless * milliseconds(options.drop_ms)) {
          end = ShellStatus::BadImage;
          fruitless.push_back(s);
        }
        const std::chrono::duration<double> taken = (s->loaded ? s->loaded_at : Clock::now()) - begun;
        if (end) results[s->mac] = {*end, taken.count()};
        return end.has_value();
      });
  };
  /// Asks the boards of a list for what they miss, until all have answered or `wait` has passed.
  const auto query = [&](std::vector<Session*>& list, const Mac& target, milliseconds wait) {
    round++;
    // Answers come in about the time of the ones before. A silent board may have lost the query, or be slow: then its
    // queue holds older queries, which it answers first, and more of them would only make it longer.
    const bool alone = std::ranges::all_of(list, [](Session* s) { return s->silent; });
    Clock::duration usual{};
    bool known = true;
    for (Session* s : list) {
      usual = std::max({usual, 4 * s->latency, Clock::duration(milliseconds(20)) * (1 << std::min(3U, s->unanswered))});
      known = known && s->latency != Clock::duration{};
    }
    if (known || alone)
      wait =
          std::min({std::chrono::duration_cast<milliseconds>(usual), alone ? milliseconds(options.drop_ms / 2) : wait});
    for (Session* s : list) {
      s->round = round;
      s->reported_to = 0;
      s->reported = false;
    }
    ShellHeader header;
    header.kind = ShellKind::Query;
    header.binding = binding;
    header.seq = round;
    transmit({target, port_->mac(), header, {}}, nullptr);
    const auto asked_at = Clock::now();
    for (Session* s : list) s->asked[round] = asked_at;
    auto until = asked_at + wait;
    // Losses of boards that report together are repaired together, so it pays to wait; but not again for a silent one,
    // and not for long once half of them have answered.
    bool half = false;
    const auto expected = [&](Session* s) { return !s->reported && !s->loaded && (alone || !s->silent); };
    while (Clock::now() < until) {
      const auto waiting = std::ranges::count_if(list, expected);
      if (!waiting) break;
      if (!half && 2 * static_cast<size_t>(waiting) <= list.size()) {
        half = true;
        const auto now = Clock::now();
        until = std::min(until, now + std::max<Clock::duration>(milliseconds(20), 2 * (now - asked_at)));
      }
      receive_one(2);
      while (receive_one(0)) {
      }
      resend_due();
      report_progress(chunks);
    }
    for (Session* s : list) {
      s->silent = !s->reported && !s->loaded;
      s->unanswered = s->silent ? s->unanswered + 1 : 0;
    }
    settle();
  };
  /// Sends what the boards of a list miss: XORs of chunks of which each board misses at most one.
  const auto repair = [&](std::vector<Session*>& list, const Mac& target, uint32_t most) {
    std::vector<Session*> with;
    for (Session* s : list)
      if (s->reported && s->missing->count) with.push_back(s);
    std::vector<uint32_t> at(with.size(), 0);
    uint32_t sent = 0;
    while (sent < most) {
      uint32_t numbers[shell_repair_max_chunks];
      unsigned count = 0;
      std::vector<bool> served(with.size(), false);
      for (size_t b = 0; b < with.size() && count < shell_repair_max_chunks; b++) {
        if (served[b]) continue;
        // The first chunk of this board that no served board misses.
        uint32_t chunk = with[b]->missing->next(at[b], chunks);
        at[b] = chunk;
        for (unsigned tries = 0; chunk < chunks && tries < 16; tries++) {
          bool clash = false;
          for (size_t o = 0; o < with.size() && !clash; o++) clash = served[o] && with[o]->missing->has(chunk);
          if (!clash) break;
          chunk = tries == 15 ? chunks : with[b]->missing->next(chunk + 1, chunks);
        }
        if (chunk >= chunks) continue;
        numbers[count++] = chunk;
        for (size_t o = 0; o < with.size(); o++)
          if (with[o]->missing->has(chunk)) served[o] = true;
      }
      if (!count) break;
      for (unsigned i = 0; i < count; i++)
        for (Session* s : with) s->missing->set(numbers[i], false);
      if (count == 1) {
        send_data(numbers[0], target);
      } else {
        payload.assign(4 * shell_repair_max_chunks + chunk_bytes, 0);
        for (unsigned i = 0; i < shell_repair_max_chunks; i++)
          for (unsigned k = 0; k < 4; k++)
            payload[4 * i + k] = static_cast<uint8_t>((i < count ? numbers[i] : kNoChunk) >> (24 - 8 * k));
        for (unsigned i = 0; i < count; i++) {
          const auto [bytes, size] = chunk_of(numbers[i]);
          for (size_t k = 0; k < bytes.size(); k++) payload[4 * shell_repair_max_chunks + k] ^= bytes[k];
        }
        ShellHeader header;
        header.kind = ShellKind::Repair;
        header.binding = binding;
        flush();
        transmit({target, port_->mac(), header, payload}, nullptr);
        paced(payload.size() + shell_frame_header_bytes);
      }
      if (++sent % 32 == 0)
        while (receive_one(0)) {
        }
      if (sent % (credits / kProbesAhead) == 0) {
        flush();
        flow(target);
      }
    }
    flush();
  };

  while (!active.empty()) {
    query(active, to(), milliseconds(500));
    // Boards that miss far more than the others wait until these are done.
    const bool any_done =
        std::ranges::any_of(results, [](const auto& r) { return r.second.status == ShellStatus::Ok; });
    if (active.size() > 1 || any_done) {
      uint32_t least = any_done ? 0 : chunks;
      for (Session* s : active)
        if (s->reported) least = std::min(least, s->missing->count);
      for (Session* s : active)
        if (s->reported && s->missing->count > least + chunks * options.slow_share) slow.push_back(s);
      std::erase_if(active, [&](Session* s) { return std::ranges::find(slow, s) != slow.end(); });
    }
    if (!active.empty()) repair(active, to(), chunks);
    report_progress(chunks);
    settle();
    for (Session* s : slow) s->heard = s->progress = Clock::now();
  }
  const auto unanswered = [&] {
    return std::ranges::any_of(asked, [&](const auto& entry) {
      const Session& s = session(entry.first);
      return !s.answers.contains(entry.second) && !s.lost;
    });
  };
  while (seconds() * 1000 < options.drop_ms && unanswered()) {
    receive_one(2);
    while (receive_one(0)) {
    }
    resend_due();
    report_progress(chunks);
  }
  accepted(slow, 1);
  for (Session* s : slow) s->heard = Clock::now();
  // Each slow board alone, in bursts that it can take: after a burst it reports, so its loss sets the next one's size.
  while (!slow.empty()) {
    std::vector<Session*> one = {slow.front()};
    const uint32_t least_burst = std::min<uint32_t>(16, credits);
    uint32_t burst = 64, before = chunks;
    while (!one.empty()) {
      query(one, one[0]->mac, milliseconds(200));
      if (std::ranges::find(slow, one[0]) == slow.end()) break;
      if (!one[0]->reported) continue;
      const uint32_t missing = one[0]->missing->count;
      // A ring that overflows keeps few frames of a burst; a network that loses some is no reason for short bursts.
      const uint32_t got = before - std::min(before, missing);
      if (before < chunks && 4 * got >= 3 * burst) burst *= 2;
      if (before < chunks && 4 * got < burst) burst = std::max(least_burst, burst / 2);
      before = missing;
      repair(one, one[0]->mac, burst);
      report_progress(chunks);
    }
  }
  // A board that the host has given up must not load the image later.
  for (Session* s : fruitless) {
    complete(*s, issue(*s, ShellKind::Abort, 0, binding, {}, true), options.drop_ms);
    if (s->loaded) results[s->mac].status = *s->loaded;
  }
  return results;
}

}  // namespace gossamer::shell
