// SPDX-License-Identifier: Apache-2.0
// A wire between two MACs. Paths are relative to rtl/, except those of sim/, which are relative to the checkout.
sim/link/gs_mac_model.sv
