// SPDX-License-Identifier: Apache-2.0
/// Construction of a HostLink, the same on every engine.
#include <HostLink.h>

#include <cstdlib>

namespace {

uint32_t from_environment(const char* name) {
  const char* text = std::getenv(name);
  return text ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : 1;
}

}  // namespace

HostLink::HostLink() : HostLink(from_environment("HOSTLINK_BOXES_X"), from_environment("HOSTLINK_BOXES_Y")) {}

HostLink::HostLink(HostLinkParams params) : HostLink(params.numBoxesX, params.numBoxesY) {}

HostLink::HostLink(uint32_t numBoxesX, uint32_t numBoxesY) {
  DebugLinkParams params;
  params.numBoxesX = numBoxesX;
  params.numBoxesY = numBoxesY;
  debug_ = std::make_unique<DebugLink>(params);
  debugLink = debug_.get();
  meshXLen = debug_->meshXLen;
  meshYLen = debug_->meshYLen;
  open();
}

HostLink::~HostLink() = default;
