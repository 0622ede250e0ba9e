// SPDX-License-Identifier: Apache-2.0
`include "gs_mem_types.svh"

/// Types that caches and memories share: the payloads of their streams in the widest common form, which modules use as
/// defaults. GS_MEM_TYPES declares other widths.
package gs_mem_pkg;
  /// address space of a request
  typedef enum logic {
    SpaceDram = 1'b0,
    SpaceSram = 1'b1
  } space_e;

  `GS_MEM_TYPES(32, 6, 32)
endpackage
