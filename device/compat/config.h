// SPDX-License-Identifier: Apache-2.0
/// Tinsel's name of the header with the macros of its configuration.
#pragma once

#include <gossamer/device_config.h>
