// SPDX-License-Identifier: Apache-2.0
// A firmware for tests, with the work of a control processor: it reads commands of 64 bytes from an I/O buffer, most
// significant byte first, compares session and number, dispatches, and writes answers to another I/O buffer.
#include <cstdint>
#include <cstring>

namespace {

constexpr uint32_t kInput = 0x80001000, kOutput = 0x80002000, kCommands = 200;
volatile uint32_t& result = *reinterpret_cast<volatile uint32_t*>(0xFFFFFFF4);

uint32_t big32(const uint8_t* at) {
  return static_cast<uint32_t>(at[0]) << 24 | static_cast<uint32_t>(at[1]) << 16 | static_cast<uint32_t>(at[2]) << 8 |
         at[3];
}

void put32(uint8_t* at, uint32_t value) {
  at[0] = static_cast<uint8_t>(value >> 24);
  at[1] = static_cast<uint8_t>(value >> 16);
  at[2] = static_cast<uint8_t>(value >> 8);
  at[3] = static_cast<uint8_t>(value);
}

/// Fields of a command: kind at 14, session at 16, number at 24, offset at 32.
enum Kind : uint8_t { Add, Store, Read, Close, Kinds };

uint64_t session = 0x0123456789ABCDEF;
uint32_t next = 1, total, rejected;
uint32_t registers[16];

void execute(const uint8_t* frame, uint8_t* answer) {
  std::memset(answer, 0, 64);
  std::memcpy(answer, frame + 6, 6);
  std::memcpy(answer + 6, frame, 6);
  put32(answer + 24, next);
  const uint64_t its = static_cast<uint64_t>(big32(frame + 16)) << 32 | big32(frame + 20);
  if (its != session || big32(frame + 24) != next) {
    ++rejected;
    answer[14] = 0xFF;
    return;
  }
  ++next;
  const uint32_t offset = big32(frame + 32);
  switch (frame[14]) {
    case Add: total += offset; break;
    case Store: registers[offset & 15] = offset; break;
    case Read: put32(answer + 32, registers[offset & 15]); break;
    case Close: session += offset; break;
    default: ++rejected;
  }
  answer[14] = frame[14];
  put32(answer + 24, next);
}

}  // namespace

int main() {
  uint32_t frame[16], answer[16];
  auto* bytes = reinterpret_cast<uint8_t*>(frame);
  uint64_t key = session;
  uint32_t check = 0;
  for (uint32_t i = 0; i < kCommands; ++i) {
    // A host's command, in the I/O buffer.
    std::memset(bytes, static_cast<int>(i), 64);
    bytes[14] = static_cast<uint8_t>(i % Kinds);
    put32(bytes + 16, static_cast<uint32_t>(key >> 32));
    put32(bytes + 20, static_cast<uint32_t>(key) ^ (i % 10 == 9));
    put32(bytes + 24, i - i / 10 + 1);
    put32(bytes + 32, i);
    if (i % 10 != 9 && bytes[14] == Close) key += i;
    auto* input = reinterpret_cast<volatile uint32_t*>(kInput);
    for (int word = 0; word < 16; ++word) input[word] = frame[word];

    for (int word = 0; word < 16; ++word) frame[word] = input[word];
    execute(bytes, reinterpret_cast<uint8_t*>(answer));
    auto* output = reinterpret_cast<volatile uint32_t*>(kOutput);
    for (int word = 0; word < 16; ++word) output[word] = answer[word];
    for (uint32_t word : answer) check = (check << 5 | check >> 27) ^ word;
  }
  result = check ^ total ^ rejected << 24;
  return 0;
}
