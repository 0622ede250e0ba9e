// SPDX-License-Identifier: Apache-2.0
/// Requests to the loader of a core: hosts and threads share the header.
#pragma once

#include "../../host/include/boot.h"
