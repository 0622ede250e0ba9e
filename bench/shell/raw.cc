// SPDX-License-Identifier: Apache-2.0
/// A raw broadcast, the reference of configurations: the same frames without the protocol.
///
///   raw send PORT MAC BYTES MTU     sends the data frames of an image of BYTES, then end marks until its input ends
///   raw receive PORT MAC BYTES MTU  copies the payloads to their places and counts frames until an end mark
///
/// The sender prints the time before its first frame; a receiver prints "ready", then the frames that it has received
/// and the time of the last one. Times are seconds of the machine's monotonic clock.

#include <poll.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "shell/frame.h"
#include "shell/port.h"

namespace {

using namespace gossamer::shell;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

constexpr size_t kFramesAtOnce = 16;

}  // namespace

int main(int count, char** words) {
  if (count != 6) {
    std::fprintf(stderr, "raw: needs send or receive, a port, an address, bytes and an MTU\n");
    return 2;
  }
  const EtherTypes types;
  const size_t bytes = std::strtoull(words[4], nullptr, 10);
  const size_t chunk = std::strtoul(words[5], nullptr, 10) >= 9000 ? shell_chunk_bytes_9000 : shell_chunk_bytes_1500;
  const size_t frames = (bytes + chunk - 1) / chunk;
  std::vector<uint8_t> image(frames * chunk);
  try {
    const auto port = open_port(words[2], types, Mac::parse(words[3]).value_or(Mac{}));
    if (std::string(words[1]) == "send") {
      // As they will be on the wire; made before the time is taken.
      std::vector<std::vector<uint8_t>> encoded(frames);
      for (size_t i = 0; i < frames; i++) {
        ShellHeader header;
        header.kind = ShellKind::Data;
        header.offset = i;
        encode({kBroadcast, port->mac(), header, {image.data() + i * chunk, chunk}}, types, nullptr, encoded[i]);
      }
      const std::vector<std::span<const uint8_t>> all(encoded.begin(), encoded.end());
      std::printf("%.6f\n", now());
      for (size_t at = 0; at < frames; at += kFramesAtOnce)
        port->send_all(std::span(all).subspan(at, std::min(kFramesAtOnce, frames - at)));
      std::fflush(stdout);
      std::vector<uint8_t> end;
      encode({kBroadcast, port->mac(), ShellHeader{}, {}}, types, nullptr, end);
      pollfd input{0, POLLIN, 0};
      do port->send(end);
      while (poll(&input, 1, 50) == 0);
      return 0;
    }
    for (size_t i = 0; i < image.size(); i += 4096) image[i] = 1;
    std::printf("ready\n");
    std::fflush(stdout);
    size_t received = 0;
    double last = now();
    for (;;) {
      auto frame = port->next(100);
      const size_t before = received;
      for (; frame.size() == shell_frame_header_bytes + chunk; frame = port->next(0)) {
        const uint64_t at = get(frame, 32, 8);
        if (at < frames) std::memcpy(image.data() + at * chunk, frame.data() + shell_frame_header_bytes, chunk);
        received++;
      }
      if (received != before) last = now();
      if (!frame.empty()) break;
    }
    std::printf("%zu %.6f\n", received, last);
  } catch (const PortError& error) {
    std::fprintf(stderr, "raw: %s\n", error.what());
    return 2;
  }
  return 0;
}
