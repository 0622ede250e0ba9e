// SPDX-License-Identifier: Apache-2.0
/// The Tinsel* macros of the configuration whose threads the devices are said to be on.
#pragma once

#include <gossamer/device_config.h>
