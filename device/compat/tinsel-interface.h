// SPDX-License-Identifier: Apache-2.0
/// Tinsel's name of the part of tinsel.h that hosts use too; threads have all of it.
#pragma once

#include <tinsel.h>
