// SPDX-License-Identifier: Apache-2.0
/// The number of processors that this process may use.
#pragma once

#include <string>

namespace gossamer {

/// The number of whole processors within the CPU quota of this process's control group and its ancestors (cpu.max of
/// version 2, cpu.cfs_quota_us of version 1): at least 1, or 0 without a quota. `groups` is the mount point of the
/// control groups, `self` the kernel's file that names this process's groups.
unsigned quotaCpus(const std::string& groups = "/sys/fs/cgroup", const std::string& self = "/proc/self/cgroup");

/// The default number of threads: the processors that this process may run on, limited by the CPU quota at the first
/// call.
unsigned defaultThreads();

}  // namespace gossamer
