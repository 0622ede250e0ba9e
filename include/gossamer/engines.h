// SPDX-License-Identifier: Apache-2.0
/// The engines by name: the only list of all engines.
#pragma once

#include <memory>
#include <string>

#include "gossamer/cpu/engine.h"
#include "gossamer/engine.h"
#include "gossamer/shuffle/engine.h"

namespace gossamer {

/// The engine of that name, or null for an unknown name.
template <typename V>
std::unique_ptr<Engine<V>> makeEngine(const std::string& name) {
  if (name == "cpu") return std::make_unique<cpu::Engine<V>>();
  if (name == "shuffle") return std::make_unique<shuffle::Engine<V>>();
  return nullptr;
}

}  // namespace gossamer
