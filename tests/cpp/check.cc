// SPDX-License-Identifier: Apache-2.0
/// Proves that a C++ test can fail: GOSSAMER_TEST_FAULT names a fault to make.
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

GS_TEST(values_are_compared) { CHECK_EQ(fault("check") ? 1 : 2, 2); }

GS_TEST(exceptions_are_expected) {
  CHECK_THROWS(std::exception, throw std::runtime_error("as it should"));
  CHECK(check::failures == 0 || fault("check"));
}

GS_TEST(memory_is_watched) {
  const auto numbers = std::make_unique<int[]>(4);
  const volatile int index = fault("overrun") ? 4 : 3;
  CHECK_EQ(numbers[index], 0);
}

GS_TEST(arithmetic_is_watched) {
  volatile int number = fault("overflow") ? std::numeric_limits<int>::max() : 1;
  number = number + 1;
  CHECK_EQ(number, 2);
}

GS_TEST(threads_are_watched) {
  int shared = 0;
  std::thread other([&] {
    if (fault("race")) ++shared;
  });
  if (fault("race")) ++shared;
  other.join();
  CHECK(shared >= 0);
}
