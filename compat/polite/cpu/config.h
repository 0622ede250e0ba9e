// SPDX-License-Identifier: Apache-2.0
/// The Tinsel* macros of the configuration whose threads the devices nominally run on.
#pragma once

#include <gossamer/device_config.h>
