// SPDX-License-Identifier: Apache-2.0
#include "gossamer/core/error.h"

#include <cstdarg>
#include <cstdio>

#include "gossamer/abi.h"

namespace {
thread_local char last_error[1024] = "";
}

namespace gossamer {

int fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(last_error, sizeof last_error, format, arguments);
  va_end(arguments);
  return GS_FAILED;
}

}  // namespace gossamer

const char* gs_last_error() { return last_error; }
int gs_abi_version() { return GS_ABI_VERSION; }
