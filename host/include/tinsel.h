// SPDX-License-Identifier: Apache-2.0
/// For headers that hosts and threads share.
#pragma once

#include <tinsel-interface.h>
