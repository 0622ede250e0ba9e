// SPDX-License-Identifier: Apache-2.0
// A chain of ranks. Rank 0 sends the numbers 0 to N - 1, each rank adds its own number to each element, and the last
// one prints the sum.
//
//   ./gossamer smi run examples/streams/pipeline.c --ranks 8 -- 1000
#include <gossamer/smi/smi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 100;
  const int rank = SMI_Comm_rank(SMI_COMM_WORLD), ranks = SMI_Comm_size(SMI_COMM_WORLD);
  // Opening sends nothing: the first and the last rank never use one of these.
  SMI_Channel in = SMI_Open_recv_channel(n, SMI_INT, rank - 1, 0, SMI_COMM_WORLD);
  SMI_Channel out = SMI_Open_send_channel(n, SMI_INT, rank + 1, 0, SMI_COMM_WORLD);
  long sum = 0;
  for (int i = 0; i < n; i++) {
    int value = i;
    if (rank > 0) SMI_Pop(&in, &value);
    value += rank;
    if (rank < ranks - 1) SMI_Push(&out, &value);
    sum += value;
  }
  if (rank == ranks - 1) printf("%ld\n", sum);
  return 0;
}
