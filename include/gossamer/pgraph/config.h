// SPDX-License-Identifier: Apache-2.0
/// Which engine runs a graph, and what goes wrong. A part of pgraph.h.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace gossamer {

/// What goes wrong in setting up or running a graph: one sentence.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using PVertexId = uint32_t;

/// Which engine runs a program, and how.
struct RunConfig {
#ifdef GOSSAMER_BOARDS
  std::string engine = "rtl";
#else
  std::string engine = "cpu";
#endif
  unsigned threads = 0;  // 0: every CPU
  uint64_t seed = 0;     // of the shuffle engine

  /// As the command that started the program has said. Throws Error.
  static RunConfig fromEnvironment() {
    RunConfig config;
    if (const char* name = std::getenv("GOSSAMER_ENGINE")) config.engine = name;
    config.threads = static_cast<unsigned>(number("GOSSAMER_THREADS"));
    config.seed = number("GOSSAMER_SEED");
    return config;
  }

 private:
  static uint64_t number(const char* name) {
    const char* text = std::getenv(name);
    if (!text || !*text) return 0;
    char* end = nullptr;
    const uint64_t value = std::strtoull(text, &end, 10);
    if (*end) throw Error(std::string(name) + "=" + text + ": not a number");
    return value;
  }
};

}  // namespace gossamer
