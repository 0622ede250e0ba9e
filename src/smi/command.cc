// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "programs.h"
#include "runtime.h"

namespace gossamer::smi {

namespace {

bool remote = false;

[[noreturn]] void failConnection(const char* what) {
  std::fprintf(stderr, "gossamer: the command cannot be reached: %s\n", what);
  std::_Exit(GS_EXIT_BUG);
}

/// Opens a connection; its first line states its purpose.
int connection(const std::string& host, const std::string& port, const std::string& hello) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (const int code = getaddrinfo(host.c_str(), port.c_str(), &hints, &found)) failConnection(gai_strerror(code));
  int file = -1;
  for (const addrinfo* one = found; one && file < 0; one = one->ai_next) {
    file = socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
    if (file >= 0 && connect(file, one->ai_addr, one->ai_addrlen)) {
      close(file);
      file = -1;
    }
  }
  freeaddrinfo(found);
  if (file < 0) failConnection(std::strerror(errno));
  const int yes = 1;
  setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (write(file, hello.data(), hello.size()) != static_cast<ssize_t>(hello.size()))
    failConnection(std::strerror(errno));
  return file;
}

}  // namespace

std::string connectCommand(const std::string& host, const std::string& port, const std::string& token, int process) {
  const auto hello = [&](const char* kind) { return token + " " + std::to_string(process) + " " + kind + "\n"; };
  const int out = connection(host, port, hello("out")), errors = connection(host, port, hello("err"));
  reportFile = connection(host, port, hello("report"));
  // One line with the plan's length, then the plan.
  std::string plan;
  const auto readSome = [&](std::size_t most) {
    char bytes[4096];
    const ssize_t got = read(reportFile, bytes, most < sizeof bytes ? most : sizeof bytes);
    if (got <= 0) failConnection("it closed the connection");
    plan.append(bytes, static_cast<std::size_t>(got));
  };
  while (plan.empty() || plan.back() != '\n') readSome(1);
  const std::size_t size = std::strtoull(plan.c_str(), nullptr, 10);
  for (plan.clear(); plan.size() < size;) readSome(size - plan.size());
  dup2(out, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  close(out);
  close(errors);
  remote = true;
  // A byte from the command raises a signal, so that a kernel that never calls the emulator also ends.
  fcntl(reportFile, F_SETOWN, getpid());
  fcntl(reportFile, F_SETFL, fcntl(reportFile, F_GETFL) | O_ASYNC);
  return plan;
}

bool commandIsRemote() { return remote; }

bool commandRequestsEnd() {
  char byte;
  return recv(reportFile, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

void awaitCommand() {
  char bytes[64];
  for (;;) {
    const ssize_t got = read(reportFile, bytes, sizeof bytes);
    if (got == 0 || (got < 0 && errno != EINTR)) return;
  }
}

}  // namespace gossamer::smi
