// SPDX-License-Identifier: Apache-2.0
/// A set of numbers as words of 64 bits; all are absent at first. The interface is that of Tinsel 0.8.3.
#pragma once

#include <POLite/Seq.h>
#include <stdint.h>

struct Bitmap {
  Seq<uint64_t>* contents = new Seq<uint64_t>(16);  ///< words so far; all further ones are 0
  uint32_t firstFree = 0;                           ///< index of the first word with a clear bit

  Bitmap() = default;
  Bitmap(const Bitmap&) = delete;
  Bitmap& operator=(const Bitmap&) = delete;
  ~Bitmap() { delete contents; }

  /// The word at an index; 0 beyond the end.
  uint64_t getWord(uint32_t index) const {
    return index < static_cast<uint32_t>(contents->numElems) ? contents->elems[index] : 0;
  }

  /// Index of the first word with a clear bit, from `start` on.
  uint32_t nextFreeWordFrom(uint32_t start) const {
    while (getWord(start) == ~uint64_t{0}) ++start;
    return start;
  }

  /// Sets a bit, 0 to 63, of the word at an index.
  void setBit(uint32_t wordIndex, uint32_t bitIndex) {
    while (static_cast<uint32_t>(contents->numElems) <= wordIndex) contents->append(0);
    contents->elems[wordIndex] |= uint64_t{1} << bitIndex;
    firstFree = nextFreeWordFrom(firstFree);
  }

  /// Whether a number is in the set.
  bool isSet(uint32_t number) const { return getWord(number / 64) >> number % 64 & 1; }
};
