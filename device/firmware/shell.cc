// SPDX-License-Identifier: Apache-2.0
// Firmware of the Ethernet shell: the control part (src/shell/control.h) on the hardware of rtl/shell/gs_shell.sv.
//
// The hardware receives frames into a ring, checks checksums and tags, moves all bytes and hashes blocks; the firmware
// decides. A wait here is one for memory, so it is short; whatever takes longer is a job that `poll` continues.

#include <stdint.h>

#include "gossamer/shell_constants.h"
#include "shell/blake2s_core.h"
#include "shell/control.h"

namespace {

using namespace gossamer::shell;

// Registers of gs_shell, by their number.
enum Reg : uint32_t {
  kTime = 0x00,  // a write is the sign of life for the watchdog
  kEntropyLow = 0x01,
  kEntropyHigh = 0x02,
  kMacHigh = 0x03,
  kMacLow = 0x04,
  kBoardType = 0x05,
  kVendorProduct = 0x06,
  kSerialHigh = 0x07,
  kSerialLow = 0x08,
  kBoot = 0x09,
  kMemoryBytes = 0x0A,
  kImageMax = 0x0B,
  kMtu = 0x0C,
  kRingBytes = 0x0D,
  kImageBase = 0x0E,
  kKey = 0x10,
  kSessionKey = 0x18,  // read: the next key
  kSession = 0x20,     // read: whether there is a next key
  kFrame = 0x21,
  kSeen = 0x22,
  kBad = 0x23,
  kOverruns = 0x24,
  kSend = 0x25,
  kFast = 0x26,      // 1: the hardware executes writes; read: number of the next command
  kExpected = 0x27,  // sets that number
  kWriteFrom = 0x28,
  kWriteTo = 0x29,
  kWrite = 0x2A,
  kReadAt = 0x2C,
  kReadRing = 0x2D,
  kRead = 0x2E,
  kBodyAt = 0x30,
  kManifestBytes = 0x31,
  kBodyBytes = 0x32,
  kImage = 0x33,
  kRoot = 0x38,
  kStart = 0x40,
  kRole = 0x41,
  kCode = 0x42,
  kCyclesHigh = 0x43,
  kCyclesLow = 0x44,
  kAddressHigh = 0x45,
  kAddressLow = 0x46,
  kBytesHigh = 0x47,
  kBytesLow = 0x48,
  kStreams = 0x49,
  kRegisterRead = 0x4C,
  kRegisterData = 0x4D,
  kRegisterWrite = 0x4E,
  kConfig = 0x50,
  kLocal = 0x51,
  kStoreWord = 0x52,
  kStore = 0x53,  // the last word; read: bits 2 to 0 failed, busy, a word waits
  kLocalRole = 0x54,
  kMessages = 0x60,     // write: 1 begins a run's messages, 0 ends them; read: handled, bits of MessageBits, events
  kResend = 0x61,       // write: a stream; read: packets accepted
  kClearEvents = 0x62,  // read: frames sent
  kTypes = 0x68,
  kPattern = 0x80,    // words of the headers that gs_shell_fast compares with
  kHeader = 0x90,     // words of the headers of packets to send
  kLinkTable = 0xA0,  // four words for each link: gs_shell_links
  kLinks = 0xB0,  // write: the links with a peer; read: links of the role, bit 8 table in use, links of the hardware
  kLinkCounts = 0xB4,
};
enum ImageCommand : uint32_t { kBegin = 1, kDiscard = 2, kCheckManifest = 3, kCheckBlock = 4, kLoadBody = 5 };
enum ReadTo : uint32_t { kToPlace = 0, kToXor = 1U << 28 };
enum MessageBits : uint32_t { kPacketWaits = 1U << 15, kMessagesBusy = 1U << 14 };
constexpr uint32_t kTableRead = 1U << 8;
constexpr unsigned kHandled = 16, kPending = 8, kSent = 4;  // the first bit of a field of kMessages
constexpr uint32_t kWriteImage = 1U << 31, kSealed = 1U << 31;

constexpr uint32_t kMaxChunks = 1U << 17, kMaxBlocks = 2048;
constexpr uint32_t kMaxStreams = 4;
constexpr uint32_t kFirstBit = 1U << 31;
constexpr uint32_t kNoChunk = ~uint32_t{0};
constexpr uint32_t kBlockBytes = 1U << shell_block_bytes_log2;
constexpr uint64_t kStopMs = 1000, kConfigMs = 10000, kStoreMs = 500;

volatile uint32_t* const registers = reinterpret_cast<volatile uint32_t*>(0x80000000U);
volatile uint32_t* const place = reinterpret_cast<volatile uint32_t*>(0x81000000U);
constexpr uint32_t kRing = 0x82000000U;
constexpr uint32_t kSwapped = 0x00800000U;  // the same with the bytes of each word in the opposite order
volatile uint32_t* const swapped_place = reinterpret_cast<volatile uint32_t*>(0x81000000U + kSwapped);

uint32_t swap(uint32_t word) { return word << 24 | (word & 0xFF00U) << 8 | (word >> 8 & 0xFF00U) | word >> 24; }

uint32_t reg(uint32_t number) { return registers[number]; }
void set(uint32_t number, uint32_t value) { registers[number] = value; }
uint64_t pair(uint32_t high, uint32_t low) { return uint64_t{reg(high)} << 32 | reg(low); }

class Hardware final : public Platform {
 public:
  Hardware() {
    // The words of the key have its first byte in their lowest bits.
    for (unsigned i = 0; i < 9; i++) types_[i] = static_cast<uint16_t>(reg(kTypes + i / 2) >> (16 * (i % 2)));
    for (unsigned i = 0; i < 8; i++)
      for (unsigned k = 0; k < 4; k++) key_[4 * i + k] = static_cast<uint8_t>(reg(kKey + i) >> (8 * k));
  }

