// SPDX-License-Identifier: Apache-2.0
#include "shell/control.h"

#include "shell/blake2s_core.h"

namespace gossamer::shell {
namespace {

constexpr uint64_t kAnnounceEvery = 1000, kHeartbeatEvery = 1000, kComplainEvery = 10, kSolicitEvery = 100;
constexpr uint64_t kTellEvery = 100;  // milliseconds
constexpr uint32_t kLeastLease = 100;
constexpr uint32_t kNoCommand = ~uint32_t{0};
constexpr uint64_t kBroadcast = 0xFFFF'FFFF'FFFF;
constexpr uint64_t kGroup = uint64_t{1} << 40;
constexpr uint32_t kReadRequestBytes = ShellReadRequest::kBits / 8;
constexpr uint32_t kReportHead = ShellReport::kBits / 8;
constexpr uint32_t kReportMost = 1024;  // bytes of a report's bitmap: room that every board has
constexpr uint32_t kOverhead = shell_frame_header_bytes - 14;

uint32_t ceil_div(uint64_t a, uint32_t b) { return static_cast<uint32_t>((a + b - 1) / b); }
uint32_t least(uint64_t a, uint64_t b) { return static_cast<uint32_t>(a < b ? a : b); }

template <class Layout>
void to_bytes(const Layout& layout, uint8_t* to) {
  constexpr unsigned kBytes = Layout::kBits / 8;
  const auto words = layout.pack();
  for (unsigned i = 0; i < kBytes; i++)
    to[i] = static_cast<uint8_t>(words.word[(kBytes - 1 - i) / 8] >> (8 * ((kBytes - 1 - i) % 8)));
}

template <class Layout>
Layout of_bytes(const uint8_t* from) {
  constexpr unsigned kBytes = Layout::kBits / 8;
  Words<Layout::kBits> words;
  for (unsigned i = 0; i < kBytes; i++)
    words.word[(kBytes - 1 - i) / 8] |= static_cast<uint64_t>(from[i]) << (8 * ((kBytes - 1 - i) % 8));
  return Layout::unpack(words);
}

}  // namespace

Control::Control(const Identity& identity, Platform& platform) : identity_(identity), platform_(platform) {
  new_challenge();
}

void Control::new_challenge() {
  do challenge_ = platform_.random();
  while (challenge_ == 0);
}

void Control::link_up() { announce(kBroadcast); }

ShellState Control::at_rest() const {
  if (!session_) return ShellState::Free;
  return has_role_ ? ShellState::Ready : ShellState::Owned;
}

// ------------------------------------------------------------------------------------------------------ answers

void Control::send(ShellKind kind, uint64_t to, ShellHeader header, const uint8_t* payload, uint32_t length) {
  header.kind = kind;
  if (kind != ShellKind::Announce && header.session == 0) header.session = session_;
  const bool plain = kind == ShellKind::Announce || kind == ShellKind::Status || kind == ShellKind::Error || !session_;
  counters_.frames_sent++;
  platform_.transmit(to, header, payload, length, plain ? Seal::None : Seal::Session);
}

ShellHeader Control::header_for(const Request& request, ShellKind kind, ShellStatus status) {
  if (status != ShellStatus::Ok) counters_.rejected++;
  ShellHeader header;
  header.status = status;
  header.seq = request.header.seq;
  header.offset = request.header.offset;
  header.binding = request.header.binding;
  if (kind == ShellKind::Stored) header.binding = rejected_;
  header.acknowledge = expected_;
  answers_[request.header.seq % shell_command_window] = {request.header.seq, kind, status};
  return header;
}

void Control::answer(const Request& request, ShellKind kind, ShellStatus status, const uint8_t* payload,
                     uint32_t length) {
  send(kind, request.from, header_for(request, kind, status), payload, length);
}

void Control::error(const Request& frame, ShellStatus status) {
  const uint64_t now = platform_.now();
  if ((complained_ever_ && now - complained_ < kComplainEvery) || frame.from & kGroup) return;
  complained_ = now;
  complained_ever_ = true;
  ShellHeader header;
  header.status = status;
  header.seq = frame.header.seq;
  header.offset = static_cast<uint64_t>(frame.header.kind);
  header.binding = frame.header.binding;
  header.session = frame.header.session;
  header.acknowledge = expected_;
  send(ShellKind::Error, frame.from, header, nullptr, 0);
}

void Control::announce(uint64_t to) {
  announced_ = platform_.now();
  ShellAnnounce about;
  about.mac0 = identity_.mac;
  about.vendor = identity_.vendor;
  about.product = identity_.product;
  about.board_type = identity_.board_type;
  about.serial = identity_.serial;
  about.owner = session_ ? owner_ : 0;
  about.state = state_;
  about.mtu = identity_.mtu;
  about.credits = identity_.credits;
  about.sink_rate = identity_.sink_rate;
  about.image_max = static_cast<uint32_t>(identity_.image_max >> 10);
  for (unsigned i = 0; i < 16; i++) about.role.word[1 - i / 8] |= uint64_t{role_root_[i]} << (56 - 8 * (i % 8));
  about.memory_bytes = identity_.memory_bytes;
  about.boot = identity_.boot;
  about.streams = has_role_ ? platform_.streams() : uint16_t{0};
  ShellHeader header;
  header.session = challenge_;
  alignas(4) uint8_t payload[ShellAnnounce::kBits / 8];
  to_bytes(about, payload);
  send(ShellKind::Announce, to, header, payload, sizeof payload);
}

void Control::send_status(ShellKind kind, uint64_t to, ShellHeader header) {
  ShellStatusReport report = counters_;
  report.state = state_;
  report.temperature = 0xFFFF;
  report.power = 0xFFFF;
  report.uptime = platform_.now();
  platform_.count(report);
  alignas(4) uint8_t payload[ShellStatusReport::kBits / 8];
  to_bytes(report, payload);
  send(kind, to, header, payload, sizeof payload);
}

// ------------------------------------------------------------------------------------------------------ requests

void Control::seen() {
  counters_.frames_received++;
  if (seen_any_) return;
  // As in the paper: the first frame that a board sees shows it that it is on a network.
  seen_any_ = true;
  announce(kBroadcast);
}

void Control::dropped(const Request& frame, bool version) {
  counters_.bad_frames++;
  if (version) error(frame, ShellStatus::BadVersion);
}

void Control::handle(const Request& frame) {
  switch (frame.header.kind) {
    case ShellKind::Solicit:
      // A flood of requests causes one answer in 100 ms, and the last request is answered too.
      soliciting_ = frame.from & kGroup ? kBroadcast : frame.from;
      return tick();
    case ShellKind::AskStatus: return send_status(ShellKind::Status, frame.from, {});
    case ShellKind::Open: return open(frame);
    case ShellKind::Data:
      if (receiving(frame)) platform_.image_data(frame);
      return;
    case ShellKind::Repair:
      if (receiving(frame)) platform_.image_repair(frame);
      return;
    case ShellKind::Query: return reports(frame);
    case ShellKind::Fire: return fire(frame);
    case ShellKind::Announce:
    case ShellKind::Error:
    case ShellKind::Status:  // of other boards
    case ShellKind::LinkFrame: return;
    default: break;
  }
  if (frame.to != identity_.mac) return;
  if (!session_ || frame.header.session != session_ || frame.from != owner_ || !frame.authentic) {
    counters_.bad_tags++;
    return error(frame, ShellStatus::BadTag);
  }
  heard_ = platform_.now();
  if (frame.header.kind == ShellKind::Packet || frame.header.kind == ShellKind::Credit) return message(frame);
  command(frame);
}

bool Control::by_board(const Request& frame, const uint8_t* key) const {
  uint8_t head[shell_frame_header_bytes], digest[32];
  // The tag covers the headers with check and tag, the last twelve bytes, as zeros.
  for (unsigned i = 0; i < sizeof head; i++) head[i] = i < sizeof head - 12 ? frame.bytes[i] : uint8_t{0};
  SmallHash hash(key);
  hash.add(head, sizeof head);
  hash.add(frame.payload(), frame.header.length);
  hash.finish(digest);
  uint8_t differ = 0;
  for (unsigned i = 0; i < 8; i++) differ |= digest[i] ^ frame.bytes[sizeof head - 8 + i];
  return differ == 0;
}

void Control::open(const Request& frame) {
  if (frame.header.length != ShellOpen::kBits / 8 || frame.to != identity_.mac) {
    counters_.bad_frames++;
    return;
  }
  const auto wanted = of_bytes<ShellOpen>(frame.payload());
  ShellHeader header;
  // The host has not received the answer: the session that it opened is there.
  if (session_ && wanted.nonce == session_ && frame.from == owner_) {
    if (!by_board(frame, identity_.key)) {
      counters_.bad_tags++;
      return;
    }
    header.acknowledge = expected_;
    return send_status(ShellKind::Opened, frame.from, header);
  }
  // The tag is computed last, because that takes the firmware a while.
  const bool expected = frame.header.session == challenge_ && wanted.nonce != 0;
  const bool by_key = expected && by_board(frame, identity_.key);
  const bool by_next = expected && !by_key && identity_.has_next_key && by_board(frame, identity_.next_key);
  if (!by_key && !by_next) {
    counters_.bad_tags++;
    return error(frame, ShellStatus::BadTag);
  }
  const uint64_t now = platform_.now();
  if (session_ && frame.from != owner_ && !frame.header.take_over && now - heard_ < lease_ms_) {
    header.kind = ShellKind::Opened;
    header.session = wanted.nonce;
    header.status = ShellStatus::NotOwner;
    header.binding = owner_;
    counters_.frames_sent++;
    return platform_.transmit(frame.from, header, nullptr, 0, Seal::Board);
  }
  if (session_) end_session(false);
  if (by_next) {
    // The host has the next key, so the old one is no longer accepted.
    for (unsigned i = 0; i < shell_key_bytes; i++) identity_.key[i] = identity_.next_key[i];
    identity_.has_next_key = false;
    platform_.keep_keys(identity_.key, nullptr);
  }
  session_ = wanted.nonce;
  owner_ = frame.from;
  lease_ms_ = wanted.lease < kLeastLease ? kLeastLease : wanted.lease;
  uint8_t key[32];
  SmallHash hash(identity_.key);
  hash.add_number(identity_.mac, 6);
  hash.add_number(owner_, 6);
  hash.add_number(challenge_, 8);
  hash.add_number(session_, 8);
  hash.finish(key);
  platform_.session_key(key);
  new_challenge();
  expected_ = 1;
  rejected_ = 0;
  for (auto& known : answers_) known = {};
  heard_ = now;
  if (state_ != ShellState::Loading) state_ = at_rest();
  header.acknowledge = expected_;
  send_status(ShellKind::Opened, frame.from, header);
}

void Control::rekey(const Request& frame) {
  constexpr uint8_t kText[] = {'g', 'o', 's', 's', 'a', 'm', 'e', 'r', '-', 'r', 'e', 'k', 'e', 'y'};
  const auto reply = [&](ShellStatus status) { answer(frame, ShellKind::Rekeyed, status); };
  if (frame.header.length != shell_key_bytes) return reply(ShellStatus::BadLength);
  uint8_t next[shell_key_bytes];
  SmallHash hash(identity_.key);
  hash.add(frame.payload(), shell_key_bytes);
  hash.add(kText, sizeof kText);
  hash.finish(next);
  if (!platform_.keep_keys(identity_.key, next)) return reply(ShellStatus::ConfigFailed);
  for (unsigned i = 0; i < shell_key_bytes; i++) identity_.next_key[i] = next[i];
  identity_.has_next_key = true;
  reply(ShellStatus::Ok);
}

void Control::command(const Request& frame) {
  const uint32_t seq = frame.header.seq;
  const ShellKind kind = frame.header.kind;
  // Numbers are those from 1 to 2^32 - 2. After the last one nothing is executed: a number that came again would let
  // recorded commands be executed again.
  if (seq == expected_ && seq != kNoCommand) {
    expected_++;
  } else if (const uint32_t age = expected_ - seq; age != 0 && age <= shell_command_window && age < expected_) {
    // A command again: its answer was lost. It is not executed twice; reads have no effect, so their answer is new.
    counters_.replays++;
    if (kind != ShellKind::Read && kind != ShellKind::AskRegister && kind != ShellKind::AskResult) {
      Answer known = answers_[seq % shell_command_window];
      // Only writes that the hardware has executed have no entry.
      if (known.seq != seq) known = {seq, ShellKind::Stored, ShellStatus::Ok};
      ShellHeader header;
      header.status = known.status;
      header.seq = seq;
      header.offset = frame.header.offset;
      header.binding = known.kind == ShellKind::Stored ? rejected_ : frame.header.binding;
      header.acknowledge = expected_;
      return send(known.kind, frame.from, header, nullptr, 0);
    }
  } else {
    counters_.replays += age < expected_ && age != 0;
    return error(frame, ShellStatus::OutOfSequence);
  }
  switch (kind) {
    case ShellKind::Rekey: return rekey(frame);
    case ShellKind::Begin: return begin(frame);
    case ShellKind::Load: return load(frame);
    case ShellKind::Abort: return abort(frame);
    case ShellKind::Write: return write(frame);
    case ShellKind::Read: return read(frame);
    case ShellKind::Registers: return registers(frame);
    case ShellKind::AskRegister: return ask_register(frame);
    case ShellKind::Start: return start(frame);
    case ShellKind::Arm: return arm(frame);
    case ShellKind::AskResult: return ask_result(frame);
    case ShellKind::Finish: return finish(frame);
    case ShellKind::Bind: return bind(frame);
    case ShellKind::Close: answer(frame, ShellKind::Closed, ShellStatus::Ok); return end_session(true);
    default: return answer(frame, ShellKind::Done, ShellStatus::UnknownKind);
  }
}

// ------------------------------------------------------------------------------------------------------ images

bool Control::receiving(const Request& frame) const {
  return state_ == ShellState::Receiving && frame.header.binding == binding_;
}

uint32_t Control::chunk_size(uint32_t chunk) const {
  return chunk + 1 == image_.chunks ? last_chunk_bytes_ : image_.chunk_bytes;
}

void Control::begin(const Request& frame) {
  const auto reply = [&](ShellStatus status) { answer(frame, ShellKind::Begun, status); };
  if (frame.header.length != ShellImage::kBits / 8) return reply(ShellStatus::BadLength);
  if (state_ == ShellState::Running || state_ == ShellState::Armed || state_ == ShellState::Loading)
    return reply(ShellStatus::OutOfOrder);
  const auto image = of_bytes<ShellImage>(frame.payload());
  if (image.board_type != identity_.board_type || image.body_bytes == 0 || image.body_bytes > identity_.image_max)
    return reply(ShellStatus::BadImage);
  if (image.chunk_bytes == 0 || image.chunk_bytes % 64 || kOverhead + image.chunk_bytes > identity_.mtu)
    return reply(ShellStatus::BadLength);
  const uint32_t blocks = ceil_div(image.body_bytes, uint32_t{1} << shell_block_bytes_log2);
  const uint32_t manifest_chunks = ceil_div(image.manifest_bytes, image.chunk_bytes);
  if (image.manifest_bytes != blocks * shell_block_hash_bytes ||
      image.chunks != manifest_chunks + ceil_div(image.body_bytes, image.chunk_bytes))
    return reply(ShellStatus::BadImage);
  if (state_ == ShellState::Results) stop_run();
  image_ = image;
  binding_ = image.root.word[3];
  manifest_chunks_ = manifest_chunks;
  const uint64_t before = uint64_t{image.chunks - 1 - manifest_chunks} * image.chunk_bytes;
  last_chunk_bytes_ = static_cast<uint32_t>(image.body_bytes - before);
  const ShellStatus status = platform_.image_begin(image);
  state_ = status == ShellStatus::Ok ? ShellState::Receiving : at_rest();
  reply(status);
}

void Control::verified() {
  state_ = ShellState::Verified;
  if (!image_.auto_load) return;
  state_ = ShellState::Loading;
  platform_.image_load();
}

void Control::loaded(ShellStatus status) {
  if (status == ShellStatus::Ok) {
    has_role_ = true;
    for (unsigned i = 0; i < 16; i++)
      role_root_[i] = static_cast<uint8_t>(image_.root.word[3 - i / 8] >> (56 - 8 * (i % 8)));
  }
  ShellHeader header;
  header.binding = ended_binding_ = binding_;
  header.status = ended_status_ = status;
  header.acknowledge = expected_;
  has_ended_ = true;
  state_ = at_rest();
  if (session_) send(ShellKind::Loaded, owner_, header, nullptr, 0);
}

void Control::suspend_role() {
  if (suspended_) return;
  suspended_ = true;
  kept_role_ = has_role_;
  has_role_ = false;
  if (state_ == ShellState::Running) {
    platform_.stop();
    result_ = {};
    code_ = ~uint32_t{0};
    state_ = ShellState::Results;
    told_ever_ = false;
  } else if (state_ == ShellState::Ready || state_ == ShellState::Armed) {
    state_ = at_rest();
  }
}

void Control::restore_role(const uint8_t* root) {
  suspend_role();
  suspended_ = false;
  has_role_ = kept_role_ || root;
  for (unsigned i = 0; root && i < sizeof role_root_; i++) role_root_[i] = root[i];
  if (state_ == ShellState::Owned) state_ = at_rest();
}

void Control::load(const Request& frame) {
  if (state_ != ShellState::Verified || frame.header.binding != binding_)
    return answer(frame, ShellKind::Begun, ShellStatus::OutOfOrder);
  answer(frame, ShellKind::Begun, ShellStatus::Ok);
  state_ = ShellState::Loading;
  platform_.image_load();
}

void Control::abort(const Request& frame) {
  if (state_ != ShellState::Receiving && state_ != ShellState::Verified)
    return answer(frame, ShellKind::Begun, ShellStatus::OutOfOrder);
  platform_.image_discard();
  state_ = at_rest();
  answer(frame, ShellKind::Begun, ShellStatus::Ok);
}

void Control::reports(const Request& query) {
  ShellHeader header;
  header.binding = query.header.binding;
  const bool known = state_ == ShellState::Receiving || state_ == ShellState::Verified || state_ == ShellState::Loading;
  if (!known || query.header.binding != binding_) {
    // The image may have ended already, or this board has been reset and does not know it.
    if (!session_) return;
    const bool ended = has_ended_ && ended_binding_ == query.header.binding;
    header.status = ended ? ended_status_ : ShellStatus::OutOfOrder;
    // Shows to which `begin` this belongs: an earlier answer about the same image proves nothing.
    header.acknowledge = expected_;
    return send(ShellKind::Loaded, query.from, header, nullptr, 0);
  }
  ShellReport report;
  report.state = state_;
  report.missing = platform_.image_missing();
  report.blocks = platform_.image_blocks_good();
  header.seq = query.header.seq;
  const uint32_t most =
      32 * (least(least(image_.chunk_bytes, kReportMost), identity_.mtu - kOverhead - kReportHead) / 4);
  // 32 chunks at a time: an image has up to 131,072, and other frames wait meanwhile.
  uint32_t next = least(query.header.offset, image_.chunks);
  const auto skip = [&] {
    if (next % 32 && next < image_.chunks) {
      if (~platform_.image_chunks(next / 32) << next % 32) return void(next -= next % 32);
      next += 32 - next % 32;
    }
    while (next < image_.chunks && platform_.image_chunks(next / 32) == ~uint32_t{0}) next += 32;
    next = least(next, image_.chunks);
  };
  if (report.missing == 0) next = image_.chunks;
  skip();
  do {
    alignas(4) uint8_t payload[kReportHead + kReportMost];
    report.base = next;
    to_bytes(report, payload);
    const uint32_t end = least(image_.chunks, uint64_t{next} + most), bytes = (end - next + 7) / 8;
    for (uint32_t i = 0; i < bytes; i += 4) {
      const uint32_t missing = ~platform_.image_chunks(next / 32 + i / 4);
      for (uint32_t k = 0; k < 4; k++) payload[kReportHead + i + k] = static_cast<uint8_t>(missing >> (24 - 8 * k));
    }
    next = end;
    skip();
    header.last = next == image_.chunks;
    send(ShellKind::Report, query.from, header, payload, kReportHead + bytes);
  } while (next < image_.chunks);
}

// ------------------------------------------------------------------------------------------------------ memory

void Control::write(const Request& frame) {
  const uint64_t at = frame.header.offset, bytes = frame.header.length;
  auto status = ShellStatus::Ok;
  if (!has_role_)
    status = ShellStatus::NoRole;
  else if (state_ == ShellState::Running || state_ == ShellState::Loading)
    status = ShellStatus::OutOfOrder;
  else if (at > identity_.memory_bytes || bytes > identity_.memory_bytes - at)
    status = ShellStatus::BadAddress;
  else
    platform_.store(at, frame.payload(), frame.header.length);
  counters_.memory_frames += status == ShellStatus::Ok;
  // The answer to this write may be lost, and the answer to a later command acknowledges it.
  if (status != ShellStatus::Ok) rejected_ = static_cast<uint64_t>(status) << 32 | frame.header.seq;
  if (status == ShellStatus::Ok && !frame.header.wants_answer) {
    answers_[frame.header.seq % shell_command_window] = {frame.header.seq, ShellKind::Stored, status};
    return;
  }
  answer(frame, ShellKind::Stored, status);
}

void Control::stored(uint32_t next) {
  const uint32_t writes = next - expected_;
  // The hardware's number is older while the firmware executes a command.
  if (static_cast<int32_t>(writes) <= 0) return;
  heard_ = platform_.now();
  counters_.memory_frames += writes;
  expected_ = next;
}

void Control::answer_stored(const Request& frame) {
  const uint32_t next = frame.header.seq + 1;
  stored(next);
  // The session may have ended since the hardware executed the write.
  if (frame.header.session != session_) return;
  ShellHeader header;
  header.seq = frame.header.seq;
  header.offset = frame.header.offset;
  header.binding = rejected_;
  // The hardware may have executed later writes too; the answer is the same whether it has or not.
  header.acknowledge = next;
  send(ShellKind::Stored, owner_, header, nullptr, 0);
}

void Control::read(const Request& frame) {
  const auto reply = [&](ShellStatus status) { answer(frame, ShellKind::ReadData, status); };
  if (frame.header.length != kReadRequestBytes) return reply(ShellStatus::BadLength);
  const uint64_t at = frame.header.offset, bytes = of_bytes<ShellReadRequest>(frame.payload()).bytes;
  if (bytes > identity_.mtu - kOverhead) return reply(ShellStatus::BadLength);
  if (at > identity_.memory_bytes || bytes > identity_.memory_bytes - at) return reply(ShellStatus::BadAddress);
  ShellHeader header = header_for(frame, ShellKind::ReadData, ShellStatus::Ok);
  header.kind = ShellKind::ReadData;
  header.session = session_;
  counters_.frames_sent++;
  platform_.transmit_memory(frame.from, header, at, static_cast<uint32_t>(bytes));
}

// ------------------------------------------------------------------------------------------------------ kernels

void Control::registers(const Request& frame) {
  constexpr uint32_t kEntry = ShellRegisterWrite::kBits / 8;
  const auto reply = [&](ShellStatus status) { answer(frame, ShellKind::Done, status); };
  if (frame.header.length == 0 || frame.header.length % kEntry) return reply(ShellStatus::BadLength);
  if (!has_role_) return reply(ShellStatus::NoRole);
  if (state_ != ShellState::Ready && state_ != ShellState::Results) return reply(ShellStatus::OutOfOrder);
  // All or none: a wrong address in the list changes nothing.
  for (unsigned pass = 0; pass < 2; pass++)
    for (uint32_t at = 0; at < frame.header.length; at += kEntry) {
      const auto entry = of_bytes<ShellRegisterWrite>(frame.payload() + at);
      if (!platform_.has_register(entry.address)) return reply(ShellStatus::BadAddress);
      if (pass == 1 && !platform_.write_register(entry.address, entry.data)) return reply(ShellStatus::NoRole);
    }
  reply(ShellStatus::Ok);
}

void Control::ask_register(const Request& frame) {
  const uint64_t at = frame.header.offset;
  if (!has_role_) return answer(frame, ShellKind::Register, ShellStatus::NoRole);
  if (at >> 32 || !platform_.has_register(static_cast<uint32_t>(at)))
    return answer(frame, ShellKind::Register, ShellStatus::BadAddress);
  uint32_t value = 0;
  if (!platform_.read_register(static_cast<uint32_t>(at), value))
    return answer(frame, ShellKind::Register, ShellStatus::NoRole);
  const uint8_t bytes[4] = {static_cast<uint8_t>(value >> 24), static_cast<uint8_t>(value >> 16),
                            static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value)};
  answer(frame, ShellKind::Register, ShellStatus::Ok, bytes, sizeof bytes);
}

