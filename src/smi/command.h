// SPDX-License-Identifier: Apache-2.0
/// The way to the command for a process that it has not started itself (MPI has): connections to an address of it, for
/// the report and for the standard streams.
#pragma once

#include <string>

namespace gossamer::smi {

/// Connects; gives the plan. From here on the report goes to the command, and so does what programs write. Ends the
/// process if there is no way.
std::string connectCommand(const std::string& host, const std::string& port, const std::string& token, int process);

/// Whether the command is at the other end of the report's file, and has to be told before this process goes.
bool commandIsFar();
/// Whether the command has asked for the end.
bool commandAsks();
/// Waits until the command has what it needs of all processes.
void awaitCommand();

}  // namespace gossamer::smi
