// SPDX-License-Identifier: Apache-2.0
/// Channels between the kernels of one rank. With hardware (hardware.h), an element is readable in the cycle after it
/// was written, and its slot is free in the cycle in which it is read: a channel of depth 1 carries one element a
/// cycle.
#include <algorithm>

#include "hardware.h"

struct gs_smi_fifo : gossamer::smi::Waitable {
  gossamer::smi::Ring bytes;  ///< only its counters are used; the elements are stored in `data`
  std::vector<char> data;
  std::string name;
  int size = 0, depth = 1;
  std::deque<gossamer::smi::Fiber*> writers, readers;
  /// With hardware: cycle of the last call at each end, failed ones included, and of the last write and read.
  std::uint64_t writes = 0, reads = 0, lastPut = 0, lastTake = 0;

  gossamer::smi::Wait wait(const gossamer::smi::Fiber& fiber) const override {
    const bool writing = std::find(writers.begin(), writers.end(), &fiber) != writers.end();
    return {gossamer::smi::format("to %s channel %s: %s ({})", writing ? "write" : "read", name.c_str(),
                                  writing ? "full" : "empty"),
            {fiber.rank->index}};
  }
  gossamer::smi::WaitKind kind(const gossamer::smi::Fiber& fiber) const override {
    const bool writing = std::find(writers.begin(), writers.end(), &fiber) != writers.end();
    return writing ? gossamer::smi::WaitKind::write : gossamer::smi::WaitKind::read;
  }
  std::string label(gossamer::smi::WaitKind kind) const override {
    return (kind == gossamer::smi::WaitKind::write ? "write channel " : "read channel ") + name;
  }
};

namespace {

using namespace gossamer::smi;

gs_smi_fifo& fifoOf(SMI_Fifo* handle, int size, int depth, const char* name) {
  if (!handle->fifo) {
    auto* made = new gs_smi_fifo;
    made->name = name;
    made->size = size;
    // A channel of depth 0 is a wire: one element may be in flight.
    made->depth = std::max(depth, 1);
    made->data.resize(static_cast<std::size_t>(made->size) * static_cast<std::size_t>(made->depth));
    handle->fifo = made;
  }
  return *handle->fifo;
}

bool full(const gs_smi_fifo& f) { return f.bytes.size() == static_cast<std::uint64_t>(f.depth); }

/// Elements that are readable now.
std::uint64_t readable(const gs_smi_fifo& f) { return f.bytes.size() - (hardware && f.lastPut == now ? 1 : 0); }

char* slotOf(gs_smi_fifo& f, std::uint64_t number) {
  return f.data.data() + number % static_cast<std::uint64_t>(f.depth) * static_cast<std::uint64_t>(f.size);
}

void wakeOne(std::deque<Fiber*>& waiting) {
  if (waiting.empty()) return;
  wake(waiting.front());
  waiting.pop_front();
}

void put(gs_smi_fifo& f, const void* data) {
  std::copy_n(static_cast<const char*>(data), f.size, slotOf(f, f.bytes.tail++));
  f.lastPut = f.writes = now;
  wakeOne(f.readers);
}

void take(gs_smi_fifo& f, void* data) {
  std::copy_n(slotOf(f, f.bytes.head++), f.size, static_cast<char*>(data));
  f.lastTake = f.reads = now;
  wakeOne(f.writers);
}

}  // namespace

extern "C" {

void SMI_Fifo_write(SMI_Fifo* fifo, const void* data, int size, int depth, const char* name) {
  const CallSite at = __builtin_return_address(0);
  gs_smi_fifo& f = fifoOf(fifo, size, depth, name);
  spend();
  for (;;) {
    while (hardware && f.writes == now) nextCycle(at);
    if (!full(f)) break;
    f.writers.push_back(current);
    wait(f, at);
  }
  put(f, data);
}

void SMI_Fifo_read(SMI_Fifo* fifo, void* data, int size, int depth, const char* name) {
  const CallSite at = __builtin_return_address(0);
  gs_smi_fifo& f = fifoOf(fifo, size, depth, name);
  spend();
  for (;;) {
    while (hardware && (f.reads == now || (f.bytes.size() && !readable(f)))) nextCycle(at);
    if (f.bytes.size()) break;
    f.readers.push_back(current);
    wait(f, at);
  }
  take(f, data);
}

int SMI_Fifo_write_nb(SMI_Fifo* fifo, const void* data, int size, int depth, const char* name) {
  gs_smi_fifo& f = fifoOf(fifo, size, depth, name);
  spend();
  bool fails;
  if (hardware) {
    useOnce(f.writes, __builtin_return_address(0));
    // Fibers run in any order within a cycle, so a slot that was freed in this cycle still counts as occupied.
    fails = f.bytes.size() + (f.lastTake == now ? 1 : 0) >= static_cast<std::uint64_t>(f.depth);
  } else {
    // A polling kernel lets the others run.
    if (full(f)) yield();
    fails = full(f);
  }
  if (fails) {
    countFailedPoll();
    return 0;
  }
  put(f, data);
  return 1;
}

int SMI_Fifo_read_nb(SMI_Fifo* fifo, void* data, int size, int depth, const char* name) {
  gs_smi_fifo& f = fifoOf(fifo, size, depth, name);
  spend();
  if (hardware) {
    useOnce(f.reads, __builtin_return_address(0));
  } else if (!readable(f)) {
    yield();
  }
  if (!readable(f)) {
    countFailedPoll();
    return 0;
  }
  take(f, data);
  return 1;
}

}  // extern "C"
