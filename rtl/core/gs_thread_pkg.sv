// SPDX-License-Identifier: Apache-2.0

/// The states of a core's threads, and the effect of each control operation in each state.
///
/// Every change of a state passes through the scheduler's one port, one operation at a time: only the scheduler decides
/// which operations are allowed.
package gs_thread_pkg;

  /// Operations of control on a thread.
  typedef enum logic [3:0] {
    ThreadClear        = 4'd0,  // set the state after reset
    ThreadEnd          = 4'd1,  // the thread requested its end: it gets no response
    ThreadTrap         = 4'd2,  // the thread's request trapped: it gets no response
    ThreadStart        = 4'd3,  // run from pc 0
    ThreadInject       = 4'd4,  // execute one instruction
    ThreadHalt         = 4'd5,  // park before the next instruction
    ThreadResume       = 4'd6,  // end a halt
    ThreadReportParked = 4'd7,  // allowed once after each halt, when the thread is parked
    ThreadCheckIdle    = 4'd8   // allowed while the thread has no instruction in flight; changes nothing
  } thread_op_e;

  /// Phase of a thread: stopped; active, that is in the run queue, in the pipeline, or suspended; parked.
  typedef enum logic [1:0] {
    PhaseStopped = 2'd0,
    PhaseActive  = 2'd1,
    PhaseParked  = 2'd2
  } thread_phase_e;

  typedef struct packed {
    thread_phase_e phase;
    logic          halted;         // parks before its next instruction
    logic          trapped;        // has trapped since its last start; parks after an injected instruction
    logic          park_reported;  // control knows that the thread is parked
  } thread_state_t;

  typedef struct packed {
    logic          allowed;
    logic          issues;  // the thread enters the pipeline
    thread_state_t state;
  } thread_step_t;

  /// The effect of an operation. An operation that is not allowed changes nothing.
  function automatic thread_step_t thread_step(input thread_op_e op, input thread_state_t state);
    thread_step_t step;
    step = '{allowed: 1'b1, issues: 1'b0, state: state};
    unique case (op)
      ThreadClear: step.state = '0;
      ThreadEnd: begin
        step.state.phase   = PhaseStopped;
        step.state.trapped = 1'b0;
      end
      ThreadTrap: begin
        step.state.phase   = PhaseStopped;
        step.state.trapped = 1'b1;
      end
      ThreadStart: begin
        // After an injected instruction a trapped thread is parked.
        step.allowed       = state.phase == PhaseStopped || (state.phase == PhaseParked && state.trapped);
        step.issues        = 1'b1;
        step.state.phase   = PhaseActive;
        step.state.trapped = 1'b0;
      end
      ThreadInject: begin
        step.allowed     = state.phase == PhaseParked || (state.phase == PhaseStopped && state.trapped);
        step.issues      = 1'b1;
        step.state.phase = PhaseActive;
      end
      ThreadHalt: begin
        step.state.halted        = 1'b1;
        step.state.park_reported = 1'b0;
      end
      ThreadResume: begin
        step.issues       = state.phase == PhaseParked && !state.trapped;
        step.state.halted = 1'b0;
        if (step.issues) step.state.phase = PhaseActive;
      end
      ThreadReportParked: begin
        step.allowed             = state.phase == PhaseParked && !state.trapped && !state.park_reported;
        step.state.park_reported = 1'b1;
      end
      ThreadCheckIdle: step.allowed = state.phase != PhaseActive;
      default: ;
    endcase
    if (!step.allowed) step = '{allowed: 1'b0, issues: 1'b0, state: state};
    return step;
  endfunction
endpackage
