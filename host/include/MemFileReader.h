// SPDX-License-Identifier: Apache-2.0
/// The words of a Verilog hex file, as hosts load it. The interface is that of Tinsel 0.8.3.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <utility>
#include <vector>

class MemFileReader {
 public:
  /// Reads a file; ends the program with one line if it cannot be read or is no hex file of bytes.
  explicit MemFileReader(const char* filename);

  /// The next word and its byte address; false after the last one. The last word of a part of the file is padded with
  /// zeroes.
  bool getWord(uint32_t* addr, uint32_t* word);

 private:
  std::vector<std::pair<uint32_t, uint32_t>> words_;
  size_t next_ = 0;
};
