// SPDX-License-Identifier: Apache-2.0

/// The states of a core's threads, and what each control operation does in each state.
///
/// Every change of a state goes through the scheduler's one port, one operation after the other: what is allowed is
/// decided there alone.
package gs_thread_pkg;

  /// What control asks of a thread.
  typedef enum logic [3:0] {
    ThreadForget = 4'd0,  // to the state after reset
    ThreadEnd    = 4'd1,  // its request asked for its end: it gets no answer
    ThreadTrap   = 4'd2,  // its request trapped: it gets no answer
    ThreadStart  = 4'd3,  // run from pc 0
    ThreadInject = 4'd4,  // execute one instruction
    ThreadHalt   = 4'd5,  // park before the next instruction
    ThreadResume = 4'd6,  // halt no more
    ThreadTell   = 4'd7,  // allowed once after each halt, when the thread is parked
    ThreadRests  = 4'd8   // allowed while the thread has nothing under way: changes nothing
  } thread_op_e;

  /// Where a thread is: nowhere; in the run queue, the pipeline, or suspended; parked.
  typedef enum logic [1:0] {
    PlaceNone   = 2'd0,
    PlaceActive = 2'd1,
    PlaceParked = 2'd2
  } thread_place_e;

  typedef struct packed {
    thread_place_e place;
    logic          halted;   // parks before its next instruction
    logic          trapped;  // since its last start; what is injected parks afterwards
    logic          told;     // control has heard that it is parked
  } thread_state_t;

  typedef struct packed {
    logic          allowed;
    logic          issues;  // the thread enters the pipeline
    thread_state_t state;
  } thread_step_t;

  /// What an operation does. One that is not allowed changes nothing.
  function automatic thread_step_t thread_step(input thread_op_e op, input thread_state_t state);
    thread_step_t step;
    step = '{allowed: 1'b1, issues: 1'b0, state: state};
    unique case (op)
      ThreadForget: step.state = '0;
      ThreadEnd: begin
        step.state.place   = PlaceNone;
        step.state.trapped = 1'b0;
      end
      ThreadTrap: begin
        step.state.place   = PlaceNone;
        step.state.trapped = 1'b1;
      end
      ThreadStart: begin
        // After an injected instruction a trapped thread is parked.
        step.allowed       = state.place == PlaceNone || (state.place == PlaceParked && state.trapped);
        step.issues        = 1'b1;
        step.state.place   = PlaceActive;
        step.state.trapped = 1'b0;
      end
      ThreadInject: begin
        step.allowed     = state.place == PlaceParked || (state.place == PlaceNone && state.trapped);
        step.issues      = 1'b1;
        step.state.place = PlaceActive;
      end
      ThreadHalt: begin
        step.state.halted = 1'b1;
        step.state.told   = 1'b0;
      end
      ThreadResume: begin
        step.issues       = state.place == PlaceParked && !state.trapped;
        step.state.halted = 1'b0;
        if (step.issues) step.state.place = PlaceActive;
      end
      ThreadTell: begin
        step.allowed    = state.place == PlaceParked && !state.trapped && !state.told;
        step.state.told = 1'b1;
      end
      ThreadRests: step.allowed = state.place != PlaceActive;
      default: ;
    endcase
    if (!step.allowed) step = '{allowed: 1'b0, issues: 1'b0, state: state};
    return step;
  endfunction
endpackage
