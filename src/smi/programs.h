// SPDX-License-Identifier: Apache-2.0
/// The programs of the ranks. Each rank has a copy of its program's shared object, so its variables are its own, as on
/// a board.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime.h"

namespace gossamer::smi {

struct Located {
  int program;  ///< -1: not in a program
  std::uint64_t offset;
};

/// Stands for a place in a program of another process: `locate` knows it.
Place placeElsewhere(Located at);

/// Where in a program's file an address is.
Located locate(Place place);

/// Where the report of the run goes.
extern int reportFile;

/// The rank whose program is being loaded, which runs its initializers; -1: none.
extern int loading;

/// Loads a copy of a program's shared object for a rank; gives its main. Ends the run if it cannot be loaded.
using Main = int (*)(int, char**);
Main loadProgram(int rank, int program, const std::string& path);

/// Makes room for a file for each rank among those that the process may have open; ends the run if there is none.
void allowFiles(std::size_t ranks);

}  // namespace gossamer::smi
