// SPDX-License-Identifier: Apache-2.0
/// Command line of a simulated board, and what its programs have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "shell/frame.h"
#include "shell/port.h"

namespace gossamer::shell {

/// What distinguishes a board.
struct BoardOptions {
  Mac mac;
  Key key{};
  std::optional<Key> next_key;  ///< derived by rekey, not used by the host yet
  std::string key_file;         ///< where keys are stored when they change; empty: rekey is rejected
  uint16_t vendor = 0x1234, product = 1;
  uint32_t board_type = 1;
  uint64_t serial = 0;
  uint64_t memory_bytes = 64 << 20;
  uint64_t image_max = uint64_t{256} << 20;
  uint64_t reserve = 0;  ///< bytes of memory for images that are there from the start, as on a board
  uint32_t boot = 1;
  uint64_t seed = 0;  ///< of challenges; 0: from the system
  EtherTypes types;
};

/// A key from 64 hexadecimal digits.
std::optional<Key> parse_key(const std::string& digits);
/// Reads the keys that a board has stored; false if the file does not exist. PortError if it has none.
bool read_keys(const std::string& path, BoardOptions& options);

/// Stores a board's key, and the next one or null, in a file that is whole at any moment; whether that was possible.
bool write_keys(const std::string& path, const uint8_t* key, const uint8_t* next);

/// Further options of a program, as texts.
struct MoreOptions {
  std::map<std::string, std::string> texts;

  /// The number of an option; ends the program with one line if it is none.
  uint64_t number(const std::string& name, uint64_t otherwise) const;
  /// The text of an option, or an empty one.
  std::string text(const std::string& name) const;
};

/// Whether the program is to end: SIGTERM or SIGINT has arrived.
bool stopped();

/// Reads the command line, opens the port and runs a board until it returns; the program's exit code. Words that begin
/// with + are the simulator's.
int board_main(const std::string& program, int count, char** words,
               const std::function<void(const BoardOptions&, Port&, const MoreOptions&)>& run);

}  // namespace gossamer::shell
