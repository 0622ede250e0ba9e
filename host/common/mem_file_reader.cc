// SPDX-License-Identifier: Apache-2.0
#include <MemFileReader.h>
#include <gossamer/host/errors.h>

#include <string>

#include "verilog_hex.h"

MemFileReader::MemFileReader(const char* filename) {
  const char* call = "MemFileReader";
  std::vector<gossamer::host::Part> parts;
  std::string why;
  if (!filename) gossamer::host::reject_call(call, "the name of a file is null");
  if (!gossamer::host::read_verilog_hex(filename, parts, why)) gossamer::host::reject_call(call, why);
  for (const auto& part : parts) {
    for (size_t at = 0; at < part.data.size(); at += 4) {
      uint32_t word = 0;
      for (size_t i = 0; i < 4 && at + i < part.data.size(); ++i) word |= uint32_t{part.data[at + i]} << 8 * i;
      words_.emplace_back(part.address + static_cast<uint32_t>(at), word);
    }
  }
}

bool MemFileReader::getWord(uint32_t* addr, uint32_t* word) {
  if (next_ == words_.size()) return false;
  *addr = words_[next_].first;
  *word = words_[next_].second;
  ++next_;
  return true;
}
