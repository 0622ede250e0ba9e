// SPDX-License-Identifier: Apache-2.0

/// Loads and stores of bytes, halfwords and 32-bit words, as RISC-V's funct3 encodes them; funct3[1:0] is the size.
package gs_word_pkg;
  /// The value that a load returns: the addressed byte, halfword or word, extended to 32 bits.
  function automatic logic [31:0] load_value(logic [31:0] word, logic [2:0] funct3, logic [1:0] offset);
    logic [15:0] half;
    logic [7:0] part;
    half = offset[1] ? word[31:16] : word[15:0];
    part = offset[0] ? half[15:8] : half[7:0];
    if (funct3[1]) load_value = word;
    else if (funct3[0]) load_value = {{16{half[15] && !funct3[2]}}, half};
    else load_value = {{24{part[7] && !funct3[2]}}, part};
  endfunction

  /// The bytes of a word that a store writes.
  function automatic logic [3:0] store_strobe(logic [1:0] size, logic [1:0] offset);
    if (size[1]) store_strobe = 4'b1111;
    else if (size[0]) store_strobe = offset[1] ? 4'b1100 : 4'b0011;
    else store_strobe = 4'b0001 << offset;
  endfunction

  /// A store's data, replicated to every byte lane that the store may write.
  function automatic logic [31:0] store_data(logic [31:0] data, logic [1:0] size);
    if (size[1]) store_data = data;
    else if (size[0]) store_data = {2{data[15:0]}};
    else store_data = {4{data[7:0]}};
  endfunction
endpackage
