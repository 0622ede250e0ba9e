// SPDX-License-Identifier: Apache-2.0
// GESUMMV on two ranks: rank 1 multiplies B, and adds the elements streamed from rank 0 (gesummv_rank0.cl).
#include <smi.h>
#pragma OPENCL EXTENSION cl_intel_channels : enable

channel float right __attribute__((depth(16)));

__kernel void gemv_b(__global const float* restrict B, __global const float* restrict x, const int N,
                     const float beta) {
  for (int i = 0; i < N; i++) {
    float sum = 0;
#pragma unroll 16
    for (int j = 0; j < N; j++) sum += B[i * N + j] * x[j];
    write_channel_intel(right, beta * sum);
  }
}

__kernel void axpy(__global float* restrict y, const int N, const SMI_Comm comm) {
  SMI_Channel from_gemv = SMI_Open_recv_channel(N, SMI_FLOAT, 0, 0, comm);
  for (int i = 0; i < N; i++) {
    float other;
    SMI_Pop(&from_gemv, &other);
    y[i] = other + read_channel_intel(right);
  }
}
