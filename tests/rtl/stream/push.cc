// SPDX-License-Identifier: Apache-2.0
// Simulates push_top: a reported wait of the other end, early or late, must not match again when the message counter
// has wrapped around.
//
//   push EACH WAITED MESSAGES    prints the messages, and the number of faults reported at the end
//   push waits                   reports exactly the waits that this end never answers
//
// Collectives have one message each here, except one in EACH, which has none. The other end reports a wait for the
// first WAITED messages: alternately in the cycle before they are opened, in that cycle or up to two messages later. At
// the end the other end waits for a message of another collective, which must be reported.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "Vpush_top.h"
#include "verilated.h"

namespace {

/// The other end waits for the next message in a collective of this number: reported exactly if this end has reached
/// that collective, and is in another one or does not send there.
int waits() {
  for (const bool sends : {true, false}) {
    for (const bool opened : {true, false}) {
      for (const int wanted : {99, 100, 101}) {
        for (const int message : {0, 1, 2}) {
          VerilatedContext context;
          Vpush_top top{&context};
          const auto tick = [&] {
            unsigned told = 0;
            for (int level : {0, 1}) {
              top.clk_i = level;
              top.eval();
              if (!level) told = top.report_o;
            }
            return told;
          };
          for (int i = 0; i < 4; ++i) tick();
          top.rst_ni = 1;
          top.bind_i = 1;
          tick();
          top.bind_i = 0;
          top.number_i = 100;
          top.sends_i = sends;
          // One message of the collective has been sent.
          if (opened) {
            top.open_i = 1;
            tick();
            top.open_i = 0;
            for (int i = 0; i < 8; ++i) tick();
          }
          top.want_i = 1;
          top.want_message_i = uint16_t(message);
          top.want_number_i = uint16_t(wanted);
          unsigned told = 0;
          for (int i = 0; i < 12; ++i) {
            told += tick();
            top.want_i = 0;
          }
          const bool never = message == opened && (wanted < 100 || (wanted == 100 && !sends));
          if (told != never) {
            std::printf("sends %d opened %d wanted %d message %d: %u faults\n", sends, opened, wanted, message, told);
            return 1;
          }
        }
      }
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) return waits();
  if (argc != 4) return 2;
  const auto argument = [&](int at) { return std::strtoull(argv[at], nullptr, 10); };
  const uint64_t each = argument(1), waited = argument(2), messages = argument(3);
  VerilatedContext context;
  Vpush_top top{&context};
  const auto half = [&](int level) {
    top.clk_i = level;
    top.eval();
  };
  const auto tick = [&] {
    half(0);
    half(1);
  };
  for (int i = 0; i < 4; ++i) tick();
  top.rst_ni = 1;
  top.sends_i = 1;
  top.bind_i = 1;
  tick();
  top.bind_i = 0;
  const auto number = [&](uint64_t message) { return uint16_t(message + message / each); };
  uint64_t sent = 0, told = 0;
  const auto want = [&](uint64_t message, uint16_t collective) {
    top.want_i = 1;
    top.want_message_i = uint16_t(message);
    top.want_number_i = collective;
  };
  for (uint64_t at = 0; at < messages; ++at) {
    top.number_i = number(at);
    const unsigned when = at < waited ? unsigned(at % 4) : 4;
    if (when == 0) {
      want(at, number(at));
      tick();
      top.want_i = 0;
    }
    top.open_i = 1;
    if (when == 1) want(at, number(at));
    if ((when == 2 || when == 3) && at >= when) want(at - when + 1, number(at - when + 1));
    bool opens = false;
    for (unsigned i = 0; !opens; ++i) {
      half(0);
      opens = top.open_ready_o;
      if (top.report_o || i == 100)
        return std::printf("message %llu: a fault\n", static_cast<unsigned long long>(at)), 1;
      half(1);
      top.want_i = 0;
    }
    top.open_i = 0;
    for (bool put = false; !put;) {
      half(0);
      put = top.put_o;
      half(1);
    }
    // A flit of the buffer for the next message, and one for the pause of a header.
    top.credits_i = 1;
    tick();
    top.credits_i = 0;
    ++sent;
    for (unsigned i = 0; i < 3; ++i) tick();
  }
  top.number_i = number(messages);
  want(messages, uint16_t(number(messages) - 1));
  for (unsigned i = 0; i < 8; ++i) {
    half(0);
    told += top.report_o;
    half(1);
    top.want_i = 0;
  }
  std::printf("messages %llu told %llu\n", static_cast<unsigned long long>(sent),
              static_cast<unsigned long long>(told));
  return told == 1 ? 0 : 1;
}
