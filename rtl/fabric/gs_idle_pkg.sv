// SPDX-License-Identifier: Apache-2.0

/// What endpoints tell idle detection.
package gs_idle_pkg;
  /// State of an endpoint, all fields taken in the same cycle.
  typedef struct packed {
    /// no thread of it can go on by itself and nothing is under way inside
    logic        idle;
    /// all its waiting threads voted yes
    logic        vote;
    /// epoch that it is in
    logic [1:0]  epoch;
    /// messages that it has sent and received since reset, modulo 2^32
    logic [31:0] sent;
    logic [31:0] received;
  } idle_status_t;
endpackage
