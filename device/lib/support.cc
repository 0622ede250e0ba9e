// SPDX-License-Identifier: Apache-2.0
// What compiled C++ calls by itself. There is no heap and nothing is ever thrown.

#include <cstddef>
#include <cstdlib>
#include <new>

extern "C" {
int gossamer_puts(const char* text);

/// A virtual function of a class that is still being made, or never was.
void __cxa_pure_virtual() { std::abort(); }

/// Destructors of static objects never run: a thread that ends leaves its memory as it is.
int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }
int atexit(void (*)()) { return 0; }
void* __dso_handle = nullptr;
}

// A virtual destructor names these; nothing here makes an object that they could be called for.
void operator delete(void*) noexcept { std::abort(); }
void operator delete(void*, std::size_t) noexcept { std::abort(); }
void operator delete(void*, std::align_val_t) noexcept { std::abort(); }
void operator delete(void*, std::size_t, std::align_val_t) noexcept { std::abort(); }

_LIBCPP_BEGIN_NAMESPACE_STD

/// What the library's own checks call.
[[noreturn]] void __libcpp_verbose_abort(const char* text, ...) noexcept {
  gossamer_puts(text);
  std::abort();
}

_LIBCPP_END_NAMESPACE_STD
