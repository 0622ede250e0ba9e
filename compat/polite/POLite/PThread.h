// SPDX-License-Identifier: Apache-2.0
/// A thread's devices and the loop that runs them.
#pragma once

#include <POLite/PDevice.h>

#ifdef __GOSSAMER_DEVICE__
#define GOSSAMER_POLITE_PINS POLITE_NUM_PINS
#include <gossamer/softswitch.h>
#else
#include <POLite/native.h>
#endif
#include <tinsel.h>

namespace gossamer::compat {

/// A device of 0.8.3 as a vertex of Gossamer's engines.
template <typename D, typename S, typename E, typename M>
struct Vertex : gossamer::PVertex<S, E, M> {
  void init() { device().init(); }
  void send(M* message) { device().send(message); }
  void recv(M* message, E* edge) { device().recv(message, edge); }
  bool step() { return device().step(); }
  bool finish(M* message) { return device().finish(message); }

#ifndef __GOSSAMER_DEVICE__
  /// The states of all devices.
  static inline const S* first = nullptr;
#endif

 private:
  __attribute__((always_inline)) D device() const {
#ifdef GOSSAMER_POLITE_WHO
    state_of_device = this->s;
    first_state = first;
#endif
    D device;
    device.s = this->s;
    device.readyToSend = reinterpret_cast<::PPin*>(this->readyToSend);
    device.numVertices = this->numVertices;
    device.time = static_cast<decltype(device.time)>(this->time);
    return device;
  }
};

}  // namespace gossamer::compat

#ifdef __GOSSAMER_DEVICE__

__attribute__((weak)) uint32_t gossamer_polite_blocks[GS_MAX_THREADS];

namespace gossamer::compat {

/// Sizes and offsets for the mapper, which finds them by this name.
template <typename V>
struct Layout {
  using Its = typename gossamer::Softswitch<V>::Layout;
  static constexpr uint32_t gossamer_polite_layout[] = {GOSSAMER_POLITE_LAYOUT(Its)};
};

}  // namespace gossamer::compat

/// The host writes its data: see gossamer/softswitch.h. Programs locate it at tinselHeapBaseSRAM().
template <typename DeviceType, typename S, typename E, typename M>
struct PThread {
  static_assert(sizeof(M) + 4 <= 1 << GS_LOG_SLOT_BYTES,
                "the message is too large: at most 4 bytes less than TinselBytesPerMsg of the configuration");

  /// Runs this thread's devices to the end of the job.
  void run() {
    __asm__ volatile("" : : "r"(gossamer::compat::Layout<V>::gossamer_polite_layout));
    constexpr bool stats = gossamer::compat::WantsStats<V, 0>::value;
    auto* const header = reinterpret_cast<gossamer::PoliteHeader*>(gossamer_polite_blocks[gossamerThread()]);
    if (stats) {
      tinselPerfCountReset();
      tinselPerfCountStart();
    }
    gossamer::Softswitch<V>::run();
    if (header->status == gossamer::PoliteWrongPin) sendOnMissingPin(header);
    if (stats) dumpStats(header);
  }

 private:
  using V = gossamer::compat::Vertex<DeviceType, S, E, M>;

  /// Ends the run. The report of the trap contains this function's name.
  __attribute__((noinline)) static void sendOnMissingPin(const gossamer::PoliteHeader* header) {
    print("device ", header->wrong);
    print(" of this thread sends on pin ", header->wrongPin);
    print("; POLITE_NUM_PINS is ", POLITE_NUM_PINS);
    putchar('\n');
    __builtin_trap();
  }

  /// Not by printf, which would be linked into programs that do not call it.
  static void print(const char* label, uint32_t value) {
    gossamer_puts(label);
    puthex(value);
  }

  /// Prints this thread's share of the counters: the first thread of a cache or core prints its counters.
  static void dumpStats(const gossamer::PoliteHeader* header) {
    tinselPerfCountStop();
    const uint32_t me = gossamerThread();
    if (me % TinselThreadsPerDCache == 0) {
      print("H:", tinselHitCount());
      print(",M:", tinselMissCount());
      print(",W:", tinselWritebackCount());
      putchar('\n');
    }
    if (me % TinselThreadsPerCore == 0) {
      print("C:", tinselCycleCountU());
      print(" ", tinselCycleCount());
      print(",I:", tinselCPUIdleCountU());
      print(" ", tinselCPUIdleCount());
      putchar('\n');
    }
    if (gossamer::compat::WantsMessages<V, 0>::value) {
      const bool first = me == 0;
      print("S:", header->sends);
      print(",R:", header->delivered / gossamer::Softswitch<V>::Layout::edge);
      print(",T:", header->steps);
      print(",HM:", header->hostMessages);
      print(",PR:", first ? tinselProgRouterSent() : 0);
      print(",PRI:", first ? tinselProgRouterSentInterBoard() : 0);
      putchar('\n');
    }
  }
};

#else

/// On the engine cpu, one call of run() runs all devices.
template <typename DeviceType, typename S, typename E, typename M>
struct PThread {
  void run() {
    using V = gossamer::compat::Vertex<DeviceType, S, E, M>;
    constexpr bool stats = gossamer::compat::WantsStats<V, 0>::value;
    if (stats) {
      tinselPerfCountReset();
      tinselPerfCountStart();
    }
    const gossamer::Statistics done = gossamer::compat::runNatively<V>();
    if (!stats) return;
    tinselPerfCountStop();
    // As many lines as on the hardware; the first line of each kind contains the totals of all devices.
    for (unsigned i = 0; i < TinselDCachesPerBoard * GS_BOARDS_WIDTH * GS_BOARDS_HEIGHT; ++i) {
      printf("H:%x,M:%x,W:%x\n", 0, 0, 0);
    }
    for (unsigned i = 0; i < TinselCoresPerBoard * GS_BOARDS_WIDTH * GS_BOARDS_HEIGHT; ++i) {
      printf("C:%x %x,I:%x %x\n", tinselCycleCountU(), tinselCycleCount(), 0, 0);
    }
    if (!gossamer::compat::WantsMessages<V, 0>::value) return;
    for (unsigned i = 0; i < TinselThreadsPerBoard * GS_BOARDS_WIDTH * GS_BOARDS_HEIGHT; ++i) {
      const auto count = [i](uint64_t all) { return i ? 0u : static_cast<unsigned>(all); };
      printf("S:%x,R:%x,T:%x,HM:%x,PR:%x,PRI:%x\n", count(done.sends), count(done.deliveries),
             static_cast<unsigned>(done.steps), count(done.hostMessages), 0, 0);
    }
  }
};

#endif
