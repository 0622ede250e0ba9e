// SPDX-License-Identifier: Apache-2.0
// Functions that compiled C++ code calls implicitly. There is no heap, and there are no exceptions.

#include <cstddef>
#include <cstdlib>
#include <new>

extern "C" {
int gossamer_puts(const char* text);

/// Called for a pure virtual function during construction.
void __cxa_pure_virtual() { std::abort(); }

/// Destructors of static objects never run: an ended thread leaves its memory unchanged.
int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }
int atexit(void (*)()) { return 0; }
void* __dso_handle = nullptr;
}

// Virtual destructors reference these; no object on a heap exists for which they could be called.
void operator delete(void*) noexcept { std::abort(); }
void operator delete(void*, std::size_t) noexcept { std::abort(); }
void operator delete(void*, std::align_val_t) noexcept { std::abort(); }
void operator delete(void*, std::size_t, std::align_val_t) noexcept { std::abort(); }

_LIBCPP_BEGIN_NAMESPACE_STD

/// Called by the library's internal checks.
[[noreturn]] void __libcpp_verbose_abort(const char* text, ...) noexcept {
  gossamer_puts(text);
  std::abort();
}

_LIBCPP_END_NAMESPACE_STD
