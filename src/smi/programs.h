// SPDX-License-Identifier: Apache-2.0
/// The programs of the ranks. Each rank loads its own copy of its program's shared object, so its variables are its
/// own, as on a board.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime.h"

namespace gossamer::smi {

struct CodeLocation {
  int program;  ///< -1: not in a program
  std::uint64_t offset;
};

/// Represents a call site in a program of another process; `locate` resolves it.
CallSite remoteSite(CodeLocation at);

/// The program and file offset of a call site.
CodeLocation locate(CallSite site);

/// File and line of a call site, by binutils' addr2line; empty if that is unknown.
std::string sourceLine(CallSite site);

/// File descriptor of the run's report.
extern int reportFile;

/// The rank whose program is being loaded, which runs its initializers; -1: none.
extern int loading;

/// Loads a copy of a program's shared object for a rank; returns its main. Ends the run if loading fails.
using Main = int (*)(int, char**);
Main loadProgram(int rank, int program, const std::string& path);

/// Raises the limit of open files to one per rank if necessary; ends the run if that is impossible.
void allowFiles(std::size_t ranks);

}  // namespace gossamer::smi
