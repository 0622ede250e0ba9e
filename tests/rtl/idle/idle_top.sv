// SPDX-License-Identifier: Apache-2.0

/// Boards with idle detection for the tests: the harness models endpoints, messages and control links.
module idle_top
  import gs_idle_pkg::*;
#(
  parameter int unsigned Boards    = 4,
  parameter int unsigned Endpoints = 3,
  parameter int unsigned Wires     = 0,
  localparam int unsigned All      = Boards * Endpoints
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [All-1:0]    member_i,
  input  logic [All-1:0]    idle_i,
  input  logic [All-1:0]    vote_i,
  input  logic [All-1:0]    started_i,
  input  logic [31:0]       sent_i[All],
  input  logic [31:0]       received_i[All],
  input  logic [5:0]        given_i[All],
  input  logic [All-1:0]    chunk_valid_i,
  input  logic [7:0]        chunk_i[All],
  output logic [All-1:0]    release_o,
  output logic [All-1:0]    agreed_o,
  output logic [All-1:0]    wave_o,
  output logic [All-1:0]    scan_o,
  output logic [3:0]        op_o[All],
  output logic [All-1:0]    chunk_valid_o,
  output logic [7:0]        chunk_o[All],
  input  logic [Boards-1:0] entry_valid_i,
  input  logic [1:0]        entry_epoch_i[Boards],
  input  logic [Boards-1:0] entry_wave_i,
  input  logic [Boards-1:0] hold_i,
  output logic [Boards-1:0] open_o,
  output logic [1:0]        host_epoch_o[Boards],
  output logic [Boards-1:0] host_wave_o,
  input  logic [Boards-1:0] in_valid_i,
  output logic [Boards-1:0] in_ready_o,
  input  logic [Boards-1:0] in_last_i,
  input  logic [127:0]      in_payload_i[Boards],
  output logic [Boards-1:0] out_valid_o,
  input  logic [Boards-1:0] out_ready_i,
  output logic [Boards-1:0] out_last_o,
  output logic [31:0]       out_dest_o[Boards],
  output logic [127:0]      out_payload_o[Boards]
);
  for (genvar b = 0; b < int'(Boards); b++) begin : gen_board
    idle_status_t [Endpoints-1:0] status_d, status[Wires+1];
    idle_command_t [Endpoints-1:0] command_d, command[Wires+1];
    gossamer_pkg::flit_t in, out;
    idle_entry_t entry;
    assign entry = '{valid: entry_valid_i[b], epoch: entry_epoch_i[b], wave: entry_wave_i[b]};

    for (genvar e = 0; e < int'(Endpoints); e++) begin : gen_endpoint
      localparam int unsigned I = b * Endpoints + e;
      assign status_d[e] = '{
          idle: idle_i[I], vote: vote_i[I], started: started_i[I], epoch: '0, sent: sent_i[I],
          received: received_i[I], given: given_i[I], chunk_valid: chunk_valid_i[I], chunk: chunk_i[I],
          drops: '0
        };
      assign release_o[I]     = command[Wires][e].release_all;
      assign agreed_o[I]      = command[Wires][e].agreed;
      assign wave_o[I]        = command[Wires][e].wave;
      assign scan_o[I]        = command[Wires][e].scan;
      assign op_o[I]          = command[Wires][e].op;
      assign chunk_valid_o[I] = command[Wires][e].chunk_valid;
      assign chunk_o[I]       = command[Wires][e].chunk;
    end

    // Wires between the board and its endpoints
    always_comb begin
      status[0]  = status_d;
      command[0] = command_d;
    end
    for (genvar w = 0; w < int'(Wires); w++) begin : gen_wire
      always_ff @(posedge clk_i) begin
        status[w+1]  <= rst_ni ? status[w] : '0;
        command[w+1] <= rst_ni ? command[w] : '0;
      end
    end

    assign in = '{
        kind: gossamer_pkg::FlitKindBody, last: in_last_i[b], vnet: gossamer_pkg::VnetControl,
        payload: in_payload_i[b], default: '0
      };
    assign out_last_o[b]    = out.last;
    assign out_dest_o[b]    = out.dest;
    assign out_payload_o[b] = out.payload;
    logic unused;
    assign unused = ^{out.kind, out.vnet, out.job, out.epoch, out.wave};

    gs_idle #(
      .Endpoints(Endpoints),
      .Wires    (Wires),
      .Entries  (1),
      .Children (8)
    ) u_idle (
      .clk_i,
      .rst_ni,
      .board_i    (12'(b)),
      .job_i      (5'd3),
      .member_i   (member_i[b*Endpoints+:Endpoints]),
      .status_i   (status[Wires]),
      .command_o  (command_d),
      .entry_i    (entry),
      .hold_i     (hold_i[b]),
      .open_o     (open_o[b]),
      .epoch_o    (host_epoch_o[b]),
      .wave_o     (host_wave_o[b]),
      .in_valid_i (in_valid_i[b]),
      .in_ready_o (in_ready_o[b]),
      .in_i       (in),
      .out_valid_o(out_valid_o[b]),
      .out_ready_i(out_ready_i[b]),
      .out_o      (out)
    );
  end
endmodule
