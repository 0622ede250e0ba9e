// SPDX-License-Identifier: Apache-2.0

/// A barrel core that runs one loop: every thread increments the words of its own array repeatedly.
///
///     loop:  lw   t0, 0(a0)      waits for the response
///            addi t0, t0, 1
///            sw   t0, 0(a0)      waits for the response
///            addi a0, a0, 4
///            bne  a0, a1, loop
///
/// At most one instruction is issued a cycle, and a thread has one in the pipeline. After its passes over the
/// array a thread flushes its cache partition and is done. For simulation only: its requests are those of a core.
module gs_mem_bench_core
  import gs_cache_pkg::CacheLoad, gs_cache_pkg::CacheStore, gs_cache_pkg::CacheFlushAll;
#(
  /// threads of this core; number of the first in its cache, and at its memory port
  parameter int unsigned Threads     = 16,
  parameter int unsigned FirstLocal  = 0,
  parameter int unsigned FirstGlobal = 0,
  /// threads of the memory port
  parameter int unsigned AllThreads  = 512,
  /// stages of the pipeline
  parameter int unsigned Stages      = 8,
  /// line [bytes], lines of an array
  parameter int unsigned LineBytes   = 64,
  parameter int unsigned Lines       = 64,
  /// memory of the arrays: 0 DRAM, interleaved by line from Base on; 1 SRAM, one array after the other
  parameter bit          Space       = 1'b0,
  parameter logic [31:0] Base        = 32'h8000_0000,
  /// payloads: GS_CACHE_TYPES
  parameter type         cache_req_t = logic,
  parameter type         cache_rsp_t = logic
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  /// passes over an array
  input  int unsigned passes_i,
  output logic       req_valid_o,
  input  logic       req_ready_i,
  output cache_req_t req_o,
  // a response to one of this core's threads
  input  logic       rsp_valid_i,
  input  cache_rsp_t rsp_i,
  output logic       issue_o,
  output logic       done_o
);
  localparam int unsigned TidW = (Threads > 1) ? $clog2(Threads) : 1;
  localparam int unsigned Words = Lines * LineBytes / 4;
  typedef logic [TidW-1:0] tid_t;

  // Step of the loop: 0 load, 1 add, 2 store, 3 add, 4 branch, 5 flush, 6 done.
  logic [Threads-1:0][2:0]  step_q;
  logic [Threads-1:0][31:0] word_q, pass_q, value_q;
  // Instructions in the pipeline, by the cycles until they leave it.
  logic [Stages-1:0]            pipe_valid_q;
  logic [Stages-1:0][TidW-1:0]  pipe_tid_q;
  logic run_valid, run_push, run_ready, x_ready, memory;
  tid_t run_tid, run_push_tid;
  logic resume_valid, resume_take, resume_ready;
  tid_t resume_tid;
  logic [Threads-1:0] start_q, done_q;
  cache_req_t x_req;
  logic [31:0] addr, line, offset;
  logic [$clog2(Threads+1)-1:0] unused_run, unused_resume, unused_x;

  // Run queue: threads at the start, then those that leave the pipeline, then those that got a response.
  always_comb begin
    run_push     = 1'b0;
    run_push_tid = '0;
    resume_take  = 1'b0;
    if (start_q != '0) begin
      run_push = 1'b1;
      for (int unsigned t = 0; t < Threads; t++) if (start_q[t]) run_push_tid = tid_t'(t);
    end else if (pipe_valid_q[0]) begin
      run_push     = 1'b1;
      run_push_tid = pipe_tid_q[0];
    end else if (resume_valid) begin
      run_push     = 1'b1;
      run_push_tid = resume_tid;
      resume_take  = 1'b1;
    end
  end

  gs_fifo #(.data_t(tid_t), .Depth(Threads)) u_run (
    .clk_i, .rst_ni,
    .in_valid_i (run_push), .in_ready_o (run_ready), .in_data_i (run_push_tid),
    .out_valid_o(run_valid), .out_ready_i(1'b1), .out_data_o(run_tid), .count_o(unused_run)
  );
  gs_fifo #(.data_t(tid_t), .Depth(Threads)) u_resume (
    .clk_i, .rst_ni,
    .in_valid_i (rsp_valid_i), .in_ready_o (resume_ready), .in_data_i (tid_t'(rsp_i.thread)),
    .out_valid_o(resume_valid), .out_ready_i(resume_take), .out_data_o(resume_tid), .count_o(unused_resume)
  );

  assign memory  = step_q[run_tid] == 3'd0 || step_q[run_tid] == 3'd2 || step_q[run_tid] == 3'd5;
  assign issue_o = run_valid && step_q[run_tid] < 3'd5;
  assign line    = word_q[run_tid] * 4 / LineBytes;
  assign offset  = word_q[run_tid] * 4 % LineBytes;
  assign addr    = Space ? Base + (FirstGlobal + 32'(run_tid)) * (Words * 4) + word_q[run_tid] * 4
                         : Base + (line * AllThreads + FirstGlobal + 32'(run_tid)) * LineBytes + offset;

  always_comb begin
    x_req        = '0;
    x_req.op     = CacheLoad;
    x_req.funct3 = 3'b010;
    x_req.thread = ($bits(x_req.thread))'(FirstLocal + 32'(run_tid));
    x_req.space  = Space;
    x_req.addr   = addr;
    x_req.data   = value_q[run_tid];
    if (step_q[run_tid] == 3'd2) x_req.op = CacheStore;
    if (step_q[run_tid] == 3'd5) x_req.op = CacheFlushAll;
  end

  // A memory instruction passes half of the pipeline's stages before its request is sent.
  localparam int unsigned Delay = Stages / 2;
  logic       [Delay-1:0] delay_valid_q;
  cache_req_t [Delay-1:0] delay_q;

  gs_fifo #(.data_t(cache_req_t), .Depth(Threads)) u_x (
    .clk_i, .rst_ni,
    .in_valid_i (delay_valid_q[0]), .in_ready_o (x_ready), .in_data_i (delay_q[0]),
    .out_valid_o(req_valid_o), .out_ready_i(req_ready_i), .out_data_o(req_o), .count_o(unused_x)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q        <= '0;
      word_q        <= '0;
      pass_q        <= '0;
      start_q       <= '1;
      done_q        <= '0;
      pipe_valid_q  <= '0;
      delay_valid_q <= '0;
    end else begin
      if (start_q != '0) start_q[run_push_tid] <= 1'b0;
      pipe_valid_q  <= {run_valid && !memory && step_q[run_tid] != 3'd6, pipe_valid_q[Stages-1:1]};
      delay_valid_q <= {run_valid && memory, delay_valid_q[Delay-1:1]};
      if (run_valid) begin
        step_q[run_tid] <= step_q[run_tid] + 3'd1;
        if (step_q[run_tid] == 3'd3) word_q[run_tid] <= word_q[run_tid] + 1;
        if (step_q[run_tid] == 3'd4) begin
          step_q[run_tid] <= 3'd0;
          if (word_q[run_tid] == Words) begin
            word_q[run_tid] <= '0;
            pass_q[run_tid] <= pass_q[run_tid] + 1;
            if (pass_q[run_tid] == passes_i - 1) step_q[run_tid] <= 3'd5;
          end
        end
        if (step_q[run_tid] == 3'd6) done_q[run_tid] <= 1'b1;
      end
    end
    pipe_tid_q <= {run_tid, pipe_tid_q[Stages-1:1]};
    delay_q    <= {x_req, delay_q[Delay-1:1]};
    if (run_valid && step_q[run_tid] == 3'd1) value_q[run_tid] <= value_q[run_tid] + 1;
    if (rsp_valid_i && step_q[tid_t'(rsp_i.thread)] == 3'd1) value_q[tid_t'(rsp_i.thread)] <= rsp_i.data;
  end

  assign done_o = done_q == '1;

  always_ff @(posedge clk_i) begin
    if (rst_ni && ((run_push && !run_ready) || (rsp_valid_i && !resume_ready) || (delay_valid_q[0] && !x_ready))) begin
      $fatal(1, "%m: a queue is too short");
    end
  end
endmodule
