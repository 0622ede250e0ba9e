// SPDX-License-Identifier: Apache-2.0
/// Verilog hex files, as objcopy writes them: bytes in hexadecimal, each block after its @address.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gossamer::host {

struct Part {
  uint32_t address = 0;
  std::vector<uint8_t> data;
};

/// Reads a file. False if it cannot be read or is not valid; then `why` is the reason.
bool read_verilog_hex(const char* path, std::vector<Part>& parts, std::string& why);

}  // namespace gossamer::host
