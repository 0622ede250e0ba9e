// SPDX-License-Identifier: Apache-2.0
/// DRAM banks of ranks: memory that programs allocate in a bank, and streams of consecutive addresses. The calls copy
/// the data, with and without hardware. With hardware (hardware.h) a call also waits until the bank has transferred
/// them: each rank has the banks of its board, timed by the DRAM model of sim/memory.
///
///     kernel -- buffer of a stream --> arbiter, a burst at a time --> controller --> DRAM
#pragma once

#include <string>

namespace gossamer::smi {

/// Creates each rank's timed banks. `settings` are pairs NAME=VALUE; names are those of [memory.dram].
void makeBanks(const std::string& settings);

/// One cycle of all banks; false if none has a transfer in progress.
bool clockBanks();

}  // namespace gossamer::smi