  Identity identity() const {
    Identity id;
    id.mac = pair(kMacHigh, kMacLow);
    for (unsigned i = 0; i < sizeof key_; i++) id.key[i] = key_[i];
    id.has_next_key = reg(kSession) & 1;
    for (unsigned i = 0; i < sizeof key_; i++)
      id.next_key[i] = static_cast<uint8_t>(reg(kSessionKey + i / 4) >> (8 * (i % 4)));
    id.vendor = static_cast<uint16_t>(reg(kVendorProduct) >> 16);
    id.product = static_cast<uint16_t>(reg(kVendorProduct));
    id.board_type = reg(kBoardType);
    id.serial = pair(kSerialHigh, kSerialLow);
    id.memory_bytes = reg(kMemoryBytes);
    id.image_max = reg(kImageMax);
    id.boot = reg(kBoot);
    id.mtu = static_cast<uint16_t>(reg(kMtu));
    // Frames of the largest size that the ring holds, one of which may be arriving.
    id.credits = static_cast<uint16_t>(reg(kRingBytes) / (reg(kMtu) + 14) - 1);
    id.sink_rate = 125000;
    return id;
  }
  void bind(Control& control) { control_ = &control; }

  /// Handles a frame, if there is one.
  bool frame() {
    const uint32_t status = reg(kFrame);
    if (!(status & 1)) return false;
    Request& request = request_;  // its other fields are not read in frames of an image
    const uint32_t at = kRing + (status >> 16);
    const auto* words = reinterpret_cast<volatile uint32_t*>(at + kSwapped);
    request.bytes = reinterpret_cast<const uint8_t*>(at);
    request.authentic = status & 2;
    uint32_t w[13];
    auto& h = request.header;
    // Frames of an image come at the rate of the wire: of those, only what is needed is read.
    w[3] = words[3];
    w[4] = words[4];
    h.version = static_cast<uint8_t>(w[3] >> 12 & 15);
    h.kind = static_cast<ShellKind>(w[4] >> 24);
    h.length = static_cast<uint16_t>(w[4]);
    h.offset = uint64_t{words[8]} << 32 | words[9];
    h.binding = uint64_t{words[10]} << 32 | words[11];
    if (h.kind == ShellKind::Data && h.version == shell_version && static_cast<uint16_t>(w[3] >> 16) == types_[1]) {
      control_->handle(request);
      set(kFrame, 0);
      return true;
    }
    if (status & 4) {
      h.seq = words[5];
      h.session = uint64_t{words[6]} << 32 | words[7];
      control_->answer_stored(request);
      set(kFrame, 0);
      return true;
    }
    follow();
    constexpr uint8_t kRest[] = {0, 1, 2, 5, 6, 7, 12};
    for (const unsigned i : kRest) w[i] = words[i];
    request.to = uint64_t{w[0]} << 16 | w[1] >> 16;
    request.from = uint64_t{w[1] & 0xFFFF} << 32 | w[2];
    const uint32_t flags = w[3] >> 8;
    h.wants_answer = flags >> 3 & 1;
    h.first = flags >> 2 & 1;
    h.last = flags >> 1 & 1;
    h.take_over = flags & 1;
    h.status = static_cast<ShellStatus>(w[4] >> 16 & 0xFF);
    h.seq = w[5];
    h.session = uint64_t{w[6]} << 32 | w[7];
    h.acknowledge = w[12];
    if (h.version != shell_version)
      control_->dropped(request, request.to == mac());
    else if (!known(h.kind, static_cast<uint16_t>(w[3] >> 16)))
      control_->dropped(request, false);
    else
      control_->handle(request);
    // The hardware waits while it has given a frame to the firmware, so its number can be set.
    set(kExpected, control_->expected());
    allow(control_->stores());
    set(kFrame, 0);
    return true;
  }