void Control::start(const Request& frame) {
  if (!has_role_) return answer(frame, ShellKind::Done, ShellStatus::NoRole);
  if (state_ != ShellState::Ready) return answer(frame, ShellKind::Done, ShellStatus::OutOfOrder);
  answer(frame, ShellKind::Done, ShellStatus::Ok);
  begin_run(static_cast<uint32_t>(frame.header.offset), frame.header.binding);
}

void Control::arm(const Request& frame) {
  if (frame.header.length != sizeof armed_) return answer(frame, ShellKind::Done, ShellStatus::BadLength);
  if (!has_role_) return answer(frame, ShellKind::Done, ShellStatus::NoRole);
  if (state_ != ShellState::Ready && state_ != ShellState::Armed)
    return answer(frame, ShellKind::Done, ShellStatus::OutOfOrder);
  for (unsigned i = 0; i < sizeof armed_; i++) armed_[i] = frame.payload()[i];
  armed_kernel_ = static_cast<uint32_t>(frame.header.offset);
  armed_run_ = frame.header.binding;
  state_ = ShellState::Armed;
  answer(frame, ShellKind::Done, ShellStatus::Ok);
}

void Control::fire(const Request& frame) {
  if (state_ != ShellState::Armed) return;
  uint8_t digest[32], differ = 0;
  SmallHash hash;
  hash.add(frame.payload(), frame.header.length);
  hash.finish(digest);
  for (unsigned i = 0; i < sizeof armed_; i++) differ |= digest[i] ^ armed_[i];
  if (differ) {
    counters_.bad_tags++;
    return;
  }
  begin_run(armed_kernel_, armed_run_);
}

