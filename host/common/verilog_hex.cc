// SPDX-License-Identifier: Apache-2.0
#include "verilog_hex.h"

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace gossamer::host {

bool read_verilog_hex(const char* path, std::vector<Part>& parts, std::string& why) {
  errno = 0;
  std::ifstream file(path);
  if (!file) {
    why = std::string(path) + ": " + (errno ? std::strerror(errno) : "cannot be read");
    return false;
  }
  unsigned number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    line.resize(std::min(line.find("//"), line.size()));
    for (size_t at = 0; at < line.size();) {
      if (std::isspace(static_cast<unsigned char>(line[at]))) {
        ++at;
        continue;
      }
      const bool location = line[at] == '@';
      char* end = nullptr;
      const char* begin = line.c_str() + at + location;
      const unsigned long long value = std::strtoull(begin, &end, 16);
      const bool whole = end != begin && (!*end || std::isspace(static_cast<unsigned char>(*end)));
      if (!whole || value > (location ? 0xFFFF'FFFFULL : 0xFF)) {
        why = std::string(path) + ":" + std::to_string(number) + ": is not a Verilog hex file of bytes";
        return false;
      }
      at = static_cast<size_t>(end - line.c_str());
      if (location) {
        parts.push_back({static_cast<uint32_t>(value), {}});
      } else {
        if (parts.empty()) parts.emplace_back();
        parts.back().data.push_back(static_cast<uint8_t>(value));
      }
    }
  }
  return true;
}

}  // namespace gossamer::host
