// SPDX-License-Identifier: Apache-2.0
/// How many processors this process may use.
#pragma once

#include <string>

namespace gossamer {

/// Whole processors that the quota of a control group leaves (cpu.max of version 2, cpu.cfs_quota_us of version 1, of
/// the group and of those it lies in); at least 1, and 0 where there is no quota. `groups` is where the kernel shows
/// the groups, `self` the file that names this process's.
unsigned quotaCpus(const std::string& groups = "/sys/fs/cgroup", const std::string& self = "/proc/self/cgroup");

/// The number of threads to use when nobody said: the processors that this process may run on, and no more than the
/// quota was when it started.
unsigned defaultThreads();

}  // namespace gossamer
