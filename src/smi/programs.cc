// SPDX-License-Identifier: Apache-2.0
#include "programs.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace gossamer::smi {

int reportFile = 2;

namespace {

struct Loaded {
  std::uint64_t base;
  int program;
};
std::vector<Loaded> loaded;

}  // namespace

Located locate(Place place) {
  Dl_info info;
  if (place && dladdr(place, &info)) {
    const auto base = reinterpret_cast<std::uint64_t>(info.dli_fbase);
    for (const Loaded& one : loaded) {
      // A return address is behind the call: one byte back is in it.
      if (one.base == base) return {one.program, reinterpret_cast<std::uint64_t>(place) - base - 1};
    }
  }
  return {-1, 0};
}

Main loadProgram(int program, const std::string& path) {
  // A file without a name, for each rank another one: the loader takes it for another library.
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const int copy = memfd_create("rank", MFD_CLOEXEC);
  if (bytes.empty() || copy < 0 || write(copy, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    fail(exitBug, format("%s: cannot be copied", path.c_str()));
  }
  void* handle = dlopen(format("/proc/self/fd/%d", copy).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) fail(exitInput, format("%s: cannot be loaded: %s", path.c_str(), dlerror()));
  void* entry = dlsym(handle, "main");
  Dl_info info;
  if (!entry || !dladdr(entry, &info)) fail(exitBug, format("%s: has no main", path.c_str()));
  loaded.push_back({reinterpret_cast<std::uint64_t>(info.dli_fbase), program});
  // Kept open: the loader tells libraries apart by their files, and a closed one's number would be used again.
  return reinterpret_cast<Main>(entry);
}

}  // namespace gossamer::smi
