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
/// What is being loaded has no base yet, but calls us from its initializers.
int loadingProgram = -1;
std::string loadingPath;

/// Places that other processes have told.
std::unordered_map<Place, const Located*> elsewhere;

/// Files that the process has open beside those of the ranks; MPI has some for each process.
rlim_t ownFiles() { return distributed() ? 64 + 4 * static_cast<rlim_t>(processes) : 16; }

}  // namespace

Place placeElsewhere(Located at) {
  static std::map<std::pair<int, std::uint64_t>, Place> known;
  Place& found = known[{at.program, at.offset}];
  if (!found) {
    auto* made = new Located(at);
    found = made;
    elsewhere.emplace(found, made);
  }
  return found;
}

Located locate(Place place) {
  if (const auto found = elsewhere.find(place); found != elsewhere.end()) return *found->second;
  Dl_info info;
  if (place && dladdr(place, &info)) {
    const auto base = reinterpret_cast<std::uint64_t>(info.dli_fbase);
    for (const Loaded& one : loaded) {
      // A return address is behind the call: one byte back is in it.
      if (one.base == base) return {one.program, reinterpret_cast<std::uint64_t>(place) - base - 1};
    }
    if (loading >= 0 && info.dli_fname && loadingPath == info.dli_fname) {
      return {loadingProgram, reinterpret_cast<std::uint64_t>(place) - base - 1};
    }
  }
  return {-1, 0};
}

void allowFiles(std::size_t ranks) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  const rlim_t needed = ranks + ownFiles();
  // The programs keep what they could open before.
  const rlim_t wanted = std::min<rlim_t>(files.rlim_max, files.rlim_cur + needed);
  if (wanted > files.rlim_cur) {
    files.rlim_cur = wanted;
    setrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_NOFILE, &files);
  }
  if (files.rlim_cur >= needed) return;
  fail(exitInput,
       format("%zu ranks need %llu open files, and this process may have %llu; start fewer ranks, or raise "
              "the limit (ulimit -Hn)",
              ranks, static_cast<unsigned long long>(needed), static_cast<unsigned long long>(files.rlim_cur)));
}

Main loadProgram(int rank, int program, const std::string& path) {
  // A file without a name, for each rank another one: the loader takes it for another library.
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const int copy = memfd_create("rank", MFD_CLOEXEC);
  if (copy < 0) fail(exitInput, format("rank %d: no file for its program: %s", rank, std::strerror(errno)));
  if (bytes.empty() || write(copy, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    fail(exitBug, format("%s: cannot be copied", path.c_str()));
  }
  loading = rank;
  loadingProgram = program;
  loadingPath = format("/proc/self/fd/%d", copy);
  void* handle = dlopen(loadingPath.c_str(), RTLD_NOW | RTLD_LOCAL);
  loading = -1;
  if (!handle) fail(exitInput, format("%s: cannot be loaded: %s", path.c_str(), dlerror()));
  void* entry = dlsym(handle, "main");
  Dl_info info;
  if (!entry || !dladdr(entry, &info)) fail(exitBug, format("%s: has no main", path.c_str()));
  loaded.push_back({reinterpret_cast<std::uint64_t>(info.dli_fbase), program});
  // Kept open: the loader tells libraries apart by their files, and a closed one's number would be used again.
  return reinterpret_cast<Main>(entry);
}

}  // namespace gossamer::smi
