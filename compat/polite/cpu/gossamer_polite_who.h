// SPDX-License-Identifier: Apache-2.0
/// The device that a thread of this machine runs, for tinselId and printed lines.
#pragma once

namespace gossamer::compat {

extern thread_local const void* state_of_device;
extern thread_local const void* first_state;

}  // namespace gossamer::compat
