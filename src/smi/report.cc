// SPDX-License-Identifier: Apache-2.0
/// The report of a run: one JSON object for the command, which translates call sites to lines of the user's sources.
#include <sys/time.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "activity.h"
#include "command.h"
#include "hardware.h"
#include "processes.h"
#include "programs.h"
#include "runtime.h"

namespace gossamer::smi {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += format("\\u%04x", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string siteJson(CallSite site) {
  const CodeLocation at = locate(site);
  return format("[%d,%llu]", at.program, static_cast<unsigned long long>(at.offset));
}

void send(const std::string& text) {
  const char* at = text.data();
  std::size_t left = text.size();
  while (left) {
    const ssize_t done = write(reportFile, at, left);
    if (done <= 0) return;
    at += done;
    left -= static_cast<std::size_t>(done);
  }
}

/// `activity`: with what was recorded, which may be more than a pipe holds.
std::string cost(bool activity = true) {
  return format("\"operations\":%llu,\"switches\":%llu,\"kernels\":%zu,\"ranks\":%zu,\"cycles\":%llu",
                static_cast<unsigned long long>(operationsDone()), static_cast<unsigned long long>(switchesDone()),
                fibers.size(), ranks.size(), static_cast<unsigned long long>(now - 1)) +
         endActivity(activity);
}

bool ended = false;

/// Handler of exit(), called by a program. A nonzero code ends the run: the program has stated why. A code of 0 would
/// hide that other ranks have not finished, so it is an error.
void exited(int code, void*) {
  if (ended) return;
  if (!current) {
    if (code) return finished(code & 0xff, true);
    fail(GS_EXIT_DIED, format("%s: exit(0) ends the run before any rank has finished", outsideOfMain().c_str()));
  }
  for (const Fiber* other : fibers) {
    if (code || other == current || other->done || other->daemon) continue;
    const bool own = other->rank == current->rank;
    const std::string who = own ? "its kernel " + other->name : format("rank %d", other->rank->index);
    fail(GS_EXIT_DIED,
         format("rank %d called exit(0) while %s was not done; exit() ends all ranks, so return from main",
                current->rank->index, who.c_str()));
  }
  if (distributed() && !code) {
    fail(GS_EXIT_DIED, format("rank %d called exit(0) while ranks of other processes may not be done; exit() ends all "
                              "ranks, so return from main",
                              current->rank->index));
  }
  finished(code & 0xff, true);
}

/// Ends the process at once and without destructors, since fibers are suspended in the middle of their work.
[[noreturn]] void leave(int code) {
  std::fflush(nullptr);
  if (commandIsRemote()) {
    // As soon as one process exits, MPI kills the others, which may still have output to write.
    const itimerval none{};
    setitimer(ITIMER_REAL, &none, nullptr);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    awaitCommand();
  }
  _exit(code);
}

}  // namespace

std::string format(const char* text, ...) {
  va_list arguments, again;
  va_start(arguments, text);
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, text, arguments);
  va_end(arguments);
  std::string out(static_cast<std::size_t>(size), '\0');
  std::vsnprintf(out.data(), out.size() + 1, text, again);
  va_end(again);
  return out;
}

void fail(int code, const std::string& message, std::initializer_list<CallSite> sites) {
  std::string text =
      format("{\"outcome\":\"failed\",\"code\":%d,\"message\":%s,\"places\":[", code, quoted(message).c_str());
  for (const CallSite site : sites) {
    if (text.back() != '[') text += ',';
    text += siteJson(site);
  }
  // The command that has interrupted the run does not read the report.
  send(text + "]," + cost(code != GS_EXIT_INTERRUPTED) + "}\n");
  leave(code);
}

void deadlock() {
  std::string text = "{\"outcome\":\"deadlock\",\"waits\":[";
  for (const Fiber* fiber : fibers) {
    if (fiber->done || !fiber->waits || fiber->settles) continue;
    const Wait wait = fiber->waits->wait(*fiber);
    if (text.back() != '[') text += ',';
    text += format("{\"rank\":%d,\"kernel\":%s,\"daemon\":%s,\"what\":%s,\"place\":%s,\"for\":[", fiber->rank->index,
                   quoted(fiber->name).c_str(), fiber->daemon ? "true" : "false", quoted(wait.what).c_str(),
                   siteJson(fiber->site).c_str());
    for (std::size_t at = 0; at < wait.ranks.size(); ++at) text += format(at ? ",%d" : "%d", wait.ranks[at]);
    text += "]}";
  }
  text += "],\"ended\":[";
  for (const Rank* rank : ranks) {
    if (rank->running || rank->home != process) continue;
    if (text.back() != '[') text += ',';
    text += format("%d", rank->index);
  }
  send(text + "]," + cost() + "}\n");
  leave(GS_EXIT_DIED);
}

void finished(int code, bool all) {
  ended = true;
  const char* outcome = all ? "exit" : "done";
  send(format("{\"outcome\":\"%s\",\"code\":%d,%s}\n", outcome, code, cost().c_str()));
  if (all && commandIsRemote()) leave(code);
}

bool reported() { return ended; }

void watchExit() { on_exit(exited, nullptr); }

std::string outsideOfMain() {
  return loading < 0 ? std::string("a rank, after its main") : format("rank %d, before its main", loading);
}

Fiber& caller(const char* call, CallSite site) {
  if (current) return *current;
  fail(GS_EXIT_INPUT,
       format("%s: %s ({}); main and its kernels may call it, initializers of static variables and "
              "destructors may not",
              outsideOfMain().c_str(), call),
       {site});
}

}  // namespace gossamer::smi
