// SPDX-License-Identifier: Apache-2.0
/// The activity of each thread of a simulated tile, or of all tiles, from simulation-only signals of the cores.
///
/// The signals are found at run time, by name, in Verilator's table of public signals, independent of the cores' depth
/// in the hierarchy and of their number. Nothing is read until it is needed.
#pragma once

#include <verilated.h>
#include <verilated_syms.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "state.h"

namespace gossamer::sim {

/// The signals of all cores.
class Probe {
 public:
  /// The scopes of all modules of a model with a signal of that name, in hierarchical order.
  static std::vector<const VerilatedVarNameMap*> scopes(VerilatedContext& context, const char* signal) {
    std::vector<std::pair<std::string, const VerilatedVarNameMap*>> found;
    if (const VerilatedScopeNameMap* scopes = context.scopeNameMap()) {
      for (const auto& [name, scope] : *scopes) {
        const VerilatedVarNameMap* vars = scope->varsp();
        if (vars && vars->count(signal)) found.emplace_back(name, vars);
      }
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return before(a.first, b.first); });
    std::vector<const VerilatedVarNameMap*> all;
    for (const auto& [name, vars] : found) all.push_back(vars);
    return all;
  }

  /// Finds a signal; false if no signal of that name has elements of the width of T.
  template <typename T>
  static bool at(const VerilatedVarNameMap& vars, const char* name, const T*& pointer) {
    const auto found = vars.find(name);
    if (found == vars.end() || found->second.entSize() != sizeof(T)) return false;
    pointer = static_cast<const T*>(found->second.datap());
    return true;
  }

  /// Finds the cores; call it after the model's first evaluation. False if no core has these signals.
  bool find(VerilatedContext& context, unsigned threads_per_core) {
    threads_per_core_ = threads_per_core;
    context_ = &context;
    for (const VerilatedVarNameMap* vars : scopes(context, "sim_state")) {
      Core core;
      if (!at(*vars, "sim_state", core.state) || !at(*vars, "sim_pc", core.pc) || !at(*vars, "sim_xop", core.op) ||
          !at(*vars, "sim_xaddr", core.address) || !at(*vars, "sim_xdata", core.data) ||
          !at(*vars, "sim_issued", core.issued)) {
        return false;
      }
      cores_.push_back(core);
    }
    return !cores_.empty();
  }

  /// Distributes the cores evenly over several tiles; false if that is impossible.
  bool split(Probe* tiles, unsigned count) const {
    const size_t each = cores_.size() / count;
    for (unsigned t = 0; t < count; ++t) {
      tiles[t].threads_per_core_ = threads_per_core_;
      tiles[t].context_ = context_;
      tiles[t].cores_.assign(cores_.begin() + t * each, cores_.begin() + (t + 1) * each);
    }
    return each && each * count == cores_.size();
  }

  /// Context of the cores' model.
  VerilatedContext* context() const { return context_; }
  unsigned cores() const { return static_cast<unsigned>(cores_.size()); }

  /// A thread by its number in the tile.
  State state(unsigned thread) const {
    const Core& core = cores_[thread / threads_per_core_];
    const unsigned i = thread % threads_per_core_;
    const auto request = static_cast<RequestKind>(core.op[i]);
    // The bits above a register's number are undefined.
    const uint32_t address = request == RequestKind::Csr ? core.address[i] & 0xFFF : core.address[i];
    return {static_cast<Doing>(core.state[i]), request, core.pc[i], address, core.data[i]};
  }
  /// Only the activity, which a trace samples in every cycle.
  Doing doing(unsigned thread) const {
    return static_cast<Doing>(cores_[thread / threads_per_core_].state[thread % threads_per_core_]);
  }

  /// The threads that have been started and have not ended, a bit each. Threads that trapped may count as either.
  uint64_t active() const {
    uint64_t all = 0;
    for (unsigned t = 0; t < cores_.size() * threads_per_core_; ++t) {
      const Doing its = doing(t);
      if (its == Doing::Nothing) continue;
      // A thread that has ended waits for ever for the answer to its last request.
      if (its == Doing::Request && state(t).ends()) continue;
      all |= uint64_t{1} << t;
    }
    return all;
  }

  /// Instructions that all cores have issued since reset.
  uint64_t issued() const {
    uint64_t sum = 0;
    for (const Core& core : cores_) sum += *core.issued;
    return sum;
  }

 private:
  struct Core {
    const uint8_t* state = nullptr;
    const uint32_t* pc = nullptr;
    const uint8_t* op = nullptr;
    const uint32_t* address = nullptr;
    const uint32_t* data = nullptr;
    const uint64_t* issued = nullptr;
  };

  /// Natural order of scopes: core 10 follows core 9.
  static bool before(const std::string& a, const std::string& b) {
    size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
      if (isdigit(static_cast<unsigned char>(a[i])) && isdigit(static_cast<unsigned char>(b[j]))) {
        char* end_a = nullptr;
        char* end_b = nullptr;
        const unsigned long x = strtoul(a.c_str() + i, &end_a, 10), y = strtoul(b.c_str() + j, &end_b, 10);
        if (x != y) return x < y;
        i = static_cast<size_t>(end_a - a.c_str());
        j = static_cast<size_t>(end_b - b.c_str());
      } else {
        if (a[i] != b[j]) return a[i] < b[j];
        ++i;
        ++j;
      }
    }
    return a.size() - i < b.size() - j;
  }

  std::vector<Core> cores_;
  unsigned threads_per_core_ = 1;
  VerilatedContext* context_ = nullptr;
};

/// Probes of all tiles; threads are numbered tile by tile.
class Probes {
 public:
  Probes(const Probe* probes, unsigned tiles, unsigned threads_per_tile)
      : probes_(probes), tiles_(tiles), threads_per_tile_(threads_per_tile) {}

  State state(unsigned thread) const { return probes_[thread / threads_per_tile_].state(thread % threads_per_tile_); }
  Doing doing(unsigned thread) const { return probes_[thread / threads_per_tile_].doing(thread % threads_per_tile_); }
  uint64_t issued() const {
    uint64_t sum = 0;
    for (unsigned t = 0; t < tiles_; ++t) sum += probes_[t].issued();
    return sum;
  }

 private:
  const Probe* probes_;
  unsigned tiles_, threads_per_tile_;
};

}  // namespace gossamer::sim
