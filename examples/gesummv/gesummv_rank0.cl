// SPDX-License-Identifier: Apache-2.0
// GESUMMV on two ranks: rank 0 multiplies A, and streams its elements to rank 1 (gesummv_rank1.cl). Compared with
// gesummv.cl, a channel between kernels has become a channel between ranks.
//
//   cd examples/gesummv
//   ../../gossamer smi run gesummv_rank0.cl gesummv_rank1.cl --cluster two.json -- \
//     N=64 alpha=1.5 beta=0.5 A=a.bin B=b.bin x=x.bin y=64:y.bin
#include <smi.h>

__kernel void gemv_a(__global const float* restrict A, __global const float* restrict x, const int N, const float alpha,
                     const SMI_Comm comm) {
  SMI_Channel to_axpy = SMI_Open_send_channel(N, SMI_FLOAT, 1, 0, comm);
  for (int i = 0; i < N; i++) {
    float sum = 0;
#pragma unroll 16
    for (int j = 0; j < N; j++) sum += A[i * N + j] * x[j];
    sum *= alpha;
    SMI_Push(&to_axpy, &sum);
  }
}
