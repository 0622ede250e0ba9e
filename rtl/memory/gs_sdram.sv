// SPDX-License-Identifier: Apache-2.0
`include "gs_assert.svh"

/// Controller of an SDR SDRAM, at its clock: lines in the order of the requests, one burst or more for each.
///
///     requests ->[ queue of 2 ]-> commands -> registers -> pins      head: accesses; next: its row is opened meanwhile
///              ->[ data ]---------------------> registers -> pins
///     responses <-[ words ]<- registers <- pins     acknowledgements: once a line's data have arrived here
///
/// Rows stay open. A line is read when all its words have room, so responses may stall. Requests are served in order,
/// so a write is acknowledged when its last beat is accepted. Rows are folded into banks as in gs_mem_scheduler. A
/// precharge never cuts a burst. All outputs to the pins are registers, and `dq_i` goes to one.
module gs_sdram
  import gossamer_pkg::*;
#(
  /// bytes of a line; a multiple of a burst
  parameter int unsigned LineBytes  = 32,
  /// bytes of a beat, and of the SDRAM's bus
  parameter int unsigned PortBytes  = DramPortBytes,
  parameter int unsigned Bytes      = DramBytes,
  parameter int unsigned Banks      = DramBanks,
  parameter int unsigned RowBytes   = DramRowBytes,
  /// consecutive addresses in a bank [bytes]
  parameter int unsigned BankBytes  = RowBytes,
  /// words of a burst: 1, 2, 4 or 8
  parameter int unsigned Burst      = DramBurstLength,
  /// timing in cycles, as in [memory.dram]
  parameter int unsigned Cl         = DramCl,
  parameter int unsigned Rcd        = DramRcd,
  parameter int unsigned Rp         = DramRp,
  parameter int unsigned Ras        = DramRas,
  parameter int unsigned Rrd        = DramRrd,
  parameter int unsigned Faw        = DramFaw,
  parameter int unsigned Wr         = DramWr,
  parameter int unsigned Wtr        = DramWtr,
  parameter int unsigned Rfc        = DramRfc,
  parameter int unsigned Refi       = DramRefi,
  /// cycles from reset to the first command: 200 us
  parameter int unsigned PowerUp    = 200 * DramClockMhz,
  /// cycles of the board's wires and of the SDRAM's clock, from the output register to the input register, without Cl
  parameter int unsigned Flight     = 1,
  /// payloads: GS_MEM_TYPES(PortBytes, any, any)
  parameter type         mem_req_t  = logic,
  parameter type         mem_rsp_t  = logic,
  /// not to be set
  localparam int unsigned BankW     = $clog2(Banks),
  localparam int unsigned RowW      = $clog2(Bytes / Banks / RowBytes),
  localparam int unsigned ColumnW   = $clog2(RowBytes / PortBytes),
  localparam int unsigned AddressW  = (RowW > 11) ? RowW : 11
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   req_valid_i,
  output logic                   req_ready_o,
  input  mem_req_t               req_i,
  /// bytes of a beat to be written
  input  logic [PortBytes-1:0]   req_strb_i,
  output logic                   rsp_valid_o,
  input  logic                   rsp_ready_i,
  output mem_rsp_t               rsp_o,
  // SDRAM: chip select, clock enable and the clock are the top's
  output logic                   ras_no,
  output logic                   cas_no,
  output logic                   we_no,
  output logic [BankW-1:0]       ba_o,
  output logic [AddressW-1:0]    a_o,
  output logic [PortBytes-1:0]   dqm_o,
  output logic [8*PortBytes-1:0] dq_o,
  /// the controller drives the data bus
  output logic                   dq_oe_o,
  input  logic [8*PortBytes-1:0] dq_i
);
  localparam int unsigned Words = LineBytes / PortBytes;
  localparam int unsigned Bursts = Words / Burst;
  localparam int unsigned WordW = $clog2(Words);
  /// lines that wait with their data, and lines of words that are read ahead
  localparam int unsigned Ahead = 4;
  localparam int unsigned CountW = $clog2(Refi + PowerUp + 1);
  localparam int unsigned TimerW = 6;

  if (Words < 2 || Words % Burst != 0 || (Burst & (Burst - 1)) != 0 || Burst > 8) begin : gen_illegal_burst
    $fatal(1, "gs_sdram: lines of %0d bytes in bursts of %0d words of %0d bytes", LineBytes, Burst, PortBytes);
  end
  if (Faw > 4 * Rrd || Cl < 2 || Cl > 3) begin : gen_illegal_timing
    $fatal(1, "gs_sdram: Faw is %0d, above four times Rrd (%0d), or Cl is %0d, not 2 or 3", Faw, Rrd, Cl);
  end
  if (BankBytes < LineBytes || BankBytes > RowBytes || ColumnW > 10) begin : gen_illegal_row
    $fatal(1, "gs_sdram: BankBytes is %0d, not from %0d to %0d, or a row has over 1,024 words", BankBytes, LineBytes,
           RowBytes);
  end

  typedef logic [TimerW-1:0] timer_t;
  typedef logic [$bits(rsp_o.id)-1:0] id_t;
  typedef struct packed {
    logic             write;
    id_t              id;
    logic [BankW-1:0] bank;
    logic [RowW-1:0]  row;
    logic [ColumnW-1:0] column;
  } place_t;
  /// ras, cas, we as at the pins
  typedef enum logic [2:0] {
    Mode      = 3'b000,
    Refresh   = 3'b001,
    Precharge = 3'b010,
    Activate  = 3'b011,
    Write     = 3'b100,
    Read      = 3'b101,
    Nop       = 3'b111
  } command_e;

  // From high to low: row, upper part of the column, bank, lower part of the column.
  function automatic place_t place_of(logic write, id_t id, logic [31:0] at);
    logic [RowW-1:0]    fold;
    logic [ColumnW-1:0] column;
    logic [31:0]        rest, address;
    place_t             place;
    address      = at & 32'(Bytes - 1);
    rest         = address / BankBytes;
    place.write  = write;
    place.id     = id;
    place.bank   = BankW'(rest);
    rest         = rest >> BankW;
    place.row    = RowW'(rest / (RowBytes / BankBytes));
    column       = ColumnW'((rest % (RowBytes / BankBytes)) * (BankBytes / PortBytes));
    place.column = column | ColumnW'((address % BankBytes) / PortBytes);
    fold         = place.row;
    for (int unsigned part = 0; part < RowW; part += BankW) begin
      place.bank ^= BankW'(fold);
      fold = fold >> BankW;
    end
    return place;
  endfunction

  // --------------------------------------------------------------- requests
  // The head is served; the row of the next one is opened meanwhile.
  place_t arrived, head_q, next_q;
  logic head_valid_q, next_valid_q, takes, arrives, done, acks_ready, places_ready, places_valid, places_take;
  place_t waiting;
  assign arrived = place_of(req_i.write, req_i.id, 32'(req_i.addr));
  assign takes   = req_valid_i && req_ready_o;
  assign arrives = takes && req_i.last;
  gs_fifo #(.data_t(place_t), .Depth(Ahead)) u_places (
    .clk_i,
    .rst_ni,
    .in_valid_i (arrives),
    .in_ready_o (places_ready),
    .in_data_i  (arrived),
    .out_valid_o(places_valid),
    .out_ready_i(places_take),
    .out_data_o (waiting),
    .count_o    ()
  );

  // Words to be written; a line's words arrive before its request does.
  logic data_ready, data_valid, data_take;
  logic [8*PortBytes-1:0] data;
  logic [PortBytes-1:0] strb;
  gs_fifo #(.data_t(logic [9*PortBytes-1:0]), .Depth(Ahead * Words)) u_data (
    .clk_i,
    .rst_ni,
    .in_valid_i (takes && req_i.write),
    .in_ready_o (data_ready),
    .in_data_i  ({req_strb_i, req_i.data}),
    .out_valid_o(data_valid),
    .out_ready_i(data_take),
    .out_data_o ({strb, data}),
    .count_o    ()
  );
  assign req_ready_o = places_ready && data_ready && acks_ready;

  assign places_take = !next_valid_q || done;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      head_valid_q <= 1'b0;
      next_valid_q <= 1'b0;
    end else begin
      if (done || !head_valid_q) head_valid_q <= next_valid_q;
      if (places_take || !head_valid_q) next_valid_q <= places_valid && places_take;
    end
    if (done || !head_valid_q) head_q <= next_q;
    if (places_take) next_q <= waiting;
  end

  // ----------------------------------------------------------------- timing
  // Counters of cycles that must pass before a command: zero allows it.
  timer_t [Banks-1:0] activate_q, access_q, precharge_q;
  timer_t read_q, write_q, any_activate_q;
  logic [Banks-1:0] open_q;
  logic [Banks-1:0][RowW-1:0] row_q;
  logic [CountW-1:0] count_q;
  logic due_q;
  function automatic timer_t passed(timer_t timer);
    return (timer == '0) ? '0 : timer - timer_t'(1);
  endfunction
  function automatic timer_t later(timer_t timer, int unsigned cycles);
    return (32'(timer) > cycles) ? timer - timer_t'(1) : timer_t'(cycles - 1);
  endfunction

  // ---------------------------------------------------------------- commands
  typedef enum logic [2:0] {Power, Close, First, Second, Set, Serve} step_e;
  step_e step_q;
  command_e command;
  logic [BankW-1:0] bank;
  logic [AddressW-1:0] address;
  logic head_open, head_row, next_row, room, accesses, prepares, last_burst;
  logic [$clog2(Bursts+1)-1:0] burst_q;
  logic [BankW-1:0] prepared;
  logic [RowW-1:0] row;
  assign head_open = open_q[head_q.bank];
  assign head_row  = head_open && row_q[head_q.bank] == head_q.row;
  assign next_row  = open_q[next_q.bank] && row_q[next_q.bank] == next_q.row;
  // A refresh waits for the bursts of a line, and no row is opened before it.
  assign accesses = step_q == Serve && head_valid_q && head_row && (!due_q || burst_q != '0)
                    && access_q[head_q.bank] == '0 && (head_q.write ? write_q == '0 : read_q == '0 && room);
  assign last_burst = 32'(burst_q) == Bursts - 1;
  assign done       = accesses && last_burst;
  // The head's bank first; the next request's only if it is another one.
  assign prepares = step_q == Serve && !due_q && !accesses;
  always_comb begin
    prepared = head_row ? next_q.bank : head_q.bank;
    row      = head_row ? next_q.row : head_q.row;
    command  = Nop;
    bank     = prepared;
    address  = AddressW'(row);
    if (accesses) begin
      command = head_q.write ? Write : Read;
      bank    = head_q.bank;
      // Address bit 10 would close the row after the burst.
      address = AddressW'(head_q.column) + AddressW'(32'(burst_q) * Burst);
    end else if (prepares && (head_row ? next_valid_q && !next_row && next_q.bank != head_q.bank : head_valid_q)) begin
      if (open_q[prepared]) begin
        if (precharge_q[prepared] == '0) command = Precharge;
        address = '0;
      end else if (activate_q[prepared] == '0 && any_activate_q == '0) begin
        command = Activate;
      end
    end else if (step_q == Serve && due_q && burst_q == '0) begin
      // All banks at once, after the last of their bursts; then the refresh.
      if (open_q != '0) begin
        if (precharge_q == '0) command = Precharge;
        address = AddressW'(1) << 10;
      end else if (activate_q == '0) begin
        command = Refresh;
      end
    end else if (step_q != Serve && count_q == '0) begin
      unique case (step_q)
        Close: {command, address} = {Precharge, AddressW'(1) << 10};
        First, Second: command = Refresh;
        // Bursts in sequence, read and written alike
        Set: {command, bank, address} = {Mode, BankW'(0), AddressW'((Cl << 4) | $clog2(Burst))};
        default: ;
      endcase
    end
  end

  localparam int unsigned ReadToWrite = Cl + Burst + 1;
  localparam int unsigned WriteToRead = Burst + Wtr;
  localparam int unsigned WriteToCharge = Burst + Wr;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q         <= Power;
      count_q        <= CountW'(PowerUp);
      due_q          <= 1'b0;
      open_q         <= '0;
      activate_q     <= '0;
      access_q       <= '0;
      precharge_q    <= '0;
      read_q         <= '0;
      write_q        <= '0;
      any_activate_q <= '0;
      burst_q        <= '0;
    end else begin
      count_q <= (count_q == '0) ? '0 : count_q - CountW'(1);
      if (step_q != Serve) begin
        if (count_q == '0) begin
          unique case (step_q)
            Power: step_q <= Close;
            Close: {step_q, count_q} <= {First, CountW'(Rp)};
            First: {step_q, count_q} <= {Second, CountW'(Rfc)};
            Second: {step_q, count_q} <= {Set, CountW'(Rfc)};
            default: {step_q, count_q} <= {Serve, CountW'(Refi)};
          endcase
        end
      end else if (count_q == '0) begin
        count_q <= CountW'(Refi - 1);
        due_q   <= 1'b1;
      end
      for (int unsigned b = 0; b < Banks; b++) begin
        activate_q[b]  <= passed(activate_q[b]);
        access_q[b]    <= passed(access_q[b]);
        precharge_q[b] <= passed(precharge_q[b]);
      end
      read_q         <= passed(read_q);
      write_q        <= passed(write_q);
      any_activate_q <= passed(any_activate_q);
      unique case (command)
        Activate: begin
          open_q[bank]      <= 1'b1;
          access_q[bank]    <= timer_t'(Rcd - 1);
          precharge_q[bank] <= timer_t'(Ras - 1);
          activate_q[bank]  <= timer_t'(Ras + Rp - 1);
          any_activate_q    <= timer_t'(Rrd - 1);
        end
        Read, Write: begin
          burst_q <= last_burst ? '0 : burst_q + ($bits(burst_q))'(1);
          read_q  <= timer_t'(((command == Read) ? Burst : WriteToRead) - 1);
          write_q <= timer_t'(((command == Read) ? ReadToWrite : Burst) - 1);
          precharge_q[bank] <= later(precharge_q[bank], (command == Read) ? Burst : WriteToCharge);
        end
        Precharge: if (step_q == Serve) begin
          if (address[10]) begin
            open_q <= '0;
            for (int unsigned b = 0; b < Banks; b++) activate_q[b] <= later(activate_q[b], Rp);
          end else begin
            open_q[bank]     <= 1'b0;
            activate_q[bank] <= later(activate_q[bank], Rp);
          end
        end
        Refresh: if (step_q == Serve) begin
          due_q  <= 1'b0;
          for (int unsigned b = 0; b < Banks; b++) activate_q[b] <= timer_t'(Rfc - 1);
        end
        Mode: activate_q <= {Banks{timer_t'(1)}};
        default: ;
      endcase
    end
    if (command == Activate) row_q[bank] <= row;
  end

  // ------------------------------------------------------------------- pins
  // Words of a burst to be written: the first with its command.
  logic [3:0] left_q;
  assign data_take = (accesses && head_q.write) || left_q != '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {ras_no, cas_no, we_no} <= Nop;
      left_q                  <= '0;
      dq_oe_o                 <= 1'b0;
      dqm_o                   <= '1;
    end else begin
      {ras_no, cas_no, we_no} <= command;
      if (accesses && head_q.write) left_q <= 4'(Burst - 1);
      else if (left_q != '0) left_q <= left_q - 4'd1;
      dq_oe_o <= data_take;
      // Reads need all bytes: their masks take effect two cycles later.
      dqm_o <= (step_q != Serve) ? '1 : data_take ? ~strb : '0;
    end
    ba_o <= bank;
    a_o  <= address;
    dq_o <= data;
  end

  // -------------------------------------------------------------- responses
  // A word arrives `Delay` cycles after the cycle in which its command was decided.
  localparam int unsigned Delay = Cl + Flight + 1;
  logic [3:0] reading_q;
  logic [Delay-1:0] arriving_q;
  logic [8*PortBytes-1:0] sampled_q;
  logic [$clog2(Ahead*Words+1)-1:0] reserved_q;
  logic words_valid, words_take, ids_valid, acks_valid, acks_take, ids_take, unused_words, unused_ids;
  logic [8*PortBytes-1:0] word;
  logic [WordW-1:0] word_q;
  id_t read_id, ack_id;
  // Words that were requested, until they leave
  assign room = 32'(reserved_q) <= (Ahead - 1) * Words || burst_q != '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      reading_q  <= '0;
      arriving_q <= '0;
      reserved_q <= '0;
    end else begin
      if (accesses && !head_q.write) reading_q <= 4'(Burst - 1);
      else if (reading_q != '0) reading_q <= reading_q - 4'd1;
      arriving_q <= {arriving_q[Delay-2:0], (accesses && !head_q.write) || reading_q != '0};
      reserved_q <= reserved_q + ((accesses && !head_q.write) ? ($bits(reserved_q))'(Burst) : '0)
                    - ($bits(reserved_q))'(words_valid && words_take);
    end
    sampled_q <= dq_i;
  end
  gs_fifo #(.data_t(logic [8*PortBytes-1:0]), .Depth(Ahead * Words)) u_words (
    .clk_i,
    .rst_ni,
    .in_valid_i (arriving_q[Delay-1]),
    .in_ready_o (unused_words),
    .in_data_i  (sampled_q),
    .out_valid_o(words_valid),
    .out_ready_i(words_take),
    .out_data_o (word),
    .count_o    ()
  );
  gs_fifo #(.data_t(id_t), .Depth(Ahead + 1)) u_ids (
    .clk_i,
    .rst_ni,
    .in_valid_i (done && !head_q.write),
    .in_ready_o (unused_ids),
    .in_data_i  (head_q.id),
    .out_valid_o(ids_valid),
    .out_ready_i(ids_take),
    .out_data_o (read_id),
    .count_o    ()
  );
  gs_fifo #(.data_t(id_t), .Depth(Ahead)) u_acks (
    .clk_i,
    .rst_ni,
    .in_valid_i (arrives && req_i.write),
    .in_ready_o (acks_ready),
    .in_data_i  (req_i.id),
    .out_valid_o(acks_valid),
    .out_ready_i(acks_take),
    .out_data_o (ack_id),
    .count_o    ()
  );

  // An acknowledgement goes between the lines that are read; a response that waits stays.
  logic acks, acks_q, waits_q, moves;
  logic last;
  assign acks = waits_q ? acks_q : acks_valid && word_q == '0;
  assign last = acks || word_q == WordW'(Words - 1);
  assign rsp_valid_o = acks || (words_valid && ids_valid);
  assign rsp_o       = '{ack: acks, last: last, id: acks ? ack_id : read_id, data: acks ? '0 : word};
  assign moves       = rsp_valid_o && rsp_ready_i;
  assign acks_take   = moves && acks;
  assign words_take  = ids_valid && rsp_ready_i && !acks;
  assign ids_take    = moves && !acks && last;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      word_q  <= '0;
      waits_q <= 1'b0;
    end else begin
      if (moves && !acks) word_q <= word_q + WordW'(1);
      waits_q <= rsp_valid_o && !rsp_ready_i;
    end
    acks_q <= acks;
  end

  logic unused;
  assign unused = ^{req_i, unused_words, unused_ids, data_valid};

  `GS_ASSERT_HOLD(a_response_waits_unchanged, rsp_valid_o, rsp_ready_i, rsp_o)
  `GS_ASSERT_NOW(a_word_to_be_written_has_arrived, !data_take || data_valid)
  `GS_ASSERT_NOW(a_word_that_was_read_has_room, !arriving_q[Delay-1] || unused_words)
  `GS_ASSERT_NOW(a_line_that_was_read_has_room_for_its_id, !(done && !head_q.write) || unused_ids)
endmodule
