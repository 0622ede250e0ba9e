// SPDX-License-Identifier: Apache-2.0
// Ranks in a ring, each of which sends its right neighbour one element at a time and takes one from its left one:
// `elements N`. Rank 0 prints the elements of all ranks, and the processor's nanoseconds that they took.
#include <smi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 0;
  const int rank = SMI_Comm_rank(SMI_COMM_WORLD), size = SMI_Comm_size(SMI_COMM_WORLD);
  const int left = (rank + size - 1) % size;
  const long long begin = nanoseconds();
  SMI_Channel out = SMI_Open_send_channel(n, SMI_INT, (rank + 1) % size, 0, SMI_COMM_WORLD);
  SMI_Channel in = SMI_Open_recv_channel(n, SMI_INT, left, 0, SMI_COMM_WORLD);
  for (int i = 0; i < n; i++) {
    const int sent = rank * 1000003 + i;
    int came;
    SMI_Push(&out, &sent);
    SMI_Pop(&in, &came);
    if (came != left * 1000003 + i) {
      fprintf(stderr, "rank %d: element %d is %d\n", rank, i, came);
      return 1;
    }
  }
  if (rank == 0) printf("%lld %lld\n", (long long)n * size, nanoseconds() - begin);
  return 0;
}
