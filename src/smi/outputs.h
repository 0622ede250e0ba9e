// SPDX-License-Identifier: Apache-2.0
/// Output files of kernels without a host program.
#pragma once

namespace gossamer::smi {

/// Calls the functions that ranks of this process have passed to gs_smi_at_end.
void writeOutputs();

}  // namespace gossamer::smi
