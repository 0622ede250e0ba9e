// SPDX-License-Identifier: Apache-2.0
// Packages that all endpoints of the fabric share. Paths are relative to rtl/; gossamer_pkg is read first.
fabric/gs_address_pkg.sv
fabric/gs_idle_pkg.sv
