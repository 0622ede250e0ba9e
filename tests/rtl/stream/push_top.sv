// SPDX-License-Identifier: Apache-2.0

/// The sending half of a port, for the test of its message counter: one-element messages of a collective.
module push_top
  import gossamer_pkg::*;
  import gs_stream_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        bind_i,
  // The collective of the rank, and its message
  input  logic [15:0] number_i,
  /// its part of the rank: it sends here, or receives
  input  logic        sends_i,
  input  logic        open_i,
  output logic        open_ready_o,
  output logic        put_o,
  // Credits; the other end reports that it waits for its message of a collective
  input  logic [15:0] credits_i,
  input  logic        want_i,
  input  logic [15:0] want_message_i,
  input  logic [15:0] want_number_i,
  output logic        report_o
);
  function automatic stream_tag_t tag(logic [15:0] number);
    return '{number: number, group: '0, kind: SmiCollectiveBcast, op: SmiOpAdd, root: '0};
  endfunction

  watch_t watch;
  stream_credit_t credit;
  stream_header_t header;
  flit_t unused_flit;
  stream_report_t unused_report;
  logic unused_dropped, unused_valid;
  assign watch = '{
    valid: 1'b1, sends: sends_i, recvs: !sends_i, own: 8'd0, element: SmiTypeInt, count: 32'd1, tag: tag(number_i)
  };
  assign header = '{source: 8'd1, element: SmiTypeInt, account: '0, port: '0, op: StreamOpCredit, valid: '0};
  assign credit = '{
    spare: '0, message: want_i ? want_message_i : '0, tag: want_i ? tag(want_number_i) : '0, flits: credits_i,
    header: header
  };

  gs_stream_send #(
    .Bytes (4),
    .Depth (8),
    .Packet(4)
  ) u_send (
    .clk_i,
    .rst_ni,
    .own_i           (32'd0),
    .job_i           (5'd0),
    .bind_valid_i    (bind_i),
    .bind_i          ('{eager: 1'b1, account: '0, dest: 32'd7, flits: 16'd64}),
    .open_valid_i    (open_i),
    .open_ready_o,
    .open_i          ('{rank: 8'd1, element: SmiTypeInt, own: 8'd0, dest: 32'd7, count: 32'd1}),
    .in_valid_i      (1'b1),
    .in_ready_o      (put_o),
    .in_data_i       (32'(number_i)),
    .watch_i         (watch),
    .credit_valid_i  (want_i || credits_i != '0),
    .credit_i        (credit),
    .credit_dropped_o(unused_dropped),
    .out_valid_o     (unused_valid),
    .out_ready_i     (1'b1),
    .out_o           (unused_flit),
    .report_valid_o  (report_o),
    .report_o        (unused_report)
  );
endmodule