void Control::begin_run(uint32_t kernel, uint64_t number) {
  stop_run();
  has_run_ = true;
  run_ = number;
  result_ = {};
  code_ = 0;
  state_ = ShellState::Running;
  platform_.start(kernel, number);
  auto* queues = platform_.queues();
  for (uint16_t stream = 0; queues && stream < platform_.streams(); stream++) queues->window(stream) = {};
}

void Control::stop_run() {
  if (has_run_) platform_.stop();
  has_run_ = false;
}

void Control::ask_result(const Request& frame) {
  const auto reply = [&](ShellStatus status) { answer(frame, ShellKind::ResultData, status); };
  if (state_ != ShellState::Results || run_ != frame.header.binding) return reply(ShellStatus::OutOfOrder);
  if (frame.header.length != kReadRequestBytes) return reply(ShellStatus::BadLength);
  const uint64_t at = frame.header.offset, bytes = of_bytes<ShellReadRequest>(frame.payload()).bytes;
  if (bytes > identity_.mtu - kOverhead) return reply(ShellStatus::BadLength);
  if (at > result_.result_bytes || bytes > result_.result_bytes - at) return reply(ShellStatus::BadAddress);
  ShellHeader header = header_for(frame, ShellKind::ResultData, ShellStatus::Ok);
  header.kind = ShellKind::ResultData;
  header.session = session_;
  counters_.frames_sent++;
  platform_.transmit_memory(frame.from, header, result_.result_address + at, static_cast<uint32_t>(bytes));
}

