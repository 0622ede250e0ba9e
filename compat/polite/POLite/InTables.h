// SPDX-License-Identifier: Apache-2.0
/// Addresses of devices, and the keys by which a message finds its edges at several threads of a mailbox.
#pragma once

#include <POLite/PDevice.h>
#include <config.h>
#include <gossamer/host/vertices.h>
#include <stdint.h>

#include <map>
#include <string>
#include <vector>

/// A device's thread and its number on the thread, as one word.
inline PThreadId getThreadId(PDeviceAddr addr) { return addr % TinselMaxThreads; }
inline PLocalDeviceId getLocalDeviceId(PDeviceAddr addr) {
  return static_cast<PLocalDeviceId>(addr / TinselMaxThreads);
}
inline PDeviceAddr makeDeviceAddr(PThreadId thread, PLocalDeviceId local) { return local * TinselMaxThreads + thread; }
inline constexpr PDeviceAddr invalidDeviceAddr() { return 0xffffffff; }

/// An outgoing edge of a device.
struct PEdgeDest {
  uint32_t index;    ///< of the edge among the device's edges
  PDeviceId dest;    ///< the destination device
  PDeviceAddr addr;  ///< and its location
};

/// The edges of a message that end at one thread.
struct PReceiverGroup {
  PThreadId threadId;
  uint32_t numEdges;
};

namespace gossamer::compat {

/// One table per thread, with an entry for each message that reaches the thread. All receiving threads of a message
/// have its entry at the same index, which is the message's key.
class InTables {
 public:
  /// The lowest index that is free at all of these threads.
  uint32_t find(const PReceiverGroup* groups, uint32_t count) {
    uint32_t key = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t i = 0; i < count; ++i) {
        const std::vector<bool>& used = used_[groups[i].threadId];
        while (key < used.size() && used[key]) {
          ++key;
          moved = true;
        }
      }
    }
    if (key > 0xFFFF) {
      host::reject_call("PGraph::findKey",
                   "a thread receives more messages than 16-bit keys can distinguish: " + std::to_string(key));
    }
    return key;
  }
  uint32_t add(const PReceiverGroup* groups, uint32_t count) {
    const uint32_t key = find(groups, count);
    for (uint32_t i = 0; i < count; ++i) {
      std::vector<bool>& used = used_[groups[i].threadId];
      if (used.size() <= key) used.resize(key + 1);
      used[key] = true;
    }
    return key;
  }
  void clear() { used_.clear(); }

 private:
  std::map<PThreadId, std::vector<bool>> used_;
};

}  // namespace gossamer::compat
