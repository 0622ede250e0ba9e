// SPDX-License-Identifier: Apache-2.0
/// DRAM banks of ranks: memory that programs allocate in a bank, and streams of consecutive addresses. Data move in the
/// calls, with and without hardware alike. With hardware (hardware.h) a call waits until the bank has moved them: each
/// rank has the banks of its board, timed by the DRAM model of sim/memory.
///
///     kernel -- buffer of a stream --> arbiter, a burst at a time --> controller --> DRAM
#pragma once

#include <string>

namespace gossamer::smi {

/// Gives each rank timed banks. `settings` are pairs NAME=VALUE; names are those of [memory.dram].
void makeBanks(const std::string& settings);

/// One cycle of all banks; false if none has anything under way.
bool clockBanks();

}  // namespace gossamer::smi
