// SPDX-License-Identifier: Apache-2.0
/// Connections to the command, for a process that MPI has started instead of the command: one for the report and one
/// for each standard stream.
#pragma once

#include <string>

namespace gossamer::smi {

/// Connects and returns the plan. From here on the report and the standard streams go to the command. Ends the process
/// if it cannot connect.
std::string connectCommand(const std::string& host, const std::string& port, const std::string& token, int process);

/// Whether the report goes over a connection to the command, so that the process must inform it before it exits.
bool commandIsRemote();
/// Whether the command has requested the end.
bool commandRequestsEnd();
/// Waits until the command has read the output of all processes.
void awaitCommand();

}  // namespace gossamer::smi
