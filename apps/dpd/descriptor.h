// SPDX-License-Identifier: Apache-2.0
/// The host's part of dissipative particle dynamics: parameters, initial particles, results.
#pragma once

#include <gossamer/app.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace dpd {

struct App : gossamer::Application<Chosen> {
  using State = Chosen::State;
  static constexpr bool inStep = std::is_same_v<Chosen, dpd::Vertex>;
  static constexpr const char* name = inStep ? "dpd" : "dpd-gals";
  static constexpr const char* summary =
      inStep ? "dissipative particle dynamics: soft particles in a periodic box"
             : "dpd, where cells synchronise by counting messages instead of by barriers";
  static constexpr bool parallelInit = true;

  uint32_t sides[3] = {0, 0, 0};
  uint32_t steps = 100;
  double density = 3;
  double repulsion = 25;
  double friction = 4.5;
  double temperature = 1;
  double dt = 0.02;
  uint32_t seed = 1;

  void parameters(gossamer::Parameters& p) {
    p.integer("width", sides[0], 0, 1023, "cells of the box along x; 0 for all three sides: a cube");
    p.integer("height", sides[1], 0, 1023, "along y");
    p.integer("depth", sides[2], 0, 1023, "along z");
    p.integer("steps", steps, 0, 1000000000, "time steps");
    p.real("density", density, 0, 8, "particles per cell");
    p.real("repulsion", repulsion, 0, 1000, "maximum conservative force of a pair");
    p.real("friction", friction, 0, 100, "maximum dissipative force of a pair, per unit of speed");
    p.real("temperature", temperature, 0, 100, "initial, and maintained by friction and noise");
    p.real("dt", dt, 0.0001, 0.1, "duration of a step");
    p.integer("noise-seed", seed, 0, 4294967295, "of the initial particles and the noise");
  }

  void begin(const gossamer::GraphInfo& graph) {
    if (!sides[0] && !sides[1] && !sides[2]) {
      sides[0] = sides[1] = sides[2] = static_cast<uint32_t>(std::lround(std::cbrt(graph.vertices)));
    }
    const uint64_t cells = uint64_t{sides[0]} * sides[1] * sides[2];
    const std::string box =
        std::to_string(sides[0]) + " x " + std::to_string(sides[1]) + " x " + std::to_string(sides[2]);
    if (std::min({sides[0], sides[1], sides[2]}) < 3) {
      throw std::invalid_argument("a box of " + box + " cells; --width, --height and --depth must be at least 3");
    }
    if (std::max({sides[0], sides[1], sides[2]}) > 1023 || cells != graph.vertices ||
        graph.edges != Neighbours * cells) {
      throw std::invalid_argument("a box of " + box + " cells has " + std::to_string(cells) + " vertices and " +
                                  std::to_string(Neighbours * cells) + " edges, the graph has " +
                                  std::to_string(graph.vertices) + " and " + std::to_string(graph.edges) +
                                  "; use gen:cube:width=W,height=H,depth=D,neighbours=26,around=yes, and " +
                                  "--width W --height H --depth D unless it is a cube");
    }
    if (density * static_cast<double>(cells) > 4294967295.0) throw std::invalid_argument("more than 2^32 particles");
  }

  static int64_t fixed(double x) { return std::llround(x * One); }

  Params params(const gossamer::GraphInfo&) {
    Params p{};
    p.repulsion = fixed(repulsion * dt);
    p.friction = fixed(friction * dt);
    p.noise = fixed(std::sqrt(2 * friction * temperature * 3 * dt));
    p.dt = static_cast<int32_t>(fixed(dt));
    p.fastest = static_cast<int32_t>(fixed(std::min(64.0, 0.99 / dt)));
    p.steps = steps;
    p.seed = seed;
    for (int axis = 0; axis < 3; ++axis) p.sides[axis] = static_cast<int32_t>(sides[axis]);
    return p;
  }

