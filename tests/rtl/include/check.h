// SPDX-License-Identifier: Apache-2.0
/// What a harness in C++ checks: the first thing that is wrong ends it, with file, line and words.
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