void Control::finish(const Request& frame) {
  if (state_ != ShellState::Results || run_ != frame.header.binding)
    return answer(frame, ShellKind::Done, ShellStatus::OutOfOrder);
  stop_run();
  state_ = at_rest();
  answer(frame, ShellKind::Done, ShellStatus::Ok);
}

// ------------------------------------------------------------------------------------------------------ messages

void Control::message(const Request& frame) {
  // The numbers of packets begin again with each run, so a packet of another run is none of this one.
  auto* queues = platform_.queues();
  if (!queues || !has_run_ || frame.header.binding != run_ || frame.header.offset >= platform_.streams()) return;
  const auto stream = static_cast<uint16_t>(frame.header.offset);
  auto& w = queues->window(stream);
  // What the host has received leaves the queue. An acknowledgement of what was never held is none.
  if (const uint32_t gone = frame.header.acknowledge - w.out_first; gone <= queues->outward_held(stream)) {
    queues->outward_retire(stream, gone);
    w.out_first += gone;
    if (gone) w.resend = {platform_.now()};
  }
  if (static_cast<int32_t>(w.out_next - w.out_first) < 0) w.out_next = w.out_first;
  if (frame.header.kind != ShellKind::Packet) return;
  if (frame.header.seq == w.in_expected && queues->inward_room(stream)) {
    queues->deliver(stream, frame.payload(), frame.header.length);
    w.in_expected++;
    counters_.messages++;
  }
  w.owes_credit = true;
}

