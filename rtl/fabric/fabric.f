// SPDX-License-Identifier: Apache-2.0
// What every endpoint of the fabric shares. Paths are relative to rtl/; gossamer_pkg is read before.
fabric/gs_address_pkg.sv
fabric/gs_idle_pkg.sv
