// SPDX-License-Identifier: Apache-2.0
/// Shared declarations of both parts of a POLite program: devices, their types, messages.
#pragma once

// Devices use these without including them, as Tinsel's headers do.
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifndef TINSEL
// A header with devices is also compiled for hosts, and its handlers may call functions of threads.
#include <tinsel-interface.h>
#endif

#ifndef POLITE_NUM_PINS
#define POLITE_NUM_PINS 1
#endif
static_assert(POLITE_NUM_PINS >= 1 && POLITE_NUM_PINS <= 254, "POLITE_NUM_PINS is 1 to 254");

namespace gossamer::compat {

/// Whether the program has set POLITE_DUMP_STATS and POLITE_COUNT_MSGS: POLite.h specializes these.
template <typename V, int>
struct WantsStats {
  static constexpr bool value = false;
};
template <typename V, int>
struct WantsMessages {
  static constexpr bool value = false;
};

}  // namespace gossamer::compat

/// A device's number in the graph; its number on its thread; its thread together with that number.
typedef uint32_t NodeId;
typedef NodeId PDeviceId;
typedef uint16_t PLocalDeviceId;
typedef uint32_t PThreadId;
typedef uint32_t PDeviceAddr;

/// A pin of a device: 0 to POLITE_NUM_PINS - 1.
typedef int32_t PinId;

/// Destination for which a device is ready to send: No, HostPin or Pin(n).
typedef uint8_t PPin;
constexpr PPin No = 0;
constexpr PPin HostPin = 1;
constexpr PPin Pin(int pin) { return static_cast<PPin>(pin + 2); }

/// No edge label, or no message.
struct None {};
typedef None PEmpty;

/// Base of a device; derive from it and write handlers. They are found by name: `send` and `finish` may accept M* or
/// volatile M*.
template <typename S, typename E, typename M>
struct PDevice {
  S* s;                  ///< state
  PPin* readyToSend;     ///< where it is ready to send
  uint32_t numVertices;  ///< devices of the graph
  uint32_t time;         ///< number of previous calls of `step`

  void init() {}
  void send(volatile M*) {}
  void recv(M*, E*) {}
  bool step() { return false; }
  bool finish(volatile M*) { return false; }
};

/// The papers' name.
template <typename S, typename E, typename M>
using PVertex = PDevice<S, E, M>;

/// A device on the host.
template <typename S>
struct PState {
  uint16_t pinBase[POLITE_NUM_PINS];
  PPin readyToSend;
  int8_t isMarkedRTS;
  S state;
};

/// A message as a host receives it. The message follows one word, whatever its alignment.
#pragma pack(push, 4)
template <typename M>
struct PMessage {
  uint32_t destKey;
  M payload;
};
#pragma pack(pop)
