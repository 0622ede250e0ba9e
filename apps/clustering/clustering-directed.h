// SPDX-License-Identifier: Apache-2.0
/// The clustering coefficient of directed graphs (Fagiolo): the share of the possible directed triangles through a
/// vertex that exist; clustering.h has both versions.
#pragma once

#define CLUSTERING_DIRECTED
#include "clustering.h"
