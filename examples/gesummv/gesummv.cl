// SPDX-License-Identifier: Apache-2.0
// y = alpha A x + beta B x on one rank: two concurrent matrix-vector products, and the sum of their streams.
//
//   ./gossamer smi run examples/gesummv/gesummv.cl -- N=64 alpha=1.5 beta=0.5 A=a.bin B=b.bin x=x.bin y=64:y.bin
#include <smi.h>
#pragma OPENCL EXTENSION cl_intel_channels : enable

channel float left __attribute__((depth(16)));
channel float right __attribute__((depth(16)));

__kernel void gemv_a(__global const float* restrict A, __global const float* restrict x, const int N,
                     const float alpha) {
  for (int i = 0; i < N; i++) {
    float sum = 0;
#pragma unroll 16
    for (int j = 0; j < N; j++) sum += A[i * N + j] * x[j];
    write_channel_intel(left, alpha * sum);
  }
}

__kernel void gemv_b(__global const float* restrict B, __global const float* restrict x, const int N,
                     const float beta) {
  for (int i = 0; i < N; i++) {
    float sum = 0;
#pragma unroll 16
    for (int j = 0; j < N; j++) sum += B[i * N + j] * x[j];
    write_channel_intel(right, beta * sum);
  }
}

__kernel void axpy(__global float* restrict y, const int N) {
  for (int i = 0; i < N; i++) y[i] = read_channel_intel(left) + read_channel_intel(right);
}
