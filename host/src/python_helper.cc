// SPDX-License-Identifier: Apache-2.0
#include "python_helper.h"

#include <gossamer/core/exit_codes.h>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "simulator.h"

extern char** environ;

namespace gossamer::host {

void run_module(const char* call, const char* module, const std::vector<std::string>& words) {
  const char* python = std::getenv("GOSSAMER_PYTHON");
  if (!python) reject_call(call, kNotStarted);
  // Passed explicitly: this process may end before the module reads the id of its parent.
  const std::string host = std::to_string(::getpid());
  std::vector<const char*> all = {python, "-m", module};
  for (const std::string& word : words) all.push_back(word.c_str());
  all.insert(all.end(), {host.c_str(), nullptr});
  pid_t child = 0;
  if (const int failed = ::posix_spawn(&child, python, nullptr, nullptr, const_cast<char**>(all.data()), environ)) {
    reject_call(call, std::string(python) + ": cannot be started: " + std::strerror(failed));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status)) exit_program(WIFEXITED(status) ? WEXITSTATUS(status) : GS_EXIT_BUG);
}

}  // namespace gossamer::host
