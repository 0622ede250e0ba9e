// SPDX-License-Identifier: Apache-2.0
/// Simulates a board for the `rtl` engine (host/simulation.h), with separate models of its tiles and its uncore.
#include "board.h"

#include "simulation.h"

int main(int argc, char** argv) { return gossamer::sim::simulate<gossamer::sim::Board>(argc, argv); }
