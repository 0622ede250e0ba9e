// SPDX-License-Identifier: Apache-2.0
/// Output of devices on the engine cpu: lines of their thread, for HostLink::pollStdOut.
#pragma once

// Included before the macros, which would change its declarations.
#include <cstdio>

#ifdef __cplusplus
extern "C" {
#endif
int gossamer_device_putchar(int c);
int gossamer_device_puts(const char* text);
int gossamer_device_puthex(unsigned x);
int gossamer_device_printf(const char* format, ...);
#ifdef __cplusplus
}
#endif

#undef putchar
#define putchar gossamer_device_putchar
#undef puts
#define puts gossamer_device_puts
#undef puthex
#define puthex gossamer_device_puthex
#undef printf
#define printf gossamer_device_printf
