// SPDX-License-Identifier: Apache-2.0
// DPI functions of gs_mem_model.sv. A model exists until the process ends.
#include <svdpi.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <sstream>
#include <string>

#include "gs_dram_controller.h"
#include "gs_sram_model.h"

namespace gossamer::sim {

namespace {

struct Registry {
  std::mutex lock;
  std::deque<std::unique_ptr<MemoryModel>> models;
};

Registry& registry() {
  static Registry all;
  return all;
}

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "simulated memory: %s\n", what.c_str());
  std::abort();
}

/// "key=value key=value": every key must be known, and every required key must be present.
class Settings {
 public:
  explicit Settings(const char* text) {
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) fail("setting without a value: " + word);
      values_[word.substr(0, equals)] = std::stoull(word.substr(equals + 1));
    }
  }
  std::uint64_t operator()(const char* key) {
    const auto found = values_.find(key);
    if (found == values_.end()) fail(std::string("no setting ") + key);
    const std::uint64_t value = found->second;
    values_.erase(found);
    return value;
  }
  void end() const {
    if (!values_.empty()) fail("unknown setting " + values_.begin()->first);
  }

 private:
  std::map<std::string, std::uint64_t> values_;
};

// A status word: the model's state after this cycle.
enum : int { kReady = 1, kHas = 2, kBusy = 4, kBroken = 8 };

std::unique_ptr<MemoryModel> makeDram(Settings& get) {
  DramConfig c;
  c.doubleRate = get("double_rate") != 0;
  c.bytes = get("bytes");
  c.busBytes = get("bus_bytes");
  c.burstLength = get("burst_length");
  c.banks = get("banks");
  c.rowBytes = get("row_bytes");
  c.cl = get("cl");
  c.cwl = get("cwl");
  c.rcd = get("rcd");
  c.rp = get("rp");
  c.ras = get("ras");
  c.rrd = get("rrd");
  c.faw = get("faw");
  c.wr = get("wr");
  c.wtr = get("wtr");
  c.rtp = get("rtp");
  c.rfc = get("rfc");
  c.refi = get("refi");
  c.dramKhz = get("dram_khz");
  c.coreKhz = get("core_khz");
  c.controllerLatency = get("controller_latency");
  c.lineBytes = get("line_bytes");
  c.portBytes = get("port_bytes");
  c.bankBytes = get("bank_bytes");
  c.bankHash = get("bank_hash") != 0;
  return std::make_unique<DramController>(c);
}

std::unique_ptr<MemoryModel> makeSram(Settings& get) {
  SramConfig c;
  c.bytes = get("bytes");
  c.dataBytes = get("data_bytes");
  c.sramKhz = get("sram_khz");
  c.coreKhz = get("core_khz");
  c.readLatency = get("read_latency");
  c.lineBytes = get("line_bytes");
  c.portBytes = get("port_bytes");
  return std::make_unique<SramController>(c);
}

}  // namespace

MemoryModel* findMemory(const std::string& nameEnd) {
  Registry& all = registry();
  const std::lock_guard guard(all.lock);
  for (auto model = all.models.rbegin(); model != all.models.rend(); ++model) {
    const std::string& name = (*model)->name;
    if (name.size() >= nameEnd.size() && name.compare(name.size() - nameEnd.size(), nameEnd.size(), nameEnd) == 0) {
      return model->get();
    }
  }
  return nullptr;
}

}  // namespace gossamer::sim

using namespace gossamer::sim;

extern "C" {

void* gs_mem_new(const char* kind, const char* name, const char* text) {
  Settings settings(text);
  const std::string what = kind;
  if (what != "dram" && what != "sram") fail("no such kind: " + what);
  std::unique_ptr<MemoryModel> model = what == "dram" ? makeDram(settings) : makeSram(settings);
  settings.end();
  model->name = name;
  Registry& all = registry();
  const std::lock_guard guard(all.lock);
  return all.models.emplace_back(std::move(model)).get();
}

int gs_mem_tick(void* handle, std::uint64_t cycle) {
  auto& model = *static_cast<MemoryModel*>(handle);
  model.tick(cycle);
  for (const std::string& what : model.violations()) std::fprintf(stderr, "%s: %s\n", model.name.c_str(), what.c_str());
  return (model.ready() ? kReady : 0) | (model.has(cycle) ? kHas : 0) | (model.idle() ? 0 : kBusy) |
         (model.violations().empty() ? 0 : kBroken);
}

void gs_mem_put(void* handle, std::uint64_t cycle, int flags, std::uint64_t address, int id, const svBitVecVal* data) {
  memoryBeats.fetch_add(1, std::memory_order_relaxed);
  static_cast<MemoryModel*>(handle)->put(cycle, (flags & 1) != 0, (flags & 2) != 0, address,
                                         static_cast<std::uint32_t>(id), reinterpret_cast<const std::uint8_t*>(data));
}

int gs_mem_get(void* handle, int* id, svBitVecVal* data) {
  const auto beat = static_cast<MemoryModel*>(handle)->get();
  *id = static_cast<int>(beat.id);
  std::memcpy(data, beat.data.data(), beat.data.size());
  return (beat.ack ? 1 : 0) | (beat.last ? 2 : 0);
}

}  // extern "C"
