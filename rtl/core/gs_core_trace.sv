// SPDX-License-Identifier: Apache-2.0

/// A core's state for simulation harnesses: the activity of each thread and its finished instructions. Not synthesized.
///
/// A thread's instruction appears in `sim_retire` once; its register write appears in `sim_write` in the same cycle or
/// later.
module gs_core_trace
  import gs_core_pkg::*;
#(
  /// threads of the core
  parameter  int unsigned ThreadsPerCore = 16,
  localparam int unsigned TidW           = $clog2(ThreadsPerCore)
) (
  input logic                      clk_i,
  input logic                      rst_ni,
  // An instruction has been fetched.
  input logic                      issue_i,
  input logic [TidW-1:0]           tid_i,
  input logic [31:0]               pc_i,
  input logic [31:0]               instr_i,
  // A thread parks.
  input logic                      park_i,
  input logic [TidW-1:0]           park_tid_i,
  // The instruction is finished, or waits for its response; the response has arrived.
  input logic                      retire_i,
  input logic [TidW-1:0]           done_tid_i,
  input logic                      back_i,
  input logic [TidW-1:0]           back_tid_i,
  // Requests
  input logic                      x_i,
  input logic [TidW-1:0]           x_tid_i,
  input x_req_t                    x_req_i,
  input logic                      f_i,
  input logic                      div_i,
  // The divide will issue again; its first write is not its result.
  input logic                      again_i,
  input logic [TidW-1:0]           f_tid_i,
  // Register write
  input logic                      write_i,
  input logic [TidW-1:0]           write_tid_i,
  input logic [5:0]                write_reg_i,
  input logic [31:0]               write_data_i
);
  typedef enum logic [7:0] {
    DoesNothing = 8'd0,
    Runs        = 8'd1,
    WaitsTile   = 8'd2,
    WaitsFloat  = 8'd3,
    WaitsDivide = 8'd4,
    Parked      = 8'd5
  } doing_e;

  // For each thread: its activity, pc and word of the instruction that it issued last, its last request.
  logic [7:0]  sim_state[ThreadsPerCore]  /*verilator public_flat_rd*/;
  logic [31:0] sim_pc[ThreadsPerCore]  /*verilator public_flat_rd*/;
  logic [31:0] sim_instr[ThreadsPerCore]  /*verilator public_flat_rd*/;
  logic [7:0]  sim_xop[ThreadsPerCore]  /*verilator public_flat_rd*/;
  logic [31:0] sim_xaddr[ThreadsPerCore]  /*verilator public_flat_rd*/;
  logic [31:0] sim_xdata[ThreadsPerCore]  /*verilator public_flat_rd*/;
  // Instructions issued since reset
  logic [63:0] sim_issued  /*verilator public_flat_rd*/;
  // This cycle's issue, finished instruction and register write
  logic        sim_issue  /*verilator public_flat_rd*/;
  logic [7:0]  sim_issue_tid  /*verilator public_flat_rd*/;
  logic        sim_retire  /*verilator public_flat_rd*/;
  logic [7:0]  sim_retire_tid  /*verilator public_flat_rd*/;
  logic        sim_write  /*verilator public_flat_rd*/;
  logic [7:0]  sim_write_tid  /*verilator public_flat_rd*/;
  logic [7:0]  sim_write_reg  /*verilator public_flat_rd*/;
  logic [31:0] sim_write_data  /*verilator public_flat_rd*/;
  logic [ThreadsPerCore-1:0] half_q;

  // Only harnesses read these variables: blocking assignments are less work for the simulator.
  always @(posedge clk_i) begin
    sim_issue  = issue_i;
    sim_retire = retire_i;
    sim_write  = write_i && !half_q[write_tid_i];
    if (retire_i) sim_retire_tid = 8'(done_tid_i);
    if (write_i) begin
      sim_write_tid  = 8'(write_tid_i);
      sim_write_reg  = 8'(write_reg_i);
      sim_write_data = write_data_i;
    end
    if (issue_i) begin
      sim_issue_tid    = 8'(tid_i);
      sim_state[tid_i] = Runs;
      sim_pc[tid_i]    = pc_i;
      sim_instr[tid_i] = instr_i;
    end
    if (park_i) sim_state[park_tid_i] = Parked;
    if (write_i) half_q[write_tid_i] = 1'b0;
    if (f_i && again_i) half_q[f_tid_i] = 1'b1;
    if (back_i) sim_state[back_tid_i] = Runs;
    if (f_i) sim_state[f_tid_i] = div_i ? WaitsDivide : WaitsFloat;
    if (x_i) begin
      sim_state[x_tid_i] = WaitsTile;
      sim_xop[x_tid_i]   = 8'(x_req_i.op);
      sim_xaddr[x_tid_i] = x_req_i.addr;
      sim_xdata[x_tid_i] = x_req_i.data;
    end
    if (!rst_ni) begin
      sim_issued = '0;
      sim_issue  = 1'b0;
      sim_retire = 1'b0;
      sim_write  = 1'b0;
      half_q     = '0;
      for (int unsigned i = 0; i < ThreadsPerCore; i++) sim_state[i] = DoesNothing;
    end else if (issue_i) begin
      sim_issued = sim_issued + 64'd1;
    end
  end

  // Most harnesses read only some of these variables.
  logic unused_seen;
  assign unused_seen = ^{sim_issue, sim_issue_tid, sim_retire, sim_retire_tid, sim_write, sim_write_tid, sim_write_reg,
                         sim_write_data};
  logic unused_funct3;
  assign unused_funct3 = ^x_req_i;
endmodule
