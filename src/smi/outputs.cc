// SPDX-License-Identifier: Apache-2.0
/// Output files of kernels without a host program. They are written when the run has ended, so that a run that fails
/// writes none, and no rank reads what another one writes.
#include "outputs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "gossamer/smi/smi.h"

namespace {

std::vector<void (*)()> atEnd;

bool writeAll(const std::string& path, const void* data, std::size_t size) {
  std::FILE* out = std::fopen(path.c_str(), "wb");
  if (!out) return false;
  const bool whole = std::fwrite(data, 1, size, out) == size;
  return std::fclose(out) == 0 && whole;
}

}  // namespace

namespace gossamer::smi {

void writeOutputs() {
  for (void (*function)() : atEnd) function();
}

}  // namespace gossamer::smi

extern "C" {

void gs_smi_at_end(void (*function)(void)) { atEnd.push_back(function); }

int gs_smi_write_file(const char* path, const void* data, unsigned long long size) {
  struct stat about{};
  if (!stat(path, &about) && !S_ISREG(about.st_mode)) return !writeAll(path, data, size);
  // A link stays a link.
  char* real = realpath(path, nullptr);
  const std::string target = real ? real : path;
  std::free(real);
  const std::string partial = target + ".part" + std::to_string(getpid());
  if (writeAll(partial, data, size) && !std::rename(partial.c_str(), target.c_str())) return 0;
  unlink(partial.c_str());
  return 1;
}

}  // extern "C"
