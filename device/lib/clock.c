// SPDX-License-Identifier: Apache-2.0
// The functions of time.h that need no calendar. A board has no clock of the day: time counts from the board's start,
// in cycles of its clock.

#include <gossamer/device.h>
#include <sys/time.h>
#include <time.h>

static uint64_t cycles(void) {
  for (;;) {
    const uint32_t high = GS_CSR_READ(GS_CSR_CYCLE_HIGH), low = GS_CSR_READ(GS_CSR_CYCLE);
    if (GS_CSR_READ(GS_CSR_CYCLE_HIGH) == high) return (uint64_t)high << 32 | low;
  }
}

time_t time(time_t* to) {
  const time_t seconds = (time_t)(cycles() / GS_CLOCK_HZ);
  if (to) *to = seconds;
  return seconds;
}

/// In microseconds (CLOCKS_PER_SEC).
clock_t clock(void) { return (clock_t)(cycles() / (GS_CLOCK_HZ / 1000000)); }

int clock_gettime(clockid_t which, struct timespec* to) {
  (void)which;
  const uint64_t now = cycles();
  to->tv_sec = (time_t)(now / GS_CLOCK_HZ);
  to->tv_nsec = (long)(now % GS_CLOCK_HZ * 1000 / (GS_CLOCK_HZ / 1000000));
  return 0;
}

int gettimeofday(struct timeval* restrict to, void* restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  to->tv_sec = now.tv_sec;
  to->tv_usec = now.tv_nsec / 1000;
  return 0;
}
