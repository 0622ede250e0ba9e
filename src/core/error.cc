// SPDX-License-Identifier: Apache-2.0
#include "gossamer/core/error.h"

#include <cstdarg>
#include <cstdio>

#include "gossamer/abi.h"
#include "gossamer/core/guard.h"

namespace {
thread_local char last_error[1024] = "";
thread_local uint64_t last_vertex = GS_NO_VERTEX;
thread_local char last_addresses[8192] = "";
}  // namespace

namespace gossamer {

int fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(last_error, sizeof last_error, format, arguments);
  va_end(arguments);
  return GS_FAILED;
}

int died(const char* text, uint64_t vertex, const char* addresses) {
  std::snprintf(last_error, sizeof last_error, "%s", text);
  last_vertex = vertex;
  std::snprintf(last_addresses, sizeof last_addresses, "%s", addresses);
  return GS_DIED;
}

}  // namespace gossamer

const char* gs_last_error() { return last_error; }
const char* gs_last_death(uint64_t* vertex) {
  *vertex = last_vertex;
  return last_addresses;
}
void gs_interrupt() { gossamer::guard::interrupt(); }
int gs_abi_version() { return GS_ABI_VERSION; }
