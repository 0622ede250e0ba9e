// SPDX-License-Identifier: Apache-2.0
// The inner pipelines of GESUMMV. Paths are relative to rtl/.
-f common/common.f
-f fpu/fpu.f
stream/gs_stream_fadd.sv
stream/kernels/gs_kernel_multiply.sv
stream/kernels/gs_kernel_axpy.sv
stream/kernels/gs_kernel_gemv.sv
