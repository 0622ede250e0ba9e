// SPDX-License-Identifier: Apache-2.0
#include "board.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace gossamer::shell {
namespace {

using std::chrono::milliseconds;

constexpr size_t kRepairNumbers = 4 * shell_repair_max_chunks;
constexpr uint32_t kNoChunk = ~uint32_t{0};

}  // namespace

LargePages::LargePages(size_t bytes) : bytes_(bytes) {
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw PortError("no memory for an image of " + std::to_string(bytes) + " bytes");
  madvise(mapped, bytes, MADV_HUGEPAGE);
  data_ = static_cast<uint8_t*>(mapped);
}

void LargePages::populate() const {
#ifdef MADV_POPULATE_WRITE
  madvise(data_, bytes_, MADV_POPULATE_WRITE);
#endif
}

LargePages::~LargePages() { munmap(data_, bytes_); }

namespace {

Identity identity_of(const BoardOptions& options, const Port& port) {
  Identity id;
  id.mac = options.mac.number();
  std::ranges::copy(options.key, id.key);
  id.has_next_key = options.next_key.has_value();
  if (options.next_key) std::ranges::copy(*options.next_key, id.next_key);
  id.vendor = options.vendor;
  id.product = options.product;
  id.board_type = options.board_type;
  id.serial = options.serial;
  id.memory_bytes = options.memory_bytes;
  id.image_max = options.image_max;
  id.boot = options.boot;
  id.mtu = static_cast<uint16_t>(port.mtu());
  // Half of what the port holds: frames of others arrive as well.
  id.credits = static_cast<uint16_t>(std::min(8192U, port.capacity() / 2));
  id.sink_rate = 125000;
  return id;
}

}  // namespace

Board::Board(const BoardOptions& options, Port& port)
    : options_(options),
      port_(port),
      random_(options.seed ? options.seed : (uint64_t{std::random_device{}()} << 32 | std::random_device{}())),
      memory_(options.memory_bytes),
      control_(identity_of(options, port), *this),
      role_(memory_.data(), options.memory_bytes, options.board_type, port.mtu() - (shell_frame_header_bytes - 14)) {
  if (options.reserve) {
    image_memory_ = std::make_unique<LargePages>(options.reserve);
    image_memory_->populate();
  }
}

void Board::run(const std::function<bool()>& stop) {
  control_.link_up();
  port_.also_wait_for(role_.wake_descriptor());
  while (!stop()) {
    auto frame = port_.next(role_.running() ? 1 : 50);
    for (unsigned burst = 0; burst < 256 && !frame.empty(); burst++) {
      handle(frame);
      frame = port_.next(0);
    }
    if (!frame.empty()) handle(frame);
    role_.awake();
    send_links();
    control_.tick();
  }
}

void Board::handle(std::span<const uint8_t> bytes) {
  Frame frame;
  const Drop drop = decode(bytes, options_.types, frame);
  if (drop == Drop::Type) return;
  control_.seen();
  Request request{frame.to.number(), frame.from.number(), frame.header, bytes.data()};
  if (drop != Drop::None) return control_.dropped(request, drop == Drop::Version && frame.to == options_.mac);
  if (frame.to != options_.mac && !frame.to.group()) return;
  if (frame.header.kind == ShellKind::LinkFrame) return link_frame(request);
  const bool by_session = tagged(frame.header.kind) && frame.header.kind != ShellKind::Open;
  request.authentic = by_session && keyed_ && tag_matches(bytes, *keyed_);
  control_.handle(request);
}

// ------------------------------------------------------------------------------------------------------ frames

uint64_t Board::now() {
  return static_cast<uint64_t>(std::chrono::duration_cast<milliseconds>(Clock::now() - begun_).count());
}

void Board::transmit(uint64_t to, const ShellHeader& header, const uint8_t* payload, uint32_t length, Seal seal) {
  std::optional<Blake2s> by_board;
  if (seal == Seal::Board) by_board.emplace(options_.key);
  const Blake2s* keyed = by_board ? &*by_board : seal == Seal::Session && keyed_ ? &*keyed_ : nullptr;
  encode({Mac::of(to), options_.mac, header, {payload, length}}, options_.types, keyed, out_);
  port_.send(out_);
}

void Board::transmit_memory(uint64_t to, const ShellHeader& header, uint64_t address, uint32_t length) {
  transmit(to, header, memory_.data() + address, length, Seal::Session);
}

bool Board::keep_keys(const uint8_t* key, const uint8_t* next) {
  if (!write_keys(options_.key_file, key, next)) return false;
  std::copy_n(key, options_.key.size(), options_.key.begin());
  return true;
}

void Board::session_key(const uint8_t* key) {
  keyed_.reset();
  if (!key) return;
  Key bytes;
  std::copy_n(key, bytes.size(), bytes.begin());
  keyed_.emplace(bytes);
}

// ------------------------------------------------------------------------------------------------------ images

