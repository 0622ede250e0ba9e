// SPDX-License-Identifier: Apache-2.0
/// The Tinsel* macros of the configuration that is simulated, for hosts and threads alike.
#pragma once

#include <gossamer/device_config.h>