void Control::pump(StreamQueues& queues, uint64_t now) {
  for (uint16_t stream = 0; stream < platform_.streams(); stream++) {
    auto& w = queues.window(stream);
    ShellHeader header;
    header.session = session_;
    header.offset = stream;
    header.binding = run_;
    header.acknowledge = w.in_expected;
    if (w.out_next != w.out_first && w.resend.due(now)) {
      w.out_next = w.out_first;
      w.resend.again(now);
    }
    while (w.out_next - w.out_first < queues.outward_held(stream)) {
      header.kind = ShellKind::Packet;
      header.seq = w.out_next;
      counters_.frames_sent++;
      queues.transmit_outward(owner_, header, stream, w.out_next - w.out_first);
      w.out_next++;
      w.resend.sent_at = now;
    }
    if (queues.inward_taken(stream)) w.owes_credit = true;
    if (w.owes_credit) {
      // The number of a credit is the first that is not accepted yet.
      header.seq = w.in_expected + queues.inward_room(stream);
      send(ShellKind::Credit, owner_, header, nullptr, 0);
      w.owes_credit = false;
    }
  }
}

// ------------------------------------------------------------------------------------------------------ links

void Control::bind(const Request& frame) {
  const auto reply = [&](ShellStatus status) { answer(frame, ShellKind::Done, status); };
  if (frame.header.length != ShellLinkBinding::kBits / 8) return reply(ShellStatus::BadLength);
  if (!has_role_) return reply(ShellStatus::NoRole);
  if (frame.header.offset >= platform_.links()) return reply(ShellStatus::BadAddress);
  const auto wanted = of_bytes<ShellLinkBinding>(frame.payload());
  platform_.bind(static_cast<uint16_t>(frame.header.offset), {wanted.peer, wanted.identity, wanted.peer_link});
  reply(ShellStatus::Ok);
}