  /// Learns which writes the hardware has executed.
  void follow() {
    if (fast_) control_->stored(reg(kFast));
    if (!running_) return;
    const uint32_t handled = reg(kMessages) >> kHandled;
    if (handled != handled_) control_->heard();
    handled_ = handled;
  }

  /// Lets the hardware execute writes or not, after the state has changed outside of a frame.
  void allow() {
    if (fast_ == control_->stores()) return;
    if (!fast_) set(kExpected, control_->expected());
    allow(!fast_);
  }

  /// Continues the jobs: checks of blocks, loading.
  void poll() {
    image_poll();
    load_poll();
  }

  /// Follows the local port, whose images become the role too.
  void local_poll() {
    const uint32_t local = reg(kLocal), changed = local ^ local_;
    const bool busy = local >> 16 & 1;
    if (changed & 0xFF) {
      uint8_t root[16];
      for (unsigned i = 0; i < sizeof root; i++)
        root[i] = static_cast<uint8_t>(reg(kLocalRole + i / 4) >> (24 - 8 * (i % 4)));
      unbind();
      control_->restore_role(root);
    } else if (changed && !busy) {
      control_->restore_role(nullptr);
    }
    if (busy) control_->suspend_role();
    local_ = local;
  }

  bool running() const { return running_; }

  // ---------------------------------------------------------------------------------------------------- Platform

  uint64_t now() override {
    const uint32_t low = reg(kTime);
    time_ += static_cast<uint32_t>(low - static_cast<uint32_t>(time_));
    return time_;
  }

  uint64_t random() override {
    uint8_t digest[32];
    SmallHash hash(key_);
    hash.add_number(pair(kEntropyHigh, kEntropyLow), 8);
    hash.add_number(draws_++, 4);
    hash.add_number(now(), 8);
    hash.finish(digest);
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++) value = value << 8 | digest[i];
    return value;
  }

  void transmit(uint64_t to, const ShellHeader& header, const uint8_t* payload, uint32_t length, Seal seal) override {
    if (seal == Seal::Board) return transmit_by_board(to, header, payload, length);
    head(to, header, length, 0, 0);
    words_to_place(16, payload, length);
    set(kSend, length | (seal == Seal::Session ? kSealed : 0));
  }

  void transmit_memory(uint64_t to, const ShellHeader& header, uint64_t address, uint32_t length) override {
    head(to, header, length, 0, 0);
    read(static_cast<uint32_t>(address), length, kToPlace);
    set(kSend, length | kSealed);
  }

  void session_key(const uint8_t* key) override {
    allow(false);
    set(kSession, 0);
    if (!key) return;
    set_pattern(0);
    uint32_t h[8];
    uint8_t block[64] = {};
    for (unsigned i = 0; i < 32; i++) block[i] = key[i];
    blake2s_begin(h, true);
    blake2s_block(h, block, 64, false);
    for (unsigned i = 0; i < 8; i++) set(kSessionKey + i, h[i]);
    set(kSession, 1);
  }

  bool keep_keys(const uint8_t* key, const uint8_t* next) override {
    if (reg(kStore) & 2) return false;  // it has not answered the last request
    const uint64_t since = now();
    const uint32_t words = next ? 16 : 8;
    for (uint32_t i = 0; i < words; i++) {
      const uint8_t* from = (i < 8 ? key : next) + 4 * (i % 8);
      while (reg(kStore) & 1)
        if (now() - since > kStoreMs) return false;
      set(i + 1 == words ? kStore : kStoreWord,
          from[0] | uint32_t{from[1]} << 8 | uint32_t{from[2]} << 16 | uint32_t{from[3]} << 24);
    }
    while (reg(kStore) & 2)
      if (now() - since > kStoreMs) return false;
    if (reg(kStore) & 4) return false;
    for (unsigned i = 0; i < sizeof key_; i++) key_[i] = key[i];
    return true;
  }

  void count(ShellStatusReport& report) override {
    report.frames_received = reg(kSeen);
    report.bad_frames += reg(kBad);
    report.overruns = reg(kOverruns);
    report.role_resets = role_resets_;
    report.messages += reg(kResend);
    report.frames_sent += reg(kClearEvents) + reg(kLinkCounts);
    report.bad_tags += reg(kLinkCounts + 1);
    report.replays += reg(kLinkCounts + 2);
    report.bad_frames += reg(kLinkCounts + 3);
  }