  /// Particles are anywhere in their cell. Particles with successive numbers have opposite velocities, so that the
  /// total momentum is 0; the sum of four uniform numbers is nearly normal, of variance 1/3.
  void init(const gossamer::VertexInfo& v, State& whole) {
    whole = {};
    dpd::State& s = cellOf(whole);
    const auto [width, height] = std::pair(sides[0], sides[1]);
    s.cell = cellAt(static_cast<int32_t>(v.index % width), static_cast<int32_t>(v.index / width % height),
                    static_cast<int32_t>(v.index / width / height));
    const auto before = static_cast<uint32_t>(density * v.index);
    const auto after = static_cast<uint32_t>(density * (v.index + 1.0));
    const auto all = static_cast<uint32_t>(density * v.vertices);
    for (uint32_t id = before; id < after; ++id) {
      Particle& one = s.particles[s.count++];
      one.id = id;
      for (uint32_t axis = 0; axis < 3; ++axis) {
        const uint32_t bits = scattered(scattered(scattered(seed ^ 0x9e3779b9) + (id / 2)) ^ axis);
        const double sum = (bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24) - 510.0;
        const int64_t speed = fixed(std::sqrt(3 * temperature) * sum / 256);
        const bool alone = id + 1 == all && id % 2 == 0;
        one.v[axis] = alone ? 0 : static_cast<int32_t>(id % 2 ? -speed : speed);
        one.x[axis] = static_cast<int32_t>(scattered(scattered(scattered(seed + 0x7f4a7c15) + id) ^ axis) >> 8);
      }
    }
  }

  gossamer::Verdict verdict(const Outcome& run) {
    for (uint32_t v = 0; v < run.vertices; ++v) {
      const dpd::State& s = cellOf(run.states[v]);
      if (s.faults & WrongGraph || s.around != AllOthers) {
        return gossamer::Verdict::notConverged(
                   "the neighbours of a cell differ from those in the box; use "
                   "gen:cube:width=W,height=H,depth=D,neighbours=26,around=yes")
            .at(v);
      }
      if (s.faults & Fast) {
        return gossamer::Verdict::overflow("a particle crosses a cell in a step; use a smaller --dt").at(v);
      }
      if (s.faults & Crowded) {
        return gossamer::Verdict::overflow("more than " + std::to_string(Capacity) +
                                           " particles in a cell; use a lower --density or more --repulsion")
            .at(v);
      }
    }
    return gossamer::Verdict::answer();
  }

  void results(gossamer::Columns<State>& c) {
    c.add("particles", "in the cell", [](const State& s) { return cellOf(s).count; });
    c.add("kinetic", "energy of the cell's particles", [](const State& s) { return kinetic(cellOf(s)); });
    c.add("potential", "energy of their pairs, half of each pair per particle",
          [this](const State& s) { return repulsion / 4 * static_cast<double>(cellOf(s).potential) / One; });
    static constexpr const char* names[] = {"momentum-x", "momentum-y", "momentum-z"};
    for (int axis = 0; axis < 3; ++axis) {
      c.add(names[axis], "of the cell's particles, half a step before", [axis](const State& whole) {
        const dpd::State& s = cellOf(whole);
        int64_t sum = 0;
        for (uint32_t k = 0; k < s.count; ++k) sum += s.particles[k].v[axis];
        return static_cast<double>(sum) / One;
      });
    }
    c.add("digest", "a hash of all bits of its particles, to compare runs", [](const State& whole) {
      const dpd::State& s = cellOf(whole);
      uint32_t sum = 0;
      for (uint32_t k = 0; k < s.count; ++k) {
        const Particle& one = s.particles[k];
        uint32_t bits = scattered(one.id);
        for (const auto& vector : {one.x, one.v}) {
          for (int axis = 0; axis < 3; ++axis) bits = scattered(bits + static_cast<uint32_t>(vector[axis]));
        }
        sum += bits;
      }
      return sum;
    });
  }

 private:
  static const dpd::State& cellOf(const dpd::State& s) { return s; }
  static const dpd::State& cellOf(const gals::State& s) { return s.cell; }
  static dpd::State& cellOf(dpd::State& s) { return s; }
  static dpd::State& cellOf(gals::State& s) { return s.cell; }

  /// With current velocities, which include half of the last impulse. Summed as integers, so the order does not matter.
  static double kinetic(const dpd::State& s) {
    int64_t sum = 0;
    for (uint32_t k = 0; k < s.count; ++k) {
      for (int axis = 0; axis < 3; ++axis) {
        const int64_t v = 2 * int64_t{s.particles[k].v[axis]} + s.impulse[k][axis];
        sum += v * v >> Bits;
      }
    }
    return static_cast<double>(sum) / 8 / One;  // half of the square of half of v
  }
};

}  // namespace dpd

GOSSAMER_APPLICATION(dpd::App)
