// SPDX-License-Identifier: Apache-2.0
/// Checks of C++ harnesses: the first failed check ends the program with file, line and message.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(condition, ...)                              \
  do {                                                     \
    if (!(condition)) {                                    \
      std::fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
      std::fprintf(stderr, __VA_ARGS__);                   \
      std::fprintf(stderr, "\n");                          \
      std::exit(1);                                        \
    }                                                      \
  } while (0)
