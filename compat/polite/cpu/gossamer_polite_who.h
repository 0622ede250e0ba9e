// SPDX-License-Identifier: Apache-2.0
/// Which device a thread of this machine runs, for tinselId and what it prints.
#pragma once

namespace gossamer::compat {

extern thread_local const void* state_of_device;
extern thread_local const void* first_state;

}  // namespace gossamer::compat
