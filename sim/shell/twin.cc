// SPDX-License-Identifier: Apache-2.0
/// A simulated board in software: sim/shell/board.h on a port.
///
///   shell_twin --port NAME --mac MAC --key HEX [--serial N] [--type N] [--memory BYTES] [--image-max BYTES]
///              [--reserve BYTES] [--boot N] [--seed N] [--key-file FILE]
///
/// FILE is where the board stores keys when the host renews them; if it exists, it replaces HEX.
/// NAME is an interface or the socket of shell_switch. Ends at SIGTERM, SIGINT, or with its switch.

#include "board.h"

int main(int count, char** words) {
  using namespace gossamer::shell;
  return board_main("shell_twin", count, words, [](const BoardOptions& options, Port& port, const MoreOptions&) {
    Board board(options, port);
    board.run(stopped);
  });
}
