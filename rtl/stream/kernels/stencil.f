// SPDX-License-Identifier: Apache-2.0
// The inner pipeline of the stencil. Paths are relative to rtl/.
-f common/common.f
-f fpu/fpu.f
stream/gs_stream_fadd.sv
stream/kernels/gs_kernel_multiply.sv
stream/kernels/gs_kernel_stencil.sv
