// SPDX-License-Identifier: Apache-2.0
/// The software twin of a board's shell: the protocol of docs/hardware/shell.md on a port, with roles that are shared
/// objects. It has the states, answers and counters of the shell's RTL.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "board_memory.h"
#include "board_options.h"
#include "role_host.h"
#include "shell/control.h"
#include "shell/frame.h"
#include "shell/port.h"

namespace gossamer::shell {

using Clock = std::chrono::steady_clock;

/// Memory in large pages where the system has them: an image has tens of thousands of small ones.
class LargePages {
 public:
  /// Throws PortError without memory.
  explicit LargePages(size_t bytes);
  ~LargePages();
  LargePages(const LargePages&) = delete;
  LargePages& operator=(const LargePages&) = delete;

  std::span<uint8_t> bytes() const { return {data_, bytes_}; }
  /// Makes all pages now. The system may refuse; then they are made when they are used.
  void populate() const;

 private:
  uint8_t* data_ = nullptr;
  size_t bytes_;
};

/// An image while it is received.
struct Reception {
  Reception(const ShellImage& about, uint32_t chunks, std::span<uint8_t> memory)
      : image(about), manifest_chunks(chunks), manifest(size_t{chunks} * about.chunk_bytes), body(memory) {}

  uint8_t* place(uint32_t chunk) {
    return chunk < manifest_chunks ? manifest.data() + size_t{chunk} * image.chunk_bytes
                                   : body.data() + size_t{chunk - manifest_chunks} * image.chunk_bytes;
  }

  ShellImage image;
  uint32_t manifest_chunks = 0;
  std::vector<uint8_t> manifest;  ///< padded to whole chunks
  std::span<uint8_t> body;        ///< in the board's memory for images
  std::vector<bool> have;         ///< by chunk
  uint32_t missing = 0;
  bool manifest_good = false;
  std::vector<uint32_t> block_missing;  ///< chunks that each block still needs
  std::vector<bool> block_good;
  uint32_t blocks_good = 0;
  std::vector<uint32_t> unchecked;  ///< blocks whose chunks are all there, to be hashed together
};

class Board : private Platform, private StreamQueues {
 public:
  Board(const BoardOptions& options, Port& port);

  /// Handles frames and timers until `stop` returns true; it is asked at least every 100 ms.
  void run(const std::function<bool()>& stop);

  /// Handles one frame.
  void handle(std::span<const uint8_t> bytes);

 private:
  // What the control part asks for.
  uint64_t now() override;
  uint64_t random() override { return random_(); }
  void transmit(uint64_t to, const ShellHeader& header, const uint8_t* payload, uint32_t length, Seal seal) override;
  void transmit_memory(uint64_t to, const ShellHeader& header, uint64_t address, uint32_t length) override;
  void session_key(const uint8_t* key) override;
  bool keep_keys(const uint8_t* key, const uint8_t* next) override;
  void count(ShellStatusReport& report) override;
  ShellStatus image_begin(const ShellImage& image) override;
  void image_data(const Request& frame) override;
  void image_repair(const Request& frame) override;
  void image_discard() override { reception_.reset(); }
  uint32_t image_chunks(uint32_t word) override;
  uint32_t image_missing() override { return reception_->missing; }
  uint32_t image_blocks_good() override { return reception_->blocks_good; }
  void image_load() override;
  void store(uint64_t address, const uint8_t* bytes, uint32_t length) override;
  bool has_register(uint32_t address) override;
  bool write_register(uint32_t address, uint32_t value) override;
  bool read_register(uint32_t address, uint32_t& value) override;
  uint16_t streams() override { return role_.streams(); }
  StreamQueues* queues() override { return this; }
  StreamWindow& window(uint16_t stream) override { return windows_[stream]; }
  uint32_t inward_room(uint16_t stream) override { return role_.inward_room(stream); }
  void deliver(uint16_t stream, const uint8_t* bytes, uint32_t length) override {
    role_.deliver(stream, {bytes, length});
  }
  bool inward_taken(uint16_t stream) override { return role_.inward_taken(stream); }
  uint32_t outward_held(uint16_t stream) override { return role_.outward_held(stream); }
  void outward_retire(uint16_t stream, uint32_t packets) override { role_.outward_retire(stream, packets); }
  void transmit_outward(uint64_t to, const ShellHeader& header, uint16_t stream, uint32_t index) override;
  uint16_t links() override { return role_.links(); }
  void bind(uint16_t link, const LinkPeer& peer) override { links_[link] = {peer}; }
  void unbind() override { links_ = std::vector<Link>(role_.links()); }
  void start(uint32_t kernel, uint64_t) override { role_.start(kernel); }
  void stop() override { role_.stop(); }
  bool ended(ShellRun& result, uint32_t& code) override;

  // Links
  struct Link {
    LinkPeer peer;
    uint32_t sent = 0, received = 0;  ///< numbers of the last frames
  };
  void link_frame(const Request& frame);
  void send_links();

  // Images
  void store_chunk(uint32_t chunk, std::span<const uint8_t> bytes);
  void complete(uint32_t block);
  void check_blocks();
  void reject(uint32_t block);

  BoardOptions options_;
  Port& port_;
  std::mt19937_64 random_;
  std::vector<uint8_t> out_;
  Clock::time_point begun_ = Clock::now();
  BoardMemory memory_;
  Control control_;
  RoleHost role_;
  std::vector<StreamWindow> windows_;
  std::vector<Link> links_;
  std::vector<uint8_t> link_payload_;
  struct LinkCounts {
    uint32_t sent = 0, wrong_peer = 0, late = 0, malformed = 0;  ///< frames
  } link_counts_;
  std::optional<Blake2s> keyed_;
  std::unique_ptr<LargePages> image_memory_;  // of the largest image so far
  std::unique_ptr<Reception> reception_;
};

}  // namespace gossamer::shell
