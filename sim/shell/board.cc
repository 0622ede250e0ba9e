// SPDX-License-Identifier: Apache-2.0
#include "board.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace gossamer::shell {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAnnounceEvery{1000}, kHeartbeatEvery{1000}, kComplainEvery{10}, kSolicitEvery{100};
constexpr milliseconds kTellEvery{100}, kResend{20};
constexpr unsigned kStreamWindow = 32;
constexpr size_t kRepairNumbers = 4 * shell_repair_max_chunks;
constexpr uint32_t kNoChunk = ~uint32_t{0};

uint32_t ceil_div(uint64_t a, uint64_t b) { return static_cast<uint32_t>((a + b - 1) / b); }

}  // namespace

/// A loaded role.
struct Board::Role {
  void* object = nullptr;
  const gs_role* entry = nullptr;
  std::array<uint32_t, GS_ROLE_REGISTERS> registers{};

  ~Role() {
    if (object) dlclose(object);
  }
};

/// A kernel that runs or has run, and the message streams between host and role.
struct Board::Run {
  uint64_t number = 0;
  std::thread thread;
  std::atomic<bool> stop{false}, ended{false};
  int code = 0;
  gs_role_result result{};
  gs_role_shell shell{};

  struct Stream {
    std::deque<std::vector<uint8_t>> in;  // for the role
    uint32_t in_expected = 1;
    bool owe_credit = false;
    std::deque<std::vector<uint8_t>> out;  // not acknowledged by the host; the first has number out_first
    uint32_t out_first = 1, out_sent = 1;  // out_sent: number of the next to send
    Clock::time_point sent_at{};
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Stream> streams;
};

Board::Board(const BoardOptions& options, Port& port)
    : options_(options),
      port_(port),
      random_(options.seed ? options.seed : (uint64_t{std::random_device{}()} << 32 | std::random_device{}())) {
  // Untouched pages take no memory, so boards may have much of it.
  memory_ = static_cast<uint8_t*>(
      mmap(nullptr, options.memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (memory_ == MAP_FAILED) throw PortError("no address space for the board's memory");
  do challenge_ = random_();
  while (challenge_ == 0);
}

Board::~Board() {
  stop_run();
  munmap(memory_, options_.memory_bytes);
}

void Board::run(const std::function<bool()>& stop) {
  std::vector<uint8_t> buffer(1 << 16);
  announce(kBroadcast);
  while (!stop()) {
    const size_t length = port_.receive(buffer, run_ ? 1 : 50);
    if (length) handle({buffer.data(), length});
    for (unsigned burst = 0; burst < 256; burst++) {
      const size_t more = port_.receive(buffer, 0);
      if (!more) break;
      handle({buffer.data(), more});
    }
    tick(Clock::now());
  }
}

// ------------------------------------------------------------------------------------------------------ answers

void Board::send(ShellKind kind, const Mac& to, ShellHeader header, std::span<const uint8_t> payload) {
  header.kind = kind;
  if (kind != ShellKind::Announce && header.session == 0) header.session = session_;
  encode({to, options_.mac, header, payload}, options_.types, tagged(kind) && keyed_ ? &*keyed_ : nullptr, out_);
  counters_.frames_sent++;
  port_.send(out_);
}

void Board::answer(const Frame& request, ShellKind kind, ShellStatus status, std::span<const uint8_t> payload) {
  if (status != ShellStatus::Ok) counters_.rejected++;
  ShellHeader header;
  header.status = status;
  header.seq = request.header.seq;
  header.offset = request.header.offset;
  header.binding = request.header.binding;
  header.acknowledge = expected_;
  answers_[request.header.seq % answers_.size()] = {request.header.seq, kind, status};
  send(kind, request.from, header, payload);
}

void Board::error(const Frame& frame, ShellStatus status) {
  const auto now = Clock::now();
  if (now - complained_ < kComplainEvery || frame.from.group()) return;
  complained_ = now;
  ShellHeader header;
  header.status = status;
  header.seq = frame.header.seq;
  header.offset = static_cast<uint64_t>(frame.header.kind);
  header.binding = frame.header.binding;
  header.session = frame.header.session;
  header.acknowledge = expected_;
  send(ShellKind::Error, frame.from, header, {});
}

void Board::announce(const Mac& to) {
  announced_ = Clock::now();
  ShellAnnounce about;
  about.mac0 = options_.mac.number();
  about.vendor = options_.vendor;
  about.product = options_.product;
  about.board_type = options_.board_type;
  about.serial = options_.serial;
  about.owner = session_ ? owner_.number() : 0;
  about.state = state_;
  about.mtu = static_cast<uint16_t>(port_.mtu());
  about.credits = 1024;
  about.sink_rate = 125000;
  about.image_max = static_cast<uint32_t>(options_.image_max >> 10);
  for (unsigned i = 0; i < 16; i++) about.role.word[1 - i / 8] |= uint64_t{role_root_[i]} << (56 - 8 * (i % 8));
  about.memory_bytes = options_.memory_bytes;
  about.boot = options_.boot;
  about.streams = static_cast<uint16_t>(role_ ? role_->entry->streams : 0);
  ShellHeader header;
  header.session = challenge_;
  send(ShellKind::Announce, to, header, bytes_of(about));
}

std::array<uint8_t, 64> Board::status_bytes() const {
  ShellStatusReport report = counters_;
  report.state = state_;
  report.temperature = 0xFFFF;
  report.power = 0xFFFF;
  report.uptime = static_cast<uint64_t>(std::chrono::duration_cast<milliseconds>(Clock::now() - begun_).count());
  return bytes_of(report);
}

// ------------------------------------------------------------------------------------------------------ requests

void Board::handle(std::span<const uint8_t> bytes) {
  Frame frame;
  const Drop drop = decode(bytes, options_.types, frame);
  if (drop == Drop::Type) return;
  counters_.frames_received++;
  if (!seen_any_) {
    // As in the paper: the first frame that a board sees shows it that it is on a network.
    seen_any_ = true;
    announce(kBroadcast);
  }
  if (drop != Drop::None) {
    counters_.bad_frames++;
    if (drop == Drop::Version && frame.to == options_.mac) error(frame, ShellStatus::BadVersion);
    return;
  }
  if (frame.to != options_.mac && !frame.to.group()) return;
  const auto now = Clock::now();
  switch (frame.header.kind) {
    case ShellKind::Solicit:
      // A flood of requests causes one answer in 100 ms, and the last request is answered too.
      soliciting_ = frame.from.group() ? kBroadcast : frame.from;
      return tick(now);
    case ShellKind::AskStatus: return send(ShellKind::Status, frame.from, {}, status_bytes());
    case ShellKind::Open: return open(frame, bytes);
    case ShellKind::Data: return data(frame);
    case ShellKind::Repair: return repair(frame);
    case ShellKind::Query: return reports(frame);
    case ShellKind::Fire: return fire(frame);
    case ShellKind::LinkFrame: return;
    case ShellKind::Announce:
    case ShellKind::Error:
    case ShellKind::Status: return;  // of other boards
    default: break;
  }
  if (frame.to != options_.mac) return;
  if (!session_ || frame.header.session != session_ || frame.from != owner_ || !tag_matches(bytes, *keyed_)) {
    counters_.bad_tags++;
    return error(frame, ShellStatus::BadTag);
  }
  heard_ = now;
  if (frame.header.kind == ShellKind::Packet || frame.header.kind == ShellKind::Credit) return message(frame);
  command(frame);
}

void Board::open(const Frame& frame, std::span<const uint8_t> bytes) {
  const Blake2s by_board(options_.key);
  if (frame.header.length != bytes_of(ShellOpen{}).size() || frame.to != options_.mac) {
    counters_.bad_frames++;
    return;
  }
  const auto wanted = layout_of<ShellOpen>(frame.payload);
  // The host has not received the answer: the session that it opened is there.
  if (session_ && wanted.nonce == session_ && frame.from == owner_) {
    if (!tag_matches(bytes, by_board)) {
      counters_.bad_tags++;
      return;
    }
    ShellHeader header;
    header.acknowledge = expected_;
    return send(ShellKind::Opened, frame.from, header, status_bytes());
  }
  if (frame.header.session != challenge_ || wanted.nonce == 0 || !tag_matches(bytes, by_board)) {
    counters_.bad_tags++;
    return error(frame, ShellStatus::BadTag);
  }
  const auto now = Clock::now();
  if (session_ && frame.from != owner_ && !frame.header.take_over && now - heard_ < milliseconds(lease_ms_)) {
    ShellHeader header;
    header.session = wanted.nonce;
    header.status = ShellStatus::NotOwner;
    header.binding = owner_.number();
    encode({frame.from,
            options_.mac,
            [&] {
              header.kind = ShellKind::Opened;
              return header;
            }(),
            {}},
           options_.types, &by_board, out_);
    counters_.frames_sent++;
    port_.send(out_);
    return;
  }
  if (session_) end_session(false);
  session_ = wanted.nonce;
  owner_ = frame.from;
  lease_ms_ = std::max<uint32_t>(wanted.lease, 100);
  keyed_.emplace(session_key(options_.key, options_.mac, owner_, challenge_, wanted.nonce));
  do challenge_ = random_();
  while (challenge_ == 0);
  expected_ = 1;
  answers_ = {};
  heard_ = now;
  state_ = role_ ? ShellState::Ready : ShellState::Owned;
  ShellHeader header;
  header.acknowledge = expected_;
  send(ShellKind::Opened, frame.from, header, status_bytes());
}

void Board::command(const Frame& frame) {
  const uint32_t seq = frame.header.seq;
  if (seq == expected_) {
    expected_++;
  } else if (const uint32_t age = expected_ - seq; age <= answers_.size()) {
    // A command again: its answer was lost. It is not executed twice; reads have no effect, so their answer is new.
    counters_.replays++;
    const ShellKind kind = frame.header.kind;
    const Answer known = answers_[seq % answers_.size()];
    if (kind != ShellKind::Read && kind != ShellKind::AskRegister && kind != ShellKind::AskResult) {
      if (known.seq != seq) return;
      ShellHeader header;
      header.status = known.status;
      header.seq = seq;
      header.offset = frame.header.offset;
      header.binding = frame.header.binding;
      header.acknowledge = expected_;
      return send(known.kind, frame.from, header, {});
    }
  } else {
    counters_.replays += age < (uint32_t{1} << 31);
    return error(frame, ShellStatus::OutOfSequence);
  }
  switch (frame.header.kind) {
    case ShellKind::Begin: return begin(frame);
    case ShellKind::Load: return load(frame);
    case ShellKind::Abort: return abort(frame);
    case ShellKind::Write: return write(frame);
    case ShellKind::Read: return read(frame);
    case ShellKind::Registers: return registers(frame);
    case ShellKind::AskRegister: {
      const uint64_t at = frame.header.offset;
      if (!role_) return answer(frame, ShellKind::Register, ShellStatus::NoRole);
      if (at % 4 || at / 4 >= role_->registers.size())
        return answer(frame, ShellKind::Register, ShellStatus::BadAddress);
      std::vector<uint8_t> value;
      put(value, role_->registers[at / 4], 4);
      return answer(frame, ShellKind::Register, ShellStatus::Ok, value);
    }
    case ShellKind::Start: return start(frame);
    case ShellKind::Arm: return arm(frame);
    case ShellKind::AskResult: return ask_result(frame);
    case ShellKind::Finish: return finish(frame);
    case ShellKind::Close: answer(frame, ShellKind::Closed, ShellStatus::Ok); return end_session(true);
    default: return answer(frame, ShellKind::Done, ShellStatus::UnknownKind);
  }
}

// ------------------------------------------------------------------------------------------------------ images

void Board::begin(const Frame& frame) {
  const auto reply = [&](ShellStatus status) { answer(frame, ShellKind::Begun, status); };
  if (frame.header.length != bytes_of(ShellImage{}).size()) return reply(ShellStatus::BadLength);
  if (state_ == ShellState::Running || state_ == ShellState::Armed || state_ == ShellState::Loading)
    return reply(ShellStatus::OutOfOrder);
  const auto image = layout_of<ShellImage>(frame.payload);
  const uint32_t blocks = ceil_div(image.body_bytes, uint64_t{1} << shell_block_bytes_log2);
  if (image.board_type != options_.board_type || image.body_bytes == 0 || image.body_bytes > options_.image_max)
    return reply(ShellStatus::BadImage);
  if (image.chunk_bytes == 0 || image.chunk_bytes % 64 ||
      shell_frame_header_bytes - 14 + image.chunk_bytes > port_.mtu())
    return reply(ShellStatus::BadLength);
  const uint32_t manifest_chunks = ceil_div(image.manifest_bytes, image.chunk_bytes);
  if (image.manifest_bytes != blocks * shell_block_hash_bytes ||
      image.chunks != manifest_chunks + ceil_div(image.body_bytes, image.chunk_bytes))
    return reply(ShellStatus::BadImage);
  auto next = std::make_unique<Reception>();
  next->image = image;
  next->binding = image.root.word[3];
  next->manifest_chunks = manifest_chunks;
  next->bytes.resize(uint64_t{manifest_chunks} * image.chunk_bytes + image.body_bytes);
  next->have.resize(image.chunks);
  next->missing = image.chunks;
  next->block_missing.resize(blocks);
  next->block_good.resize(blocks);
  for (uint32_t b = 0; b < blocks; b++) {
    const uint64_t first = (uint64_t{b} << shell_block_bytes_log2) / image.chunk_bytes;
    const uint64_t last =
        (std::min(uint64_t{b + 1} << shell_block_bytes_log2, image.body_bytes) - 1) / image.chunk_bytes;
    next->block_missing[b] = static_cast<uint32_t>(last - first + 1);
  }
  reception_ = std::move(next);
  state_ = ShellState::Receiving;
  reply(ShellStatus::Ok);
}

size_t Board::chunk_size(uint32_t chunk) const {
  const auto& image = reception_->image;
  return std::min<uint64_t>(image.chunk_bytes, reception_->bytes.size() - uint64_t{chunk} * image.chunk_bytes);
}

void Board::data(const Frame& frame) {
  if (state_ != ShellState::Receiving || frame.header.binding != reception_->binding) return;
  const uint64_t chunk = frame.header.offset;
  if (chunk >= reception_->image.chunks || frame.header.length != chunk_size(static_cast<uint32_t>(chunk))) {
    counters_.bad_frames++;
    return;
  }
  if (!reception_->have[chunk]) store(static_cast<uint32_t>(chunk), frame.payload);
}

void Board::repair(const Frame& frame) {
  if (state_ != ShellState::Receiving || frame.header.binding != reception_->binding) return;
  const auto& image = reception_->image;
  if (frame.header.length != kRepairNumbers + image.chunk_bytes) {
    counters_.bad_frames++;
    return;
  }
  uint32_t wanted = kNoChunk, count = 0;
  uint32_t chunks[shell_repair_max_chunks];
  for (unsigned i = 0; i < shell_repair_max_chunks; i++) {
    const auto chunk = static_cast<uint32_t>(get(frame.payload, 4 * i, 4));
    if (chunk == kNoChunk) continue;
    if (chunk >= image.chunks) return;
    chunks[count++] = chunk;
    if (reception_->have[chunk]) continue;
    if (wanted != kNoChunk) return;  // two are missing: the XOR does not tell them apart
    wanted = chunk;
  }
  if (wanted == kNoChunk) return;
  std::vector<uint8_t> sum(frame.payload.begin() + kRepairNumbers, frame.payload.end());
  for (uint32_t i = 0; i < count; i++) {
    if (chunks[i] == wanted) continue;
    const uint8_t* from = reception_->bytes.data() + uint64_t{chunks[i]} * image.chunk_bytes;
    const size_t size = chunk_size(chunks[i]);
    for (size_t k = 0; k < size; k++) sum[k] ^= from[k];
  }
  store(wanted, std::span(sum).first(chunk_size(wanted)));
}

void Board::store(uint32_t chunk, std::span<const uint8_t> bytes) {
  auto& r = *reception_;
  std::copy(bytes.begin(), bytes.end(),
            r.bytes.begin() + static_cast<ptrdiff_t>(uint64_t{chunk} * r.image.chunk_bytes));
  r.have[chunk] = true;
  r.missing--;
  if (chunk < r.manifest_chunks) {
    if (std::any_of(r.have.begin(), r.have.begin() + r.manifest_chunks, [](bool have) { return !have; }))
      return after_store();
    Digest root = blake2s(std::span(r.bytes).first(r.image.manifest_bytes));
    uint64_t words[4];
    for (unsigned i = 0; i < 4; i++) words[3 - i] = get(root, 8 * i, 8);
    r.manifest_good = std::equal(words, words + 4, r.image.root.word);
    if (!r.manifest_good) {
      // One of its chunks was not that of the image; which one cannot be known.
      for (uint32_t i = 0; i < r.manifest_chunks; i++) r.have[i] = false;
      r.missing += r.manifest_chunks;
      counters_.bad_tags++;
      return;
    }
    for (uint32_t b = 0; b < r.block_missing.size(); b++)
      if (!r.block_missing[b]) check_block(b);
    return after_store();
  }
  const uint64_t first = uint64_t{chunk - r.manifest_chunks} * r.image.chunk_bytes, last = first + bytes.size() - 1;
  for (uint64_t b = first >> shell_block_bytes_log2; b <= last >> shell_block_bytes_log2; b++)
    if (--r.block_missing[b] == 0 && r.manifest_good) check_block(static_cast<uint32_t>(b));
  after_store();
}

void Board::check_block(uint32_t block) {
  auto& r = *reception_;
  if (r.block_good[block]) return;
  const uint64_t body = uint64_t{r.manifest_chunks} * r.image.chunk_bytes;
  const uint64_t first = uint64_t{block} << shell_block_bytes_log2;
  const uint64_t end = std::min(first + (uint64_t{1} << shell_block_bytes_log2), r.image.body_bytes);
  const Digest hash = blake2s(std::span(r.bytes).subspan(body + first, end - first));
  if (std::equal(hash.begin(), hash.begin() + shell_block_hash_bytes,
                 r.bytes.begin() + static_cast<ptrdiff_t>(uint64_t{block} * shell_block_hash_bytes))) {
    r.block_good[block] = true;
    r.blocks_good++;
    return;
  }
  // A chunk of another image, or a forged one: all chunks of the block are received again.
  counters_.bad_tags++;
  for (uint64_t c = first / r.image.chunk_bytes; c <= (end - 1) / r.image.chunk_bytes; c++) {
    const auto chunk = static_cast<uint32_t>(c + r.manifest_chunks);
    if (!r.have[chunk]) continue;
    r.have[chunk] = false;
    r.missing++;
    const uint64_t from = c * r.image.chunk_bytes, to = std::min(from + r.image.chunk_bytes, r.image.body_bytes) - 1;
    for (uint64_t b = from >> shell_block_bytes_log2; b <= to >> shell_block_bytes_log2; b++) {
      r.block_missing[b]++;
      if (r.block_good[b]) {
        r.block_good[b] = false;
        r.blocks_good--;
      }
    }
  }
}

void Board::after_store() {
  if (reception_->missing || reception_->blocks_good != reception_->block_good.size()) return;
  state_ = ShellState::Verified;
  if (reception_->image.auto_load) configure();
}

void Board::reports(const Frame& query) {
  if (!reception_ || query.header.binding != reception_->binding) {
    // The image may have ended already, or this board has been reset and does not know it.
    if (!keyed_) return;
    ShellHeader header;
    header.binding = query.header.binding;
    header.status = ended_binding_ == query.header.binding ? ended_status_ : ShellStatus::OutOfOrder;
    return send(ShellKind::Loaded, query.from, header, {});
  }
  const auto& r = *reception_;
  ShellReport report;
  report.state = state_;
  report.missing = r.missing;
  report.blocks = r.blocks_good;
  const size_t most = 8 * std::min<size_t>(r.image.chunk_bytes, port_.mtu() - 50 - 16);
  auto next = static_cast<uint32_t>(std::min<uint64_t>(query.header.offset, r.image.chunks));
  const auto advance = [&] {
    while (next < r.image.chunks && r.have[next]) next++;
  };
  advance();
  do {
    report.base = next;
    const auto head = bytes_of(report);
    std::vector<uint8_t> payload(head.begin(), head.end());
    const auto end = static_cast<uint32_t>(std::min<uint64_t>(r.image.chunks, next + most));
    payload.resize(head.size() + ceil_div(end - next, 8));
    for (uint32_t c = next; c < end; c++)
      if (!r.have[c]) payload[head.size() + (c - next) / 8] |= static_cast<uint8_t>(0x80 >> ((c - next) % 8));
    next = end;
    advance();
    ShellHeader header;
    header.binding = r.binding;
    header.seq = query.header.seq;
    header.last = next == r.image.chunks;
    send(ShellKind::Report, query.from, header, payload);
  } while (next < r.image.chunks);
}

void Board::load(const Frame& frame) {
  if (state_ != ShellState::Verified || frame.header.binding != reception_->binding)
    return answer(frame, ShellKind::Begun, ShellStatus::OutOfOrder);
  answer(frame, ShellKind::Begun, ShellStatus::Ok);
  configure();
}

void Board::abort(const Frame& frame) {
  if (!reception_) return answer(frame, ShellKind::Begun, ShellStatus::OutOfOrder);
  reception_.reset();
  state_ = role_ ? ShellState::Ready : ShellState::Owned;
  answer(frame, ShellKind::Begun, ShellStatus::Ok);
}

void Board::configure() {
  state_ = ShellState::Loading;
  auto& r = *reception_;
  const uint64_t body = uint64_t{r.manifest_chunks} * r.image.chunk_bytes;
  auto status = ShellStatus::Ok;
  // A name of its own: the dynamic linker does not load a path twice.
  static std::atomic<unsigned> count{0};
  const std::string path =
      options_.folder + "/role-" + std::to_string(getpid()) + "-" + std::to_string(count++) + ".so";
  const int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700);
  size_t written = 0;
  while (fd >= 0 && written < r.image.body_bytes) {
    const ssize_t some = ::write(fd, r.bytes.data() + body + written, r.image.body_bytes - written);
    if (some <= 0) break;
    written += static_cast<size_t>(some);
  }
  if (fd >= 0) close(fd);
  auto next = std::make_unique<Role>();
  if (written == r.image.body_bytes) next->object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (fd >= 0) unlink(path.c_str());
  if (next->object) next->entry = static_cast<const gs_role*>(dlsym(next->object, "gs_role_entry"));
  if (!next->entry || next->entry->version != GS_ROLE_VERSION || next->entry->board_type != options_.board_type)
    status = ShellStatus::ConfigFailed;
  if (status == ShellStatus::Ok) {
    // The old role has run until here.
    stop_run();
    role_ = std::move(next);
    for (unsigned i = 0; i < 16; i++)
      role_root_[i] = static_cast<uint8_t>(r.image.root.word[3 - i / 8] >> (56 - 8 * (i % 8)));
  }
  ShellHeader header;
  header.binding = ended_binding_ = r.binding;
  header.status = ended_status_ = status;
  reception_.reset();
  state_ = role_ ? ShellState::Ready : ShellState::Owned;
  if (session_) send(ShellKind::Loaded, owner_, header, {});
}

// ------------------------------------------------------------------------------------------------------ memory

void Board::write(const Frame& frame) {
  const uint64_t at = frame.header.offset, bytes = frame.header.length;
  auto status = ShellStatus::Ok;
  if (!role_ || state_ == ShellState::Running || state_ == ShellState::Loading)
    status = role_ ? ShellStatus::OutOfOrder : ShellStatus::NoRole;
  else if (at > options_.memory_bytes || bytes > options_.memory_bytes - at)
    status = ShellStatus::BadAddress;
  else
    std::copy(frame.payload.begin(), frame.payload.end(), memory_ + at);
  counters_.memory_frames += status == ShellStatus::Ok;
  if (status == ShellStatus::Ok && !frame.header.wants_answer) {
    answers_[frame.header.seq % answers_.size()] = {frame.header.seq, ShellKind::Stored, status};
    return;
  }
  answer(frame, ShellKind::Stored, status);
}

void Board::read(const Frame& frame) {
  if (frame.header.length != bytes_of(ShellReadRequest{}).size())
    return answer(frame, ShellKind::ReadData, ShellStatus::BadLength);
  const uint64_t at = frame.header.offset, bytes = layout_of<ShellReadRequest>(frame.payload).bytes;
  if (bytes > port_.mtu() - (shell_frame_header_bytes - 14))
    return answer(frame, ShellKind::ReadData, ShellStatus::BadLength);
  if (at > options_.memory_bytes || bytes > options_.memory_bytes - at)
    return answer(frame, ShellKind::ReadData, ShellStatus::BadAddress);
  answer(frame, ShellKind::ReadData, ShellStatus::Ok, {memory_ + at, bytes});
}

// ------------------------------------------------------------------------------------------------------ kernels

void Board::registers(const Frame& frame) {
  constexpr size_t kEntry = ShellRegisterWrite::kBits / 8;
  const auto reply = [&](ShellStatus status) { answer(frame, ShellKind::Done, status); };
  if (frame.header.length == 0 || frame.header.length % kEntry) return reply(ShellStatus::BadLength);
  if (!role_) return reply(ShellStatus::NoRole);
  if (state_ != ShellState::Ready && state_ != ShellState::Results) return reply(ShellStatus::OutOfOrder);
  // All or none: a wrong address in the list changes nothing.
  for (bool apply : {false, true})
    for (size_t at = 0; at < frame.header.length; at += kEntry) {
      const auto entry = layout_of<ShellRegisterWrite>(frame.payload.subspan(at));
      if (entry.address % 4 || entry.address / 4 >= role_->registers.size()) return reply(ShellStatus::BadAddress);
      if (apply) role_->registers[entry.address / 4] = entry.data;
    }
  reply(ShellStatus::Ok);
}

void Board::start(const Frame& frame) {
  if (!role_) return answer(frame, ShellKind::Done, ShellStatus::NoRole);
  if (state_ != ShellState::Ready) return answer(frame, ShellKind::Done, ShellStatus::OutOfOrder);
  answer(frame, ShellKind::Done, ShellStatus::Ok);
  begin_run(static_cast<uint32_t>(frame.header.offset), frame.header.binding);
}

void Board::arm(const Frame& frame) {
  if (frame.header.length != armed_.size()) return answer(frame, ShellKind::Done, ShellStatus::BadLength);
  if (!role_) return answer(frame, ShellKind::Done, ShellStatus::NoRole);
  if (state_ != ShellState::Ready && state_ != ShellState::Armed)
    return answer(frame, ShellKind::Done, ShellStatus::OutOfOrder);
  std::copy(frame.payload.begin(), frame.payload.end(), armed_.begin());
  armed_kernel_ = static_cast<uint32_t>(frame.header.offset);
  armed_number_ = frame.header.binding;
  state_ = ShellState::Armed;
  answer(frame, ShellKind::Done, ShellStatus::Ok);
}

void Board::fire(const Frame& frame) {
  if (state_ != ShellState::Armed) return;
  if (blake2s(frame.payload) != armed_) {
    counters_.bad_tags++;
    return;
  }
  begin_run(armed_kernel_, armed_number_);
}

void Board::begin_run(uint32_t kernel, uint64_t number) {
  stop_run();
  run_ = std::make_unique<Run>();
  Run& run = *run_;
  run.number = number;
  run.streams = std::vector<Run::Stream>(role_->entry->streams);
  run.shell.shell = &run;
  run.shell.memory = memory_;
  run.shell.memory_bytes = options_.memory_bytes;
  run.shell.registers = role_->registers.data();
  run.shell.stopped = [](void* shell) { return static_cast<int>(static_cast<Run*>(shell)->stop.load()); };
  run.shell.send = [](void* shell, uint32_t stream, const void* packet, size_t bytes) {
    Run& r = *static_cast<Run*>(shell);
    std::unique_lock lock(r.mutex);
    if (stream >= r.streams.size()) return -1;
    auto& s = r.streams[stream];
    r.changed.wait(lock, [&] { return r.stop || s.out.size() < kStreamWindow; });
    if (r.stop) return -1;
    const auto* from = static_cast<const uint8_t*>(packet);
    s.out.emplace_back(from, from + bytes);
    return 0;
  };
  run.shell.receive = [](void* shell, uint32_t stream, void* packet, size_t most, int timeout_ms) -> long {
    Run& r = *static_cast<Run*>(shell);
    std::unique_lock lock(r.mutex);
    if (stream >= r.streams.size()) return -1;
    auto& s = r.streams[stream];
    const auto ready = [&] { return r.stop || !s.in.empty(); };
    if (timeout_ms < 0)
      r.changed.wait(lock, ready);
    else
      r.changed.wait_for(lock, milliseconds(timeout_ms), ready);
    if (r.stop || s.in.empty()) return -1;
    const auto bytes = std::move(s.in.front());
    s.in.pop_front();
    s.owe_credit = true;
    std::memcpy(packet, bytes.data(), std::min(most, bytes.size()));
    return static_cast<long>(bytes.size());
  };
  state_ = ShellState::Running;
  run.thread = std::thread([&run, kernel, entry = role_->entry] {
    run.code = entry->run(&run.shell, kernel, &run.result);
    run.ended = true;
  });
}

void Board::stop_run() {
  if (!run_) return;
  {
    const std::lock_guard lock(run_->mutex);
    run_->stop = true;
  }
  run_->changed.notify_all();
  if (run_->thread.joinable()) run_->thread.join();
  run_.reset();
}

void Board::ask_result(const Frame& frame) {
  if (state_ != ShellState::Results || !run_ || run_->number != frame.header.binding)
    return answer(frame, ShellKind::ResultData, ShellStatus::OutOfOrder);
  if (frame.header.length != bytes_of(ShellReadRequest{}).size())
    return answer(frame, ShellKind::ResultData, ShellStatus::BadLength);
  const uint64_t at = frame.header.offset, bytes = layout_of<ShellReadRequest>(frame.payload).bytes;
  if (bytes > port_.mtu() - (shell_frame_header_bytes - 14))
    return answer(frame, ShellKind::ResultData, ShellStatus::BadLength);
  if (at > run_->result.bytes || bytes > run_->result.bytes - at)
    return answer(frame, ShellKind::ResultData, ShellStatus::BadAddress);
  answer(frame, ShellKind::ResultData, ShellStatus::Ok, {memory_ + run_->result.address + at, bytes});
}

void Board::finish(const Frame& frame) {
  if (state_ != ShellState::Results || run_->number != frame.header.binding)
    return answer(frame, ShellKind::Done, ShellStatus::OutOfOrder);
  stop_run();
  state_ = ShellState::Ready;
  answer(frame, ShellKind::Done, ShellStatus::Ok);
}

// ------------------------------------------------------------------------------------------------------ messages

void Board::message(const Frame& frame) {
  const uint64_t stream = frame.header.offset;
  if (!run_ || stream >= run_->streams.size()) return;
  const std::lock_guard lock(run_->mutex);
  auto& s = run_->streams[stream];
  // What the host has received leaves the queue.
  while (!s.out.empty() && static_cast<int32_t>(frame.header.acknowledge - s.out_first) > 0) {
    s.out.pop_front();
    s.out_first++;
  }
  if (static_cast<int32_t>(s.out_sent - s.out_first) < 0) s.out_sent = s.out_first;
  if (frame.header.kind == ShellKind::Packet) {
    if (frame.header.seq == s.in_expected && s.in.size() < kStreamWindow) {
      s.in.emplace_back(frame.payload.begin(), frame.payload.end());
      s.in_expected++;
      counters_.messages++;
    }
    s.owe_credit = true;
  }
  run_->changed.notify_all();
}

void Board::pump_messages() {
  const auto now = Clock::now();
  const std::lock_guard lock(run_->mutex);
  for (uint64_t at = 0; at < run_->streams.size(); at++) {
    auto& s = run_->streams[at];
    ShellHeader header;
    header.offset = at;
    header.acknowledge = s.in_expected;
    // The seq of a credit is the first number that is not accepted yet.
    if (s.out_sent != s.out_first && now - s.sent_at > kResend) s.out_sent = s.out_first;
    while (s.out_sent - s.out_first < s.out.size()) {
      header.seq = s.out_sent;
      send(ShellKind::Packet, owner_, header, s.out[s.out_sent - s.out_first]);
      s.out_sent++;
      s.sent_at = now;
    }
    if (s.owe_credit) {
      header.seq = s.in_expected + static_cast<uint32_t>(kStreamWindow - s.in.size());
      send(ShellKind::Credit, owner_, header, {});
      s.owe_credit = false;
    }
  }
}

// ------------------------------------------------------------------------------------------------------ time

void Board::end_session(bool announce_it) {
  stop_run();
  reception_.reset();
  ended_binding_ = 0;
  session_ = 0;
  owner_ = {};
  keyed_.reset();
  state_ = ShellState::Free;
  if (announce_it) announce(kBroadcast);
}

void Board::tick(Clock::time_point now) {
  if (soliciting_ && now - solicited_ >= kSolicitEvery) {
    solicited_ = now;
    announce(*std::exchange(soliciting_, std::nullopt));
  }
  if (!session_) {
    if (now - announced_ >= kAnnounceEvery) announce(kBroadcast);
    return;
  }
  if (now - heard_ > milliseconds(lease_ms_)) return end_session(true);
  if (now - beat_ >= kHeartbeatEvery) {
    beat_ = now;
    ShellHeader header;
    header.acknowledge = expected_;
    send(ShellKind::Heartbeat, owner_, header, status_bytes());
  }
  if (!run_) return;
  pump_messages();
  if (state_ == ShellState::Running && run_->ended) {
    run_->thread.join();
    state_ = ShellState::Results;
    told_ = {};
    const auto& result = run_->result;
    if (run_->code == 0 &&
        (result.address > options_.memory_bytes || result.bytes > options_.memory_bytes - result.address))
      run_->code = -1;
    if (run_->code) run_->result = {};
  }
  if (state_ == ShellState::Results && now - told_ >= kTellEvery) {
    told_ = now;
    ShellRun run;
    run.cycles = run_->result.cycles;
    run.result_address = run_->result.address;
    run.result_bytes = run_->result.bytes;
    ShellHeader header;
    header.binding = run_->number;
    header.status = run_->code ? ShellStatus::RoleFailed : ShellStatus::Ok;
    send(ShellKind::Finished, owner_, header, bytes_of(run));
  }
}

}  // namespace gossamer::shell
