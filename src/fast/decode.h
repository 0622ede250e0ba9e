// SPDX-License-Identifier: Apache-2.0
/// Instruction memories of the engine `fast`: words decoded once, when they are written.
#pragma once

#include <cstdint>
#include <vector>

#include "gossamer/model/rv32imf.h"

namespace gossamer::fast {

/// What an instruction does. The operations of the base ISA and of M are in the order of funct3.
enum class Op : uint8_t {
  Illegal,
  Lui,
  Auipc,
  Jal,
  Jalr,
  Branch,
  Load,
  LoadFloat,
  Store,
  StoreFloat,
  Immediate,
  Register,
  Subtract,
  Multiply,
  Divide,
  Fence,
  Call,
  Break,
  Csr,
  Float
};

struct Instruction {
  Op op = Op::Illegal;
  uint8_t rd = 0, rs1 = 0, rs2 = 0;
  uint8_t funct3 = 0;
  bool other = false;  ///< subtraction, arithmetic shift
  int32_t immediate = 0;
  uint32_t word = 0;
};

inline bool isLegalFloat(uint32_t word) {
  const uint32_t funct3 = word >> 12 & 7, rs2 = word >> 20 & 31, rounds = funct3 != 5 && funct3 != 6;
  if ((word & 0x7F) != 0x53) return (word >> 25 & 3) == 0 && rounds;
  switch (word >> 25) {
    case 0x00:
    case 0x04:
    case 0x08:
    case 0x0C: return rounds;
    case 0x2C: return rounds && rs2 == 0;
    case 0x10: return funct3 < 3;
    case 0x14: return funct3 < 2;
    case 0x50: return funct3 < 3;
    case 0x60:
    case 0x68: return rounds && rs2 < 2;
    case 0x70: return rs2 == 0 && funct3 < 2;
    case 0x78: return rs2 == 0 && funct3 == 0;
    default: return false;
  }
}

inline Instruction decode(uint32_t word) {
  Instruction its;
  const uint32_t funct7 = word >> 25;
  its.word = word;
  its.rd = word >> 7 & 31;
  its.rs1 = word >> 15 & 31;
  its.rs2 = word >> 20 & 31;
  its.funct3 = word >> 12 & 7;
  const uint32_t funct3 = its.funct3;
  using namespace rv32imf;
  const auto legal = [&](Op op, bool condition, int32_t immediate) {
    if (condition) its.op = op;
    its.immediate = immediate;
  };
  switch (word & 0x7F) {
    case 0x37: legal(Op::Lui, true, static_cast<int32_t>(word & 0xFFFF'F000)); break;
    case 0x17: legal(Op::Auipc, true, static_cast<int32_t>(word & 0xFFFF'F000)); break;
    case 0x6F: legal(Op::Jal, true, static_cast<int32_t>(immediateJ(word))); break;
    case 0x67: legal(Op::Jalr, funct3 == 0, immediateI(word)); break;
    case 0x63: legal(Op::Branch, funct3 != 2 && funct3 != 3, static_cast<int32_t>(immediateB(word))); break;
    case 0x03: legal(Op::Load, funct3 <= 5 && funct3 != 3, immediateI(word)); break;
    case 0x07: legal(Op::LoadFloat, funct3 == 2, immediateI(word)); break;
    case 0x23: legal(Op::Store, funct3 <= 2, immediateS(word)); break;
    case 0x27: legal(Op::StoreFloat, funct3 == 2, immediateS(word)); break;
    case 0x13: {
      const bool shift = funct3 == 1 || funct3 == 5;
      its.other = funct3 == 5 && funct7 == 0x20;
      legal(Op::Immediate, !shift || funct7 == 0 || its.other, shift ? its.rs2 : immediateI(word));
      break;
    }
    case 0x33:
      if (funct7 == 1) {
        legal(funct3 < 4 ? Op::Multiply : Op::Divide, true, 0);
      } else {
        its.other = funct7 == 0x20;
        legal(funct3 == 0 && its.other ? Op::Subtract : Op::Register,
              funct7 == 0 || (its.other && (funct3 == 0 || funct3 == 5)), 0);
      }
      break;
    case 0x0F: legal(Op::Fence, funct3 < 2, 0); break;
    case 0x73:
      if (word == 0x0000'0073) its.op = Op::Call;
      if (word == 0x0010'0073) its.op = Op::Break;
      if ((funct3 & 3) != 0) legal(Op::Csr, true, 0);
      break;
    case 0x43:
    case 0x47:
    case 0x4B:
    case 0x4F:
    case 0x53: legal(Op::Float, isLegalFloat(word), 0); break;
    default: break;
  }
  return its;
}

using Code = std::vector<Instruction>;

}  // namespace gossamer::fast
