// SPDX-License-Identifier: Apache-2.0
/// A simulated board in software: sim/shell/board.h on a port.
///
///   shell_twin --port NAME --mac MAC --key HEX [--serial N] [--type N] [--memory BYTES] [--image-max BYTES]
///              [--folder DIR] [--boot N] [--seed N]
///
/// NAME is an interface or the socket of shell_switch. Ends at SIGTERM, SIGINT, or with its switch.

#include <signal.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "board.h"

namespace {

volatile sig_atomic_t ended = 0;

[[noreturn]] void stop(const std::string& text) {
  std::fprintf(stderr, "shell_twin: %s\n", text.c_str());
  std::exit(2);
}

uint64_t number(const std::string& option, const char* text) {
  char* end = nullptr;
  const uint64_t value = std::strtoull(text, &end, 0);
  if (end == text || *end) stop(option + " " + text + ": must be a number");
  return value;
}

}  // namespace

int main(int count, char** words) {
  using namespace gossamer::shell;
  BoardOptions options;
  std::string port;
  bool keyed = false;
  options.folder = "/tmp";
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string word = words[i];
    const char* value = words[i + 1];
    if (word == "--port") {
      port = value;
    } else if (word == "--mac") {
      const auto mac = Mac::parse(value);
      if (!mac || mac->group()) stop(std::string("--mac ") + value + ": must be an address of one station");
      options.mac = *mac;
    } else if (word == "--key") {
      if (std::strlen(value) != 2 * options.key.size()) stop("--key: must have 64 hexadecimal digits");
      for (size_t k = 0; k < options.key.size(); k++) {
        unsigned byte = 0;
        if (std::sscanf(value + 2 * k, "%2x", &byte) != 1) stop("--key: must have 64 hexadecimal digits");
        options.key[k] = static_cast<uint8_t>(byte);
      }
      keyed = true;
    } else if (word == "--serial")
      options.serial = number(word, value);
    else if (word == "--type")
      options.board_type = static_cast<uint32_t>(number(word, value));
    else if (word == "--memory")
      options.memory_bytes = number(word, value);
    else if (word == "--image-max")
      options.image_max = number(word, value);
    else if (word == "--boot")
      options.boot = static_cast<uint32_t>(number(word, value));
    else if (word == "--seed")
      options.seed = number(word, value);
    else if (word == "--folder")
      options.folder = value;
    else
      stop(word + ": no such option");
  }
  if (count % 2 == 0) stop(std::string(words[count - 1]) + ": needs a value");
  if (port.empty() || !keyed || options.mac == Mac{}) stop("needs --port, --mac and --key");
  struct sigaction action{};
  action.sa_handler = [](int) { ended = 1; };
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  try {
    const auto opened = open_port(port, options.types, options.mac);
    Board board(options, *opened);
    board.run([] { return ended != 0; });
  } catch (const PortError& error) {
    // When the switch ends, so do its boards: that is how a simulated cluster is taken down.
    if (std::string(error.what()).find("has ended") != std::string::npos) return 0;
    stop(error.what());
  }
  return 0;
}
