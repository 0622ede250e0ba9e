// SPDX-License-Identifier: Apache-2.0
#include "programs.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <unordered_map>

#include "gossamer/core/symbolize.h"
#include "processes.h"

namespace gossamer::smi {

int reportFile = 2;
int loading = -1;

namespace {

struct Loaded {
  std::uint64_t base;
  int program;
};
std::vector<Loaded> loaded;
std::map<int, std::string> files;  ///< of programs
/// The program that is being loaded. Its base is not yet known, but its initializers may call the emulator.
int loadingProgram = -1;
std::string loadingPath;

/// Call sites in programs of other processes.
std::unordered_map<CallSite, const CodeLocation*> remoteSites;

/// Open files of the process besides those of its ranks; MPI has some for each process.
rlim_t ownFiles() { return distributed() ? 64 + 4 * static_cast<rlim_t>(processes) : 16; }

}  // namespace

CallSite remoteSite(CodeLocation at) {
  static std::map<std::pair<int, std::uint64_t>, CallSite> known;
  CallSite& found = known[{at.program, at.offset}];
  if (!found) {
    auto* made = new CodeLocation(at);
    found = made;
    remoteSites.emplace(found, made);
  }
  return found;
}

CodeLocation locate(CallSite site) {
  if (const auto found = remoteSites.find(site); found != remoteSites.end()) return *found->second;
  Dl_info info;
  if (site && dladdr(site, &info)) {
    const auto base = reinterpret_cast<std::uint64_t>(info.dli_fbase);
    for (const Loaded& one : loaded) {
      // A return address follows the call; one byte before it is within the call.
      if (one.base == base) return {one.program, reinterpret_cast<std::uint64_t>(site) - base - 1};
    }
    if (loading >= 0 && info.dli_fname && loadingPath == info.dli_fname) {
      return {loadingProgram, reinterpret_cast<std::uint64_t>(site) - base - 1};
    }
  }
  return {-1, 0};
}

std::string sourceLine(CallSite site) {
  const CodeLocation at = locate(site);
  const auto file = files.find(at.program);
  if (file == files.end()) return {};
  return userLineOf(format("%s+0x%llx\n", file->second.c_str(), static_cast<unsigned long long>(at.offset)));
}

void allowFiles(std::size_t ranks) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  const rlim_t needed = ranks + ownFiles();
  // Adds to the previous limit, which the programs may rely on.
  const rlim_t wanted = std::min<rlim_t>(files.rlim_max, files.rlim_cur + needed);
  if (wanted > files.rlim_cur) {
    files.rlim_cur = wanted;
    setrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_NOFILE, &files);
  }
  if (files.rlim_cur >= needed) return;
  fail(GS_EXIT_INPUT,
       format("%zu ranks need %llu open files, but the limit of this process is %llu; start fewer ranks, or raise "
              "the limit (ulimit -Hn)",
              ranks, static_cast<unsigned long long>(needed), static_cast<unsigned long long>(files.rlim_cur)));
}

Main loadProgram(int rank, int program, const std::string& path) {
  // A separate anonymous file for each rank, so that the loader treats it as a separate library.
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const int copy = memfd_create("rank", MFD_CLOEXEC);
  if (copy < 0)
    fail(GS_EXIT_INPUT, format("rank %d: cannot create a file for its program: %s", rank, std::strerror(errno)));
  if (bytes.empty() || write(copy, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    fail(GS_EXIT_BUG, format("%s: cannot be copied", path.c_str()));
  }
  files[program] = path;
  loading = rank;
  loadingProgram = program;
  loadingPath = format("/proc/self/fd/%d", copy);
  void* handle = dlopen(loadingPath.c_str(), RTLD_NOW | RTLD_LOCAL);
  loading = -1;
  if (!handle) fail(GS_EXIT_INPUT, format("%s: cannot be loaded: %s", path.c_str(), dlerror()));
  void* entry = dlsym(handle, "main");
  Dl_info info;
  if (!entry || !dladdr(entry, &info)) fail(GS_EXIT_BUG, format("%s: has no main", path.c_str()));
  loaded.push_back({reinterpret_cast<std::uint64_t>(info.dli_fbase), program});
  // The file stays open: the loader identifies libraries by file, and a closed file's number would be reused.
  return reinterpret_cast<Main>(entry);
}

}  // namespace gossamer::smi