// ------------------------------------------------------------------------------------------------------ time

void Control::end_session(bool announced) {
  stop_run();
  platform_.unbind();
  if (state_ == ShellState::Receiving || state_ == ShellState::Verified) platform_.image_discard();
  has_ended_ = false;
  session_ = 0;
  owner_ = 0;
  platform_.session_key(nullptr);
  // A configuration that has begun ends; half a role would be none.
  if (state_ != ShellState::Loading) state_ = ShellState::Free;
  if (announced) announce(kBroadcast);
}

void Control::tick() {
  const uint64_t now = platform_.now();
  if (soliciting_ && (!solicited_ever_ || now - solicited_ >= kSolicitEvery)) {
    const uint64_t to = soliciting_;
    soliciting_ = 0;
    solicited_ = now;
    solicited_ever_ = true;
    announce(to);
  }
  if (!session_) {
    if (now - announced_ >= kAnnounceEvery) announce(kBroadcast);
    return;
  }
  if (now - heard_ > lease_ms_) return end_session(true);
  if (now - beat_ >= kHeartbeatEvery) {
    beat_ = now;
    ShellHeader header;
    header.acknowledge = expected_;
    send_status(ShellKind::Heartbeat, owner_, header);
  }
  if (!has_run_) return;
  if (auto* queues = platform_.queues())
    pump(*queues, now);
  else
    platform_.pump(now);
  if (state_ == ShellState::Running && platform_.ended(result_, code_)) {
    state_ = ShellState::Results;
    told_ever_ = false;
    if (code_ == 0 && (result_.result_address > identity_.memory_bytes ||
                       result_.result_bytes > identity_.memory_bytes - result_.result_address))
      code_ = ~uint32_t{0};
    if (code_) result_ = {};
  }
  if (state_ == ShellState::Results && (!told_ever_ || now - told_ >= kTellEvery)) {
    told_ = now;
    told_ever_ = true;
    alignas(4) uint8_t payload[ShellRun::kBits / 8];
    to_bytes(result_, payload);
    ShellHeader header;
    header.binding = run_;
    header.acknowledge = expected_;
    header.status = code_ ? ShellStatus::RoleFailed : ShellStatus::Ok;
    send(ShellKind::Finished, owner_, header, payload, sizeof payload);
  }
}

}  // namespace gossamer::shell
