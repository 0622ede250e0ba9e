// SPDX-License-Identifier: Apache-2.0
/// Simulates a cluster of boards for the `rtl` engine (host/simulation.h).
#include "cluster.h"

#include "simulation.h"

int main(int argc, char** argv) { return gossamer::sim::simulate<gossamer::sim::Cluster>(argc, argv); }
