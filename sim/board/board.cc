// SPDX-License-Identifier: Apache-2.0
/// Simulates a board for the `rtl` engine (host/simulation.h), its tiles and the rest as models of their own.
#include "board.h"

#include "simulation.h"

int main(int argc, char** argv) { return gossamer::sim::simulate<gossamer::sim::Board>(argc, argv); }