uint32_t Board::image_chunks(uint32_t word) {
  const auto& have = reception_->have;
  uint32_t bits = 0;
  for (size_t c = size_t{32} * word; c < size_t{32} * (word + 1); c++) bits = bits << 1 | (c >= have.size() || have[c]);
  return bits;
}

ShellStatus Board::image_begin(const ShellImage& image) {
  const uint32_t blocks = image.manifest_bytes / shell_block_hash_bytes;
  reception_.reset();
  if (!image_memory_ || image_memory_->bytes().size() < image.body_bytes)
    image_memory_ = std::make_unique<LargePages>(image.body_bytes);
  const auto memory = image_memory_->bytes().first(image.body_bytes);
  auto next = std::make_unique<Reception>(image, control_.manifest_chunks(), memory);
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
  return ShellStatus::Ok;
}

void Board::image_data(const Request& frame) {
  const uint64_t chunk = frame.header.offset;
  if (chunk >= reception_->image.chunks || frame.header.length != control_.chunk_size(static_cast<uint32_t>(chunk)))
    return control_.bad_data();
  if (!reception_->have[chunk]) store_chunk(static_cast<uint32_t>(chunk), {frame.payload(), frame.header.length});
}

void Board::image_repair(const Request& frame) {
  const std::span payload(frame.payload(), frame.header.length);
  const auto& image = reception_->image;
  if (payload.size() != kRepairNumbers + image.chunk_bytes) return control_.bad_data();
  uint32_t wanted = kNoChunk, count = 0;
  uint32_t chunks[shell_repair_max_chunks];
  for (unsigned i = 0; i < shell_repair_max_chunks; i++) {
    const auto chunk = static_cast<uint32_t>(get(payload, 4 * i, 4));
    if (chunk == kNoChunk) continue;
    if (chunk >= image.chunks) return;
    chunks[count++] = chunk;
    if (reception_->have[chunk]) continue;
    if (wanted != kNoChunk) return;  // two are missing: the XOR does not tell them apart
    wanted = chunk;
  }
  if (wanted == kNoChunk) return;
  std::vector<uint8_t> sum(payload.begin() + kRepairNumbers, payload.end());
  for (uint32_t i = 0; i < count; i++) {
    if (chunks[i] == wanted) continue;
    const uint8_t* from = reception_->place(chunks[i]);
    const size_t size = control_.chunk_size(chunks[i]);
    for (size_t k = 0; k < size; k++) sum[k] ^= from[k];
  }
  store_chunk(wanted, std::span(sum).first(control_.chunk_size(wanted)));
}

void Board::store_chunk(uint32_t chunk, std::span<const uint8_t> bytes) {
  auto& r = *reception_;
  std::copy(bytes.begin(), bytes.end(), r.place(chunk));
  r.have[chunk] = true;
  r.missing--;
  if (chunk < r.manifest_chunks) {
    if (std::any_of(r.have.begin(), r.have.begin() + r.manifest_chunks, [](bool have) { return !have; })) return;
    Digest root = blake2s(std::span(r.manifest).first(r.image.manifest_bytes));
    uint64_t words[4];
    for (unsigned i = 0; i < 4; i++) words[3 - i] = get(root, 8 * i, 8);
    r.manifest_good = std::equal(words, words + 4, r.image.root.word);
    if (!r.manifest_good) {
      // One of its chunks was not that of the image; which one cannot be known.
      for (uint32_t i = 0; i < r.manifest_chunks; i++) r.have[i] = false;
      r.missing += r.manifest_chunks;
      control_.bad_hash();
      return;
    }
    for (uint32_t b = 0; b < r.block_missing.size(); b++)
      if (!r.block_missing[b]) complete(b);
  } else {
    const uint64_t first = uint64_t{chunk - r.manifest_chunks} * r.image.chunk_bytes, last = first + bytes.size() - 1;
    for (uint64_t b = first >> shell_block_bytes_log2; b <= last >> shell_block_bytes_log2; b++)
      if (--r.block_missing[b] == 0 && r.manifest_good) complete(static_cast<uint32_t>(b));
  }
  if (r.missing == 0) check_blocks();
  if (r.missing == 0 && r.blocks_good == r.block_good.size()) control_.verified();
}

void Board::complete(uint32_t block) {
  auto& waiting = reception_->unchecked;
  waiting.push_back(block);
  if (waiting.size() == blake2s_lanes()) check_blocks();
}

