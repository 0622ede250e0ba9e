// SPDX-License-Identifier: Apache-2.0
/// Command-line options of a simulator, and its connection to the host.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "records.h"

namespace gossamer::sim {

/// Options of the command line.
struct Options {
  const char* waves = nullptr;
  const char* trace = nullptr;
  unsigned least = 0;    ///< shortest wait in the trace
  size_t trace_bytes = 64'000'000;  ///< most bytes of the trace
  const char* status = nullptr;  ///< folder of status files of running simulations
  const char* about = nullptr;   ///< description of this simulation in its status file
  unsigned tile = 0;     ///< the tile whose waves are written
  unsigned workers = 1;  ///< threads of this process that share the work
  const char* ranks = nullptr;   ///< library of the ranks that share the boards
  const char* socket = nullptr;  ///< the host's socket; standard input and output if null

  /// --waves FILE, --trace FILE, --least CYCLES, --trace-bytes COUNT, --status FOLDER, --about JSON, --tile NUMBER,
  /// --workers COUNT, --ranks LIBRARY, --socket PATH; the machine and the models have further options.
  static Options of(int argc, char** argv) {
    Options options;
    for (int i = 1; i + 1 < argc && argv[i][0] == '-'; i += 2) {
      const std::string option = argv[i];
      const auto number = static_cast<unsigned>(std::strtoul(argv[i + 1], nullptr, 10));
      if (option == "--waves") options.waves = argv[i + 1];
      if (option == "--trace") options.trace = argv[i + 1];
      if (option == "--least") options.least = number;
      if (option == "--trace-bytes") options.trace_bytes = std::strtoull(argv[i + 1], nullptr, 10);
      if (option == "--status") options.status = argv[i + 1];
      if (option == "--about") options.about = argv[i + 1];
      if (option == "--tile") options.tile = number;
      if (option == "--workers") options.workers = number;
      if (option == "--ranks") options.ranks = argv[i + 1];
      if (option == "--socket") options.socket = argv[i + 1];
    }
    return options;
  }
};

/// Connects standard input and output to the host's socket: MPI uses the original ones of its processes.
inline void connect_host(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int end = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (end < 0 || std::strlen(path) >= sizeof address.sun_path) fatal("the name of the host's socket is too long");
  std::strcpy(address.sun_path, path);
  if (::connect(end, reinterpret_cast<const sockaddr*>(&address), sizeof address) ||
      ::dup2(end, STDIN_FILENO) < 0 || ::dup2(end, STDOUT_FILENO) < 0) {
    fatal("the host does not answer at its socket");
  }
  ::close(end);
}

}  // namespace gossamer::sim
