// SPDX-License-Identifier: Apache-2.0
/// A C++ test framework: include this in one file, write GS_TEST(name) { CHECK(...); } blocks, and register the
/// file in test_cpp.py. A failed check prints its location and values, and the test continues; the
/// program then exits 1. The optional first argument is the seed of random cases (see check::seed).
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace check {

struct test {
  const char* name;
  void (*body)();
};

inline std::vector<test>& tests() {
  static std::vector<test> all;
  return all;
}

struct registration {
  registration(const char* name, void (*body)()) { tests().push_back({name, body}); }
};

inline int failures = 0;

/// The seed of random cases; printed at the start, so that a failure can be reproduced.
inline std::uint64_t seed = 1;

/// The amount to check: the value for the size in GOSSAMER_TEST_SIZE.
template <class T>
T pick(T quick, T normal, T full) {
  const char* size = std::getenv("GOSSAMER_TEST_SIZE");
  const std::string name = size ? size : "default";
  return name == "quick" ? quick : name == "full" ? full : normal;
}

inline void failed(const char* file, int line, const std::string& what) {
  ++failures;
  std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
}

template <class T>
std::string show(const T& value) {
  if constexpr (requires(std::ostream& out) { out << value; }) {
    std::ostringstream out;
    out << std::boolalpha << value;
    return out.str();
  } else {
    return "(a value without operator<<)";
  }
}

template <class A, class B>
void equal(const A& a, const B& b, const char* text, const char* file, int line) {
  if (!(a == b)) failed(file, line, std::string(text) + ": " + show(a) + " is not " + show(b));
}

inline int run_all() {
  for (const test& one : tests()) {
    const int before = failures;
    try {
      one.body();
    } catch (const std::exception& error) {
      failed(__FILE__, __LINE__, std::string("an exception left ") + one.name + ": " + error.what());
    }
    std::printf("%s %s\n", failures == before ? "passed" : "FAILED", one.name);
  }
  return tests().empty() || failures ? 1 : 0;
}

}  // namespace check

#define GS_TEST(name)                                              \
  static void name();                                              \
  static const check::registration registered_##name(#name, name); \
  static void name()

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) check::failed(__FILE__, __LINE__, "is not so: " #condition); \
  } while (false)

#define CHECK_EQ(a, b) check::equal((a), (b), #a " == " #b, __FILE__, __LINE__)

/// The statement throws an exception of this type (or of a derived one).
#define CHECK_THROWS(type, statement)                                             \
  do {                                                                            \
    bool thrown_ = false;                                                         \
    try {                                                                         \
      statement;                                                                  \
    } catch (const type&) {                                                       \
      thrown_ = true;                                                             \
    }                                                                             \
    if (!thrown_) check::failed(__FILE__, __LINE__, "throws no " #type ": " #statement); \
  } while (false)

int main(int count, char** arguments) {
  if (count > 1) check::seed = std::strtoull(arguments[1], nullptr, 10);
  std::printf("seed %llu\n", static_cast<unsigned long long>(check::seed));
  return check::run_all();
}
