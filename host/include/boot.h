// SPDX-License-Identifier: Apache-2.0
/// Requests that the first thread of a core takes as messages until it is made ready to start (HostLink::startOne).
#pragma once

#include <stdint.h>

typedef enum { SetAddrCmd, WriteInstrCmd, StoreCmd, LoadCmd, StartCmd } BootCmd;

typedef struct {
  uint8_t cmd;
  uint8_t numArgs;
  uint16_t unused;
  uint32_t args[15];
} BootReq;
