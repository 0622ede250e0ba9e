// SPDX-License-Identifier: Apache-2.0
#include "gossamer/core/symbolize.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string_view>
#include <vector>

extern char** environ;

namespace gossamer {

namespace {

/// The standard output of a program; empty if it cannot be started.
std::string outputOf(std::vector<std::string> words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return {};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], 1);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const bool started = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; started && (count = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(count));
  }
  close(ends[0]);
  if (started) waitpid(child, nullptr, 0);
  return text;
}

bool startsWith(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

/// Replaces the checkout's path in debug information (python/gossamer/step_cache.py): objects are shared by checkouts.
constexpr std::string_view kRoot = "/gossamer/";

/// Whether a source file, as debug information names it, is the user's.
bool isUsers(std::string_view file) {
  if (file.empty() || file[0] != '/' || startsWith(file, "/usr/")) return false;
  if (!startsWith(file, kRoot)) return true;
  const std::string_view inside = file.substr(kRoot.size());
  return !startsWith(inside, "include/") && !startsWith(inside, "src/") && !startsWith(inside, "compat/");
}

/// A path of debug information as a path of this checkout, which is the folder above `build/` that has this code.
std::string realPath(const std::string& file) {
  Dl_info info{};
  if (!startsWith(file, kRoot) || !dladdr(reinterpret_cast<const void*>(&isUsers), &info) || !info.dli_fname)
    return file;
  std::error_code wrong;
  const std::string code = std::filesystem::absolute(info.dli_fname, wrong).lexically_normal().string();
  const size_t build = code.rfind("/build/");
  return wrong || build == std::string::npos ? file : code.substr(0, build) + file.substr(kRoot.size() - 1);
}

}  // namespace

std::string userLineOf(const std::string& addresses) {
  std::vector<std::string> objects;  // in the order of the addresses
  std::map<std::string, std::vector<std::string>> offsets;
  std::istringstream all(addresses);
  for (std::string address; std::getline(all, address);) {
    const size_t at = address.rfind('+');
    const std::string object = address.substr(0, at);
    // System objects contain no user code.
    if (at == std::string::npos || startsWith(object, "/usr/") || startsWith(object, "/lib")) continue;
    if (offsets[object].empty()) objects.push_back(object);
    offsets[object].push_back(address.substr(at + 1));
  }
  std::error_code wrong;
  const std::string here = std::filesystem::current_path(wrong).string() + "/";
  for (const std::string& object : objects) {
    for (const char* tool : {"addr2line", "llvm-addr2line"}) {
      std::vector<std::string> words{tool, "-i", "-e", object};
      words.insert(words.end(), offsets[object].begin(), offsets[object].end());
      std::istringstream lines(outputOf(words));
      for (std::string line; std::getline(lines, line);) {
        line = line.substr(0, line.find(" (discriminator"));
        const size_t colon = line.rfind(':');
        if (colon == std::string::npos || line.find_first_not_of("0123456789", colon + 1) != std::string::npos)
          continue;
        const std::string file = std::filesystem::path(line.substr(0, colon)).lexically_normal().string();
        if (!isUsers(file) || colon + 1 == line.size()) continue;
        const std::string real = realPath(file);
        return (startsWith(real, here) ? real.substr(here.size()) : real) + line.substr(colon);
      }
    }
  }
  return {};
}

}  // namespace gossamer
