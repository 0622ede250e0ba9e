// SPDX-License-Identifier: Apache-2.0
/// The engines that run in one process, by name. The engine `distributed` is in distributed/engine.h.
#pragma once

#include <memory>
#include <string>

#include "gossamer/cpu/engine.h"
#include "gossamer/engine.h"
#include "gossamer/shuffle/engine.h"

namespace gossamer {

/// The engine of that name, or null for an unknown name.
template <typename V>
std::unique_ptr<Engine<V>> makeEngine([[maybe_unused]] const std::string& name) {
#ifndef GOSSAMER_DISTRIBUTED  // compiled for gs_app_run_share only
  if (name == "cpu") return std::make_unique<cpu::Engine<V>>();
  if (name == "shuffle") return std::make_unique<shuffle::Engine<V>>();
#endif
  return nullptr;
}

}  // namespace gossamer
