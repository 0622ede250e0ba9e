// SPDX-License-Identifier: Apache-2.0
/// Proves that a C++ test can fail: GOSSAMER_TEST_FAULT selects a fault to make.
#include "check.h"

#include <limits>
#include <memory>
#include <stdexcept>
#include <thread>

namespace {

bool fault(const char* name) {
  const char* wanted = std::getenv("GOSSAMER_TEST_FAULT");
  return wanted && std::string(wanted) == name;
}

}  // namespace

GS_TEST(check_eq_compares_values) { CHECK_EQ(fault("check") ? 1 : 2, 2); }

GS_TEST(check_throws_expects_exceptions) {
  CHECK_THROWS(std::exception, throw std::runtime_error("as it should"));
  CHECK(check::failures == 0 || fault("check"));
}

GS_TEST(sanitizer_detects_memory_errors) {
  const auto numbers = std::make_unique<int[]>(4);
  const volatile int index = fault("overrun") ? 4 : 3;
  CHECK_EQ(numbers[index], 0);
}

GS_TEST(sanitizer_detects_arithmetic_errors) {
  volatile int number = fault("overflow") ? std::numeric_limits<int>::max() : 1;
  number = number + 1;
  CHECK_EQ(number, 2);
}

GS_TEST(sanitizer_detects_data_races) {
  int shared = 0;
  std::thread other([&] {
    if (fault("race")) ++shared;
  });
  if (fault("race")) ++shared;
  other.join();
  CHECK(shared >= 0);
}
