// SPDX-License-Identifier: Apache-2.0
// Channels, one with a degree of its own, from which a board is generated (test_generated.py). It is read, and not run.
#include <smi.h>

int main(void) {
  SMI_Channel few = SMI_Open_send_channel(10, SMI_INT, 1, 0, SMI_COMM_WORLD);
  SMI_Channel from = SMI_Open_receive_channel(10, SMI_INT, 0, 0, SMI_COMM_WORLD);
  SMI_Channel many = SMI_Open_send_channel_ad(10, SMI_DOUBLE, 1, 1, SMI_COMM_WORLD, 200);
  SMI_Channel those = SMI_Open_receive_channel_ad(10, SMI_DOUBLE, 0, 1, SMI_COMM_WORLD, 200);
  (void)few, (void)from, (void)many, (void)those;
  return 0;
}
