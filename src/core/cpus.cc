// SPDX-License-Identifier: Apache-2.0
#include "gossamer/core/cpus.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

namespace gossamer {

namespace {

/// The processors within a quota in microseconds per period; a quota of 0 or less means none.
unsigned wholeCpus(double quota, double period) {
  if (!(quota > 0) || !(period > 0)) return 0;
  return static_cast<unsigned>(std::clamp(std::floor(quota / period), 1.0, 1e6));
}

/// The first number in a file; 0 without one, for example for "max".
double numberIn(const std::string& path) {
  std::ifstream file(path);
  double number = 0;
  return file >> number ? number : 0;
}

unsigned quotaOf(const std::string& folder, bool second) {
  if (!second) return wholeCpus(numberIn(folder + "/cpu.cfs_quota_us"), numberIn(folder + "/cpu.cfs_period_us"));
  std::ifstream file(folder + "/cpu.max");
  double quota = 0;
  double period = 0;
  return file >> quota >> period ? wholeCpus(quota, period) : 0;
}

/// The smallest quota of a group and its ancestors. Ancestors that a container does not see are skipped.
unsigned leastQuota(const std::string& root, std::string path, bool second) {
  unsigned least = 0;
  for (;;) {
    const unsigned quota = quotaOf(root + path, second);
    if (quota && (!least || quota < least)) least = quota;
    if (path.empty()) return least;
    path.resize(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
  }
}

}  // namespace

unsigned quotaCpus(const std::string& groups, const std::string& self) {
  // A line is NUMBER:CONTROLLERS:PATH; version 2 has the number 0 and no controllers.
  std::ifstream file(self);
  unsigned least = 0;
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    unsigned quota = 0;
    if (controllers.empty()) {
      quota = leastQuota(groups, path, true);
    } else {
      std::istringstream names(controllers);
      bool isCpu = false;
      for (std::string name; std::getline(names, name, ',');) isCpu |= name == "cpu";
      if (isCpu) quota = leastQuota(groups + "/" + controllers, path, false);
      if (isCpu && !quota) quota = leastQuota(groups + "/cpu", path, false);
    }
    if (quota && (!least || quota < least)) least = quota;
  }
  return least;
}

unsigned defaultThreads() {
  static const unsigned quota = quotaCpus();
  cpu_set_t set;
  unsigned count = std::thread::hardware_concurrency();
  if (sched_getaffinity(0, sizeof set, &set) == 0) count = static_cast<unsigned>(CPU_COUNT(&set));
  if (quota) count = std::min(count, quota);
  return std::max(count, 1u);
}

}  // namespace gossamer