/// Hashes the blocks whose chunks are all there.
void Board::check_blocks() {
  auto& r = *reception_;
  // A chunk that two blocks share may have been withdrawn with the other one, and received again.
  std::ranges::sort(r.unchecked);
  r.unchecked.erase(std::ranges::unique(r.unchecked).begin(), r.unchecked.end());
  std::erase_if(r.unchecked, [&](uint32_t block) { return r.block_good[block] || r.block_missing[block]; });
  std::vector<std::span<const uint8_t>> blocks;
  for (const uint32_t block : r.unchecked) {
    const uint64_t first = uint64_t{block} << shell_block_bytes_log2;
    const uint64_t end = std::min(first + (uint64_t{1} << shell_block_bytes_log2), r.image.body_bytes);
    blocks.emplace_back(r.body.data() + first, end - first);
  }
  const auto hashes = blake2s_many(blocks);
  std::vector<uint32_t> bad;
  for (size_t i = 0; i < hashes.size(); i++) {
    const uint32_t block = r.unchecked[i];
    if (std::equal(hashes[i].begin(), hashes[i].begin() + shell_block_hash_bytes,
                   r.manifest.begin() + static_cast<ptrdiff_t>(uint64_t{block} * shell_block_hash_bytes))) {
      r.block_good[block] = true;
      r.blocks_good++;
    } else {
      bad.push_back(block);
    }
  }
  r.unchecked.clear();
  for (const uint32_t block : bad) reject(block);
}

/// Withdraws all chunks of a block that has one of another image, or a forged one; they are received again.
void Board::reject(uint32_t block) {
  auto& r = *reception_;
  const uint64_t first = uint64_t{block} << shell_block_bytes_log2;
  const uint64_t end = std::min(first + (uint64_t{1} << shell_block_bytes_log2), r.image.body_bytes);
  control_.bad_hash();
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

void Board::image_load() {
  auto& r = *reception_;
  const bool good = role_.load(r.body);
  if (good) {
    windows_ = std::vector<StreamWindow>(role_.streams());
    unbind();
  }
  reception_.reset();
  control_.loaded(good ? ShellStatus::Ok : ShellStatus::ConfigFailed);
}

// ------------------------------------------------------------------------------------------------------ role

void Board::store(uint64_t address, const uint8_t* bytes, uint32_t length) {
  std::copy_n(bytes, length, memory_.data() + address);
}

bool Board::has_register(uint32_t address) { return address % 4 == 0 && address / 4 < GS_ROLE_REGISTERS; }

bool Board::write_register(uint32_t address, uint32_t value) {
  role_.register_at(address) = value;
  return true;
}

bool Board::read_register(uint32_t address, uint32_t& value) {
  value = role_.register_at(address);
  return true;
}

bool Board::ended(ShellRun& result, uint32_t& code) {
  const auto outcome = role_.ended();
  if (!outcome) return false;
  code = static_cast<uint32_t>(outcome->code);
  result.cycles = outcome->result.cycles;
  result.result_address = outcome->result.address;
  result.result_bytes = outcome->result.bytes;
  return true;
}

void Board::transmit_outward(uint64_t to, const ShellHeader& header, uint16_t stream, uint32_t index) {
  const auto packet = role_.outward(stream, index);
  transmit(to, header, packet.data(), static_cast<uint32_t>(packet.size()), Seal::Session);
}

// ------------------------------------------------------------------------------------------------------ links

void Board::link_frame(const Request& frame) {
  if (frame.to != options_.mac.number()) return;
  const uint64_t number = frame.header.offset;
  Link* link = number < links_.size() ? &links_[number] : nullptr;
  if (!link || !link->peer.mac || frame.from != link->peer.mac || frame.header.binding != link->peer.identity) {
    link_counts_.wrong_peer++;
    return;
  }
  // The hardware of a link relies on the order of its frames: a late one is as good as lost.
  if (static_cast<int32_t>(frame.header.seq - link->received) <= 0) {
    link_counts_.late++;
    return;
  }
  // The first frame since the link was bound continues no frame of the peer before.
  const bool gap = frame.header.seq != link->received + 1 || frame.header.seq == 1;
  link->received = frame.header.seq;
  if (control_.state() != ShellState::Running) return;
  if (!role_.link_deliver(static_cast<uint16_t>(number), gap, {frame.payload(), frame.header.length}))
    link_counts_.malformed++;
}

/// Sends what the role has queued; frames of a link without a peer are lost.
void Board::send_links() {
  for (uint16_t number = 0; number < links_.size(); number++) {
    auto& [peer, sent, received] = links_[number];
    while (role_.link_holds(number)) {
      link_payload_.clear();
      role_.link_take(number, link_payload_, shell_link_bytes);
      if (!peer.mac) continue;
      ShellHeader header;
      header.kind = ShellKind::LinkFrame;
      header.offset = peer.link;
      header.binding = peer.identity;
      header.seq = ++sent;
      link_counts_.sent++;
      transmit(peer.mac, header, link_payload_.data(), static_cast<uint32_t>(link_payload_.size()), Seal::None);
    }
  }
}

void Board::count(ShellStatusReport& report) {
  report.role_resets = role_.resets();
  report.frames_sent += link_counts_.sent;
  report.bad_tags += link_counts_.wrong_peer;
  report.replays += link_counts_.late;
  report.bad_frames += link_counts_.malformed;
}

}  // namespace gossamer::shell