  // ---------------------------------------------------------------------------------------------------- images

  ShellStatus image_begin(const ShellImage& image) override {
    const uint32_t blocks = image.manifest_bytes / shell_block_hash_bytes;
    if (image.chunks > kMaxChunks || blocks > kMaxBlocks) return ShellStatus::BadImage;
    body_at_ = control_->manifest_chunks() * image.chunk_bytes;
    blocks_ = blocks;
    missing_ = image.chunks;
    manifest_missing_ = control_->manifest_chunks();
    manifest_good_ = manifest_due_ = false;
    for (uint32_t i = 0; i < kMaxBlocks / 32; i++) due_[i] = 0;
    due_count_ = due_at_ = 0;
    job_ = Job::None;
    for (uint32_t i = 0; i < image.chunks / 32; i++) have_[i] = 0;
    have_[image.chunks / 32] = ~uint32_t{0} >> image.chunks % 32;
    for (uint32_t i = 0; i < kMaxBlocks / 32; i++) good_[i] = 0;
    const auto body = static_cast<uint32_t>(image.body_bytes);
    for (uint32_t b = 0; b < blocks; b++) block_missing_[b] = chunks_of(b, image, body);
    good_count_ = 0;
    set(kBodyAt, body_at_);
    set(kManifestBytes, image.manifest_bytes);
    set(kBodyBytes, body);
    for (unsigned i = 0; i < 8; i++) {
      // Most significant byte first in the layout; the hardware has a digest's first byte in the lowest bits.
      const uint64_t word = image.root.word[3 - i / 2];
      set(kRoot + i, swap(static_cast<uint32_t>(i & 1 ? word : word >> 32)));
    }
    set(kImage, kBegin);
    // The guard rejects writes while it erases its marks; the host sends chunks as soon as it has the answer.
    while (reg(kImage) & 16) {
    }
    receiving_ = true;
    return ShellStatus::Ok;
  }

  void image_discard() override {
    receiving_ = false;
    wait_for_check();
    set(kImage, kDiscard);
  }

  uint32_t image_chunks(uint32_t word) override { return have_[word]; }
  uint32_t image_missing() override { return missing_; }
  uint32_t image_blocks_good() override { return good_count_; }

  void image_data(const Request& frame) override {
    const uint64_t chunk = frame.header.offset;
    if (chunk >= control_->image().chunks || frame.header.length != control_->chunk_size(static_cast<uint32_t>(chunk)))
      return control_->bad_data();
    if (!image_has(static_cast<uint32_t>(chunk))) store_chunk(static_cast<uint32_t>(chunk), ring_offset(frame, 0));
  }

  void image_repair(const Request& frame) override {
    const auto& image = control_->image();
    constexpr uint32_t kNumbers = 4 * shell_repair_max_chunks;
    if (frame.header.length != kNumbers + image.chunk_bytes) return control_->bad_data();
    const auto* numbers =
        reinterpret_cast<const volatile uint32_t*>(reinterpret_cast<uintptr_t>(frame.payload()) + kSwapped);
    uint32_t chunks[shell_repair_max_chunks], count = 0, wanted = kNoChunk;
    for (unsigned i = 0; i < shell_repair_max_chunks; i++) {
      const uint32_t chunk = numbers[i];
      if (chunk == kNoChunk) continue;
      if (chunk >= image.chunks) return;
      chunks[count++] = chunk;
      if (image_has(chunk)) continue;
      if (wanted != kNoChunk) return;  // two are missing: the XOR does not tell them apart
      wanted = chunk;
    }
    if (wanted == kNoChunk) return;
    const uint32_t at = ring_offset(frame, kNumbers), base = reg(kImageBase);
    for (uint32_t i = 0; i < count; i++) {
      if (chunks[i] == wanted) continue;
      set(kReadRing, at);
      read(base + offset_of(chunks[i]), control_->chunk_size(chunks[i]), kToXor);
    }
    store_chunk(wanted, at);
  }

  void image_load() override {
    allow(false);
    loading_ = Loading::Grant;
    loading_since_ = now();
    set(kConfig, 1);
  }

  // ---------------------------------------------------------------------------------------------------- role

