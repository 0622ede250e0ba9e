// SPDX-License-Identifier: Apache-2.0
// The floating-point unit. Paths are relative to rtl/.
fpu/gs_fpu_pkg.sv
fpu/gs_fpu_noncomp.sv
fpu/gs_fpu_divsqrt.sv
fpu/gs_fpu_unpack.sv
fpu/gs_fpu_fma.sv
fpu/gs_fpu.sv
