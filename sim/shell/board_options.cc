// SPDX-License-Identifier: Apache-2.0
#include "board_options.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace gossamer::shell {
namespace {

volatile sig_atomic_t ended = 0;
std::string program_name;

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "%s: %s\n", program_name.c_str(), text.c_str());
  std::exit(2);
}

uint64_t parse(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const uint64_t value = std::strtoull(text.c_str(), &end, 0);
  if (text.empty() || *end) fail(option + " " + text + ": must be a number");
  return value;
}

}  // namespace

bool read_keys(const std::string& path, BoardOptions& options) {
  std::ifstream file(path);
  if (!file) return false;
  std::string line;
  for (unsigned count = 0; std::getline(file, line); count++) {
    const auto key = parse_key(line);
    if (!key || count > 1) throw PortError(path + ": is not a board's file of keys");
    if (count == 0) options.key = *key;
    if (count == 1) options.next_key = *key;
  }
  return true;
}

bool write_keys(const std::string& path, const uint8_t* key, const uint8_t* next) {
  if (path.empty()) return false;
  std::string text;
  for (const uint8_t* one : {key, next}) {
    for (size_t i = 0; one && i < shell_key_bytes; i++) {
      text += "0123456789abcdef"[one[i] >> 4];
      text += "0123456789abcdef"[one[i] & 15];
    }
    if (one) text += '\n';
  }
  const std::string partial = path + ".partial";
  const int file = open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && !fsync(file);
  return !close(file) && written && !rename(partial.c_str(), path.c_str());
}

std::optional<Key> parse_key(const std::string& digits) {
  Key key;
  if (digits.size() != 2 * key.size() || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
    return std::nullopt;
  for (size_t i = 0; i < key.size(); i++)
    key[i] = static_cast<uint8_t>(std::stoul(digits.substr(2 * i, 2), nullptr, 16));
  return key;
}

bool stopped() { return ended != 0; }

uint64_t MoreOptions::number(const std::string& name, uint64_t otherwise) const {
  const auto found = texts.find(name);
  return found == texts.end() ? otherwise : parse(name, found->second);
}

std::string MoreOptions::text(const std::string& name) const {
  const auto found = texts.find(name);
  return found == texts.end() ? "" : found->second;
}

int board_main(const std::string& program, int count, char** words,
               const std::function<void(const BoardOptions&, Port&, const MoreOptions&)>& run) {
  program_name = program;
  BoardOptions options;
  MoreOptions more;
  std::string port;
  bool keyed = false;
  for (int i = 1; i < count; i++) {
    const std::string word = words[i];
    if (word.starts_with("+")) continue;
    if (i + 1 == count) fail(word + ": needs a value");
    const char* value = words[++i];
    if (word == "--port") {
      port = value;
    } else if (word == "--mac") {
      const auto mac = Mac::parse(value);
      if (!mac || mac->group()) fail(std::string("--mac ") + value + ": must be an address of one station");
      options.mac = *mac;
    } else if (word == "--key") {
      const auto key = parse_key(value);
      if (!key) fail("--key: must have 64 hexadecimal digits");
      options.key = *key;
      keyed = true;
    } else if (word == "--serial")
      options.serial = parse(word, value);
    else if (word == "--type")
      options.board_type = static_cast<uint32_t>(parse(word, value));
    else if (word == "--memory")
      options.memory_bytes = parse(word, value);
    else if (word == "--image-max")
      options.image_max = parse(word, value);
    else if (word == "--reserve")
      options.reserve = parse(word, value);
    else if (word == "--boot")
      options.boot = static_cast<uint32_t>(parse(word, value));
    else if (word == "--seed")
      options.seed = parse(word, value);
    else if (word == "--key-file")
      options.key_file = value;
    else if (word == "--latency" || word == "--pause" || word == "--local-config" || word == "--local-hold" ||
             word == "--config-max")
      more.texts[word] = value;
    else
      fail(word + ": no such option");
  }
  if (port.empty() || !keyed || options.mac == Mac{}) fail("needs --port, --mac and --key");
  struct sigaction action{};
  action.sa_handler = [](int) { ended = 1; };
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  try {
    options.types = EtherTypes::site();
    if (!options.key_file.empty()) read_keys(options.key_file, options);
    const auto opened = open_port(port, options.types, options.mac);
    run(options, *opened, more);
  } catch (const PortError& error) {
    // When the switch ends, so do its boards: that is how a simulated cluster is taken down.
    if (std::string(error.what()).find("has ended") != std::string::npos) return 0;
    fail(error.what());
  } catch (const std::invalid_argument& error) {
    fail(error.what());
  }
  return 0;
}

}  // namespace gossamer::shell
