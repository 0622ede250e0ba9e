// SPDX-License-Identifier: Apache-2.0
/// The engine of a run, and errors. Part of pgraph.h.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

namespace gossamer {

/// An error in setting up or running a graph: one sentence.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& text, bool died = false) : std::runtime_error(text), died_(died) {}

  /// True if a run aborted, for example because a handler crashed. False if the program asked for something
  /// impossible.
  bool died() const { return died_; }

 private:
  bool died_;
};

namespace detail {

/// Reports an uncaught Error as one line, and exits with the code that an application would return for it. Other
/// uncaught exceptions terminate the program as usual.
inline void reportUncaught() {
  static const std::terminate_handler before = std::set_terminate([] {
    try {
      if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      const char* const source = std::getenv("GOSSAMER_SOURCE");
      std::fflush(stdout);
      std::fprintf(stderr, "gossamer: error: %s%s%s\n", source ? source : "", source ? ": " : "", error.what());
      std::_Exit(error.died() ? 4 : 2);
    } catch (...) {
    }
    before();
  });
}

}  // namespace detail

using PVertexId = uint32_t;

/// The engine of a run, and its options.
struct RunConfig {
#ifdef GOSSAMER_BOARDS
  std::string engine = "rtl";
#else
  std::string engine = "cpu";
#endif
  unsigned threads = 0;  // 0: every CPU
  uint64_t seed = 0;     // of the shuffle engine

  /// The options of the command that started the program. Throws Error.
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
