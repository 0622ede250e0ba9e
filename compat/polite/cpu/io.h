// SPDX-License-Identifier: Apache-2.0
/// What devices print on the engine cpu: lines of the thread that they are on, for HostLink::pollStdOut.
#pragma once

// Before the macros, which would change what it declares.
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