  void store(uint64_t address, const uint8_t* bytes, uint32_t length) override {
    write(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(bytes)) - kRing, static_cast<uint32_t>(address), length);
  }

  bool has_register(uint32_t address) override { return address % 4 == 0 && address < 256; }

  bool write_register(uint32_t address, uint32_t value) override {
    set(kRegisterData, value);
    set(kRegisterWrite, address);
    return answered();
  }

  bool read_register(uint32_t address, uint32_t& value) override {
    set(kRegisterRead, address);
    const bool good = answered();
    value = reg(kRegisterData);
    return good;
  }

  uint16_t streams() override {
    const uint32_t count = reg(kStreams);
    return static_cast<uint16_t>(count < kMaxStreams ? count : kMaxStreams);
  }

  uint16_t links() override {
    const uint32_t count = reg(kLinks), most = count & 0xFF;
    return static_cast<uint16_t>(count >> 16 < most ? count >> 16 : most);
  }

  void bind(uint16_t link, const LinkPeer& peer) override {
    const uint32_t bit = 1U << link;
    set(kLinks, bound_ &= ~bit);
    if (!peer.mac) return;
    while (reg(kLinks) & kTableRead) {
    }
    const uint32_t table = kLinkTable + 4 * link;
    set(table, uint32_t{peer.link} << 16 | static_cast<uint32_t>(peer.mac >> 32));
    set(table + 1, static_cast<uint32_t>(peer.mac));
    set(table + 2, static_cast<uint32_t>(peer.identity >> 32));
    set(table + 3, static_cast<uint32_t>(peer.identity));
    set(kLinks, bound_ |= bit);
  }

  void unbind() override { set(kLinks, bound_ = 0); }

  void start(uint32_t kernel, uint64_t run) override {
    set_pattern(run);
    uint32_t words[16];
    ShellHeader header;
    header.kind = ShellKind::Packet;
    header.session = control_->session();
    header.binding = run;
    fill(words, control_->owner(), header, 0);
    for (unsigned i = 0; i < 16; i++) set(kHeader + i, words[i]);
    for (auto& stream : resends_) stream = {};
    running_ = true;
    wait_for_writer();
    set(kMessages, 1);
    set(kStart, kernel);
  }

  /// The hardware sends packets; those that the host does not acknowledge are sent again.
  void pump(uint64_t now) override {
    const uint32_t status = reg(kMessages);
    set(kClearEvents, status & 0xFF);
    for (uint32_t stream = 0; stream < kMaxStreams; stream++) {
      auto& r = resends_[stream];
      const bool retired = status >> stream & 1;
      if (retired) r.tries = 0;
      if (retired || (status >> (kSent + stream) & 1)) {
        r.sent_at = now;
      } else if ((status >> (kPending + stream) & 1) && r.due(now)) {
        set(kResend, stream);
        r.again(now);
      }
    }
  }

  void stop() override {
    set(kMessages, 0);
    while (reg(kMessages) & kMessagesBusy) {
    }
    reset_role();
    running_ = false;
  }

  bool ended(ShellRun& result, uint32_t& code) override {
    if (!(reg(kRole) & 2)) return false;
    // Packets that the role has sent before its end are still the run's.
    if (reg(kMessages) & kPacketWaits) return false;
    code = reg(kCode);
    result.cycles = pair(kCyclesHigh, kCyclesLow);
    result.result_address = pair(kAddressHigh, kAddressLow);
    result.result_bytes = pair(kBytesHigh, kBytesLow);
    return true;
  }

 private:
  enum class Job : uint8_t { None, Manifest, Block };
  enum class Loading : uint8_t { None, Grant, Body, Port };

  bool image_has(uint32_t chunk) const { return have_[chunk / 32] & kFirstBit >> chunk % 32; }

  static uint64_t mac() { return pair(kMacHigh, kMacLow); }

  /// Whether a kind exists and has this EtherType.
  bool known(ShellKind kind, uint16_t type) const { return name_of(kind) && type_of(kind) == type; }

  // ------------------------------------------------------------------------------------------------ frames

  void allow(bool fast) {
    if (fast == fast_) return;
    set(kFast, fast);
    follow();  // no write is executed any more
    fast_ = fast;
  }

  /// The headers that gs_shell_fast compares with: writes of the session, packets of the run. Fields that it does not
  /// compare are 0.
  void set_pattern(uint64_t run) {
    ShellHeader header;
    header.kind = ShellKind::Write;
    header.session = control_->session();
    header.binding = run;
    uint32_t pattern[16];
    fill(pattern, mac(), header, 0);
    pattern[1] = pattern[1] >> 16 << 16 | static_cast<uint32_t>(control_->owner() >> 32);
    pattern[2] = static_cast<uint32_t>(control_->owner());
    for (unsigned i = 0; i < 16; i++) set(kPattern + i, pattern[i]);
  }

  /// Writes the headers of the next frame; tag and check are given only if the hardware shall not make the tag.
  void head(uint64_t to, const ShellHeader& h, uint32_t length, uint32_t tag_high, uint32_t tag_low) {
    while (!(reg(kSend) & 1)) set(kTime, 0);  // the link's peer may pause this board for a while
    uint32_t words[16];
    fill(words, to, h, length);
    words[14] = tag_high;
    words[15] = tag_low;
    for (unsigned i = 0; i < 16; i++) swapped_place[i] = words[i];
  }

  /// The words of the headers, most significant byte first, with check and tag as zeros.
  void fill(uint32_t* words, uint64_t to, const ShellHeader& h, uint32_t length) const {
    const uint64_t from = mac();
    words[0] = static_cast<uint32_t>(to >> 16);
    words[1] = static_cast<uint32_t>(to << 16) | static_cast<uint32_t>(from >> 32);
    words[2] = static_cast<uint32_t>(from);
    words[3] = uint32_t{type_of(h.kind)} << 16 | shell_version << 12 | uint32_t{h.wants_answer} << 11 |
               uint32_t{h.first} << 10 | uint32_t{h.last} << 9 | uint32_t{h.take_over} << 8;
    words[4] = static_cast<uint32_t>(h.kind) << 24 | static_cast<uint32_t>(h.status) << 16 | length;
    words[5] = h.seq;
    words[6] = static_cast<uint32_t>(h.session >> 32);
    words[7] = static_cast<uint32_t>(h.session);
    words[8] = static_cast<uint32_t>(h.offset >> 32);
    words[9] = static_cast<uint32_t>(h.offset);
    words[10] = static_cast<uint32_t>(h.binding >> 32);
    words[11] = static_cast<uint32_t>(h.binding);
    words[12] = h.acknowledge;
    words[13] = words[14] = words[15] = 0;
  }

  uint16_t type_of(ShellKind kind) const {
    const auto number = static_cast<unsigned>(kind);
    static constexpr uint8_t kIndex[10] = {0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    return types_[kIndex[number >> 3 < 10 ? number >> 3 : 0]];
  }

  static void words_to_place(uint32_t at, const uint8_t* payload, uint32_t length) {
    uint32_t i = 0;
    if (reinterpret_cast<uintptr_t>(payload) % 4 == 0)
      for (const auto* words = reinterpret_cast<const uint32_t*>(payload); i + 4 <= length; i += 4)
        place[at + i / 4] = words[i / 4];
    for (; i < length; i += 4) {
      uint32_t word = 0;
      for (uint32_t k = 0; k < 4 && i + k < length; k++) word |= uint32_t{payload[i + k]} << (8 * k);
      place[at + i / 4] = word;
    }
  }

  void transmit_by_board(uint64_t to, const ShellHeader& header, const uint8_t* payload, uint32_t length) {
    uint32_t words[16];
    uint8_t bytes[64], digest[32];
    fill(words, to, header, length);
    for (unsigned i = 0; i < 64; i++) bytes[i] = static_cast<uint8_t>(words[i / 4] >> (24 - 8 * (i % 4)));
    SmallHash hash(key_);
    hash.add(bytes, sizeof bytes);
    hash.add(payload, length);
    hash.finish(digest);
    uint32_t tag[2] = {};
    for (unsigned i = 0; i < 8; i++) tag[i / 4] = tag[i / 4] << 8 | digest[i];
    head(to, header, length, tag[0], tag[1]);
    words_to_place(16, payload, length);
    set(kSend, length);
  }

  static uint32_t ring_offset(const Request& frame, uint32_t payload) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(frame.payload())) + payload - kRing;
  }

  // ------------------------------------------------------------------------------------------------ memory

  /// Writes bytes of the ring, from a word on, to memory. It ends while the firmware goes on: the hardware keeps the
  /// ring's words until then, and checks of blocks wait. Whether the image's guard refuses shows in a block's hash.
  static void write(uint32_t from, uint32_t to, uint32_t what) {
    if ((what & 0x1FFFF) == 0) return;
    wait_for_writer();
    set(kWriteFrom, from);
    set(kWriteTo, to);
    set(kWrite, what);
  }
  static void wait_for_writer() {
    while (reg(kWrite) & 1) {
    }
  }

  /// Reads bytes of memory to a destination. Checks of blocks share the reader, so it may take a while.
  static void read(uint32_t at, uint32_t bytes, uint32_t to) {
    if (bytes == 0) return;
    wait_for_writer();  // what was written is read
    set(kReadAt, at);
    set(kRead, bytes | to);
    while (reg(kRead) & 1) {
    }
  }

  bool answered() {
    uint32_t status = 0;
    do status = reg(kRegisterRead);
    while (status & 1);
    return !(status & 2);
  }

  // ------------------------------------------------------------------------------------------------ images

  static uint32_t end_of(uint32_t block, uint32_t body) {
    return body - block * kBlockBytes < kBlockBytes ? body : (block + 1) * kBlockBytes;
  }
  static uint16_t chunks_of(uint32_t block, const ShellImage& image, uint32_t body) {
    const uint32_t first = block * kBlockBytes / image.chunk_bytes,
                   last = (end_of(block, body) - 1) / image.chunk_bytes;
    return static_cast<uint16_t>(last - first + 1);
  }
  bool good(uint32_t block) const { return good_[block / 32] >> (block % 32) & 1; }

  void store_chunk(uint32_t chunk, uint32_t from) {
    const uint32_t size = control_->chunk_size(chunk), at = offset_of(chunk);
    const uint32_t manifest_chunks = control_->manifest_chunks();
    if (chunk < manifest_chunks) {
      write(from, at, size | kWriteImage);
      take(chunk);
      if (--manifest_missing_ == 0) manifest_due_ = true;
      return;
    }
    const uint32_t first = at - body_at_, end = first + size;
    if (const uint32_t b = first / kBlockBytes; b == (end - 1) / kBlockBytes) {
      if (good(b)) return;  // then the chunk is there
      write(from, at, size | kWriteImage);
      take(chunk);
      if (--block_missing_[b] == 0) want_check(b);
      return;
    }
    // A chunk in two blocks, one of which is verified: only the other part is written.
    for (uint32_t b = first / kBlockBytes; b <= (end - 1) / kBlockBytes; b++) {
      if (good(b)) continue;
      const uint32_t begin = first > b * kBlockBytes ? first : b * kBlockBytes;
      const uint32_t stop = end < (b + 1) * kBlockBytes ? end : (b + 1) * kBlockBytes;
      write(from + begin - first, body_at_ + begin, (stop - begin) | kWriteImage);
    }
    take(chunk);
    for (uint32_t b = first / kBlockBytes; b <= (end - 1) / kBlockBytes; b++)
      if (!good(b) && --block_missing_[b] == 0) want_check(b);
  }

  /// chunk * chunk_bytes; the processor has no multiplier, and a chunk is a small multiple of 64 bytes.
  uint32_t offset_of(uint32_t chunk) const {
    uint32_t product = 0;
    for (uint32_t factor = control_->image().chunk_bytes / 64; factor; factor >>= 1, chunk <<= 1)
      if (factor & 1) product += chunk;
    return product * 64;
  }

  void take(uint32_t chunk) {
    have_[chunk / 32] |= kFirstBit >> chunk % 32;
    missing_--;
  }
  void lose(uint32_t chunk) {
    if (!image_has(chunk)) return;
    have_[chunk / 32] &= ~(kFirstBit >> chunk % 32);
    missing_++;
  }

  /// A block may be asked for again while it waits: when a chunk that it shares with another block is received again.
  void want_check(uint32_t block) {
    uint32_t& word = due_[block / 32];
    due_count_ += ~word >> block % 32 & 1;
    word |= 1U << block % 32;
  }
  /// The next block that waits; one does.
  uint32_t next_check() {
    while (!due_[due_at_]) due_at_ = (due_at_ + 1) % (kMaxBlocks / 32);
    uint32_t rest = due_[due_at_], bit = 0;
    for (uint32_t half = 16; half; half /= 2)
      if (!(rest << (32 - half))) rest >>= half, bit += half;
    due_[due_at_] &= ~(1U << bit);
    due_count_--;
    return 32 * due_at_ + bit;
  }

  void image_poll() {
    if (!receiving_) return;
    if (job_ != Job::None) {
      const uint32_t status = reg(kImage);
      if (status & 1) return;
      const bool agrees = status & 2;
      if (job_ == Job::Manifest)
        manifest_checked(agrees);
      else
        block_checked(agrees);
      job_ = Job::None;
      if (missing_ == 0 && manifest_good_ && good_count_ == blocks_) {
        receiving_ = false;
        return control_->verified();
      }
    }
    // Blocks wait for the manifest.
    if (manifest_due_) {
      manifest_due_ = false;
      job_ = Job::Manifest;
      set(kImage, kCheckManifest);
    }
    if (!manifest_good_ || job_ != Job::None) return;
    while (due_count_) {
      const uint32_t block = next_check();
      if (good(block) || block_missing_[block]) continue;
      job_ = Job::Block;
      job_block_ = block;
      set(kImage, kCheckBlock | uint32_t{block} << 8);
      return;
    }
  }

  void manifest_checked(bool agrees) {
    manifest_good_ = agrees;
    if (agrees) return;
    // One of its chunks was not that of the image; which one cannot be known.
    control_->bad_hash();
    manifest_missing_ = control_->manifest_chunks();
    for (uint32_t chunk = 0; chunk < manifest_missing_; chunk++) lose(chunk);
  }

  void block_checked(bool agrees) {
    if (agrees) {
      good_[job_block_ / 32] |= 1U << (job_block_ % 32);
      good_count_++;
      return;
    }
    // A chunk of another image, or a forged one: all chunks of the block are received again. A block that is verified
    // already keeps its part of a chunk that the two share.
    control_->bad_hash();
    const auto& image = control_->image();
    const auto body = static_cast<uint32_t>(image.body_bytes);
    const uint32_t first = job_block_ * kBlockBytes / image.chunk_bytes;
    for (uint32_t c = first; c < first + chunks_of(job_block_, image, body); c++) {
      const uint32_t chunk = c + control_->manifest_chunks();
      if (!image_has(chunk)) continue;
      lose(chunk);
      const uint32_t from = c * image.chunk_bytes, size = control_->chunk_size(chunk);
      for (uint32_t b = from / kBlockBytes; b <= (from + size - 1) / kBlockBytes; b++)
        if (!good(b)) block_missing_[b]++;
    }
  }

  void wait_for_check() {
    while (reg(kImage) & 1) {
    }
    job_ = Job::None;
  }

  void load_poll() {
    if (loading_ == Loading::None) return;
    if (now() - loading_since_ > kConfigMs) return loaded(ShellStatus::ConfigFailed);
    const uint32_t port = reg(kConfig);
    if (loading_ == Loading::Grant && port & 1) {
      local_poll();
      // The old role has run until here.
      set(kRole, 1);
      set(kImage, kLoadBody);
      loading_ = Loading::Body;
    } else if (loading_ == Loading::Body && reg(kImage) & 4) {
      if (!(reg(kImage) & 2)) return loaded(ShellStatus::ConfigFailed);
      loading_ = Loading::Port;
    } else if (loading_ == Loading::Port && port & 2) {
      loaded(port & 4 ? ShellStatus::ConfigFailed : ShellStatus::Ok);
    }
  }

  void loaded(ShellStatus status) {
    loading_ = Loading::None;
    set(kConfig, 0);
    set(kRole, 0);
    if (status == ShellStatus::Ok) unbind();
    control_->loaded(status);
  }

  // ------------------------------------------------------------------------------------------------ role

  void reset_role() {
    set(kRole, 1);
    const uint64_t since = now();
    while (!(reg(kRole) & 4)) {
      if (now() - since > kStopMs) {
        role_resets_++;
        break;
      }
    }
    set(kRole, 0);
  }

  Control* control_ = nullptr;
  Request request_;
  uint8_t key_[32];
  uint16_t types_[9];
  uint64_t time_ = 0;
  uint32_t draws_ = 0, role_resets_ = 0, local_ = 0, bound_ = 0;

  bool fast_ = false;  // the hardware executes writes
  bool receiving_ = false, manifest_good_ = false, manifest_due_ = false, running_ = false;
  uint32_t body_at_ = 0, blocks_ = 0, missing_ = 0, manifest_missing_ = 0, good_count_ = 0;
  uint32_t due_count_ = 0, due_at_ = 0, job_block_ = 0;
  Job job_ = Job::None;
  Loading loading_ = Loading::None;
  uint64_t loading_since_ = 0;
  uint32_t have_[kMaxChunks / 32 + 1] = {};  // the first chunk in the most significant bit
  uint32_t good_[kMaxBlocks / 32] = {};
  uint16_t block_missing_[kMaxBlocks] = {};
  uint32_t due_[kMaxBlocks / 32] = {};  // blocks that wait for their check
  Resend resends_[kMaxStreams];
  uint32_t handled_ = 0;
};

alignas(8) uint8_t hardware_place[sizeof(Hardware)], control_place[sizeof(Control)];

}  // namespace

inline void* operator new(decltype(sizeof 0), void* at) noexcept { return at; }

int main() {
  auto& hardware = *new (hardware_place) Hardware;
  const Identity identity = hardware.identity();
  auto& control = *new (control_place) Control(identity, hardware);
  hardware.bind(control);
  control.link_up();
  bool seen = false;
  uint64_t ticked = 0;
  for (;;) {
    set(kTime, 0);
    if (!seen && reg(kSeen)) {
      seen = true;
      control.seen();
    }
    const bool busy = hardware.frame();
    hardware.follow();
    hardware.poll();
    // Frames come first; what is due is late by a millisecond at most.
    const uint64_t now = hardware.now();
    if (now != ticked || (!busy && hardware.running())) {
      ticked = now;
      hardware.local_poll();
      control.tick();
    }
    hardware.allow();
  }
}
