// SPDX-License-Identifier: Apache-2.0
/// A Verilator model with its own context, and the evaluation of several models of a kind.
#pragma once

#include <string>

#include <verilated.h>
#if VM_TRACE
#include <verilated_fst_c.h>
#endif

namespace gossamer::sim {

/// Evaluates each of the models; if `inputs` is false, only the clock has changed.
template <typename Model>
void evaluate_together(Model* const* models, unsigned count, [[maybe_unused]] bool inputs) {
#ifdef GS_TOGETHER
  gs_eval_together(models, count, inputs);  // defined next to the model's code
#else
  for (unsigned i = 0; i < count; ++i) models[i]->eval();
#endif
}

  /// A model and its context, which threads do not share.
  template <typename Model>
  struct Instance {
    VerilatedContext context;
    struct Arguments {
      Arguments(VerilatedContext& context, int argc, char** argv) {
        context.randReset(0);
        context.commandArgs(argc, argv);
#if VM_TRACE
        context.traceEverOn(true);
#endif
      }
    } arguments;
    Model model;

    Instance(int argc, char** argv, const std::string& name)
        : arguments(context, argc, argv), model(&context, name.c_str()) {
      model.clk_i = 0;
      model.rst_ni = 0;
    }
    /// The destructor of a model uses the thread's current context.
    ~Instance() { Verilated::threadContextp(&context); }
  };

}  // namespace gossamer::sim
