// SPDX-License-Identifier: Apache-2.0
// The part of the devices' shared object that does not depend on the device.
#include <gossamer_polite_job.h>
#include <gossamer_polite_who.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include <mutex>
#include <string>

#include <tinsel.h>

const gossamer::compat::Job* gossamer_polite_job = nullptr;

namespace gossamer::compat {
thread_local const void* state_of_device = nullptr;
thread_local const void* first_state = nullptr;
}  // namespace gossamer::compat

namespace {

uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

/// The cycle counter, one for all devices: its time up to the last command, and when it was started (0: stopped).
std::mutex counter;
uint64_t counted = 0, started = now();

void put_character(char c) {
  constexpr size_t kLongestLine = 1024;
  thread_local std::string line;
  if (c != '\n') line.push_back(c);
  if (c != '\n' && line.size() < kLongestLine) return;
  gossamer_polite_job->line(gossamer_device_thread(), line.c_str());
  line.clear();
}

}  // namespace

uint32_t gossamer_device_thread(void) {
  using namespace gossamer::compat;
  const auto& job = *gossamer_polite_job;
  const auto at = reinterpret_cast<uintptr_t>(state_of_device) - reinterpret_cast<uintptr_t>(first_state);
  const uint64_t vertex = first_state ? at / (job.stateBytes ? job.stateBytes : 1) : job.vertices;
  return vertex < job.vertices ? job.threads[vertex] : 0;
}

uint64_t gossamer_device_cycles(void) {
  const std::lock_guard lock(counter);
  return (counted + (started ? now() - started : 0)) * TinselClockFreq / 1000;
}

void gossamer_device_count(int command) {
  const std::lock_guard lock(counter);
  const uint64_t time = now();
  counted = command == GS_PERF_CLEAR ? 0 : counted + (started ? time - started : 0);
  if (command == GS_PERF_START || (command == GS_PERF_CLEAR && started)) started = time;
  if (command == GS_PERF_STOP) started = 0;
}

void* gossamer_device_heap(void) {
  alignas(64) static thread_local char heap[4096];
  return heap;
}

int gossamer_device_putchar(int c) { return put_character(static_cast<char>(c)), c; }
int gossamer_device_puts(const char* text) {
  while (*text) put_character(*text++);
  return 0;
}
int gossamer_device_puthex(unsigned x) { return gossamer_device_printf("%x", x); }

// Like Tinsel's: %x prints eight digits. Everything else is as in C.
int gossamer_device_printf(const char* format, ...) {
  std::string own;
  for (const char* at = format; *at; ++at) {
    own += *at;
    if (at[0] != '%' || !at[1]) continue;
    if (at[1] == 'x') own += "08";
    own += *++at;
  }
  va_list words;
  va_start(words, format);
  char* text = nullptr;
  const int size = vasprintf(&text, own.c_str(), words);
  va_end(words);
  if (size < 0) return size;
  gossamer_device_puts(text);
  free(text);
  return size;
}
