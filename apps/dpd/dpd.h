// SPDX-License-Identifier: Apache-2.0
/// Dissipative particle dynamics (Hoogerbrugge and Koelman, Europhysics Letters 19,
/// 1992; in the form of Groot and Warren, J. Chem. Phys. 107, 1997): soft particles
/// in a periodic box. A vertex is a cell of the box, and a cell's side is the range
/// of the forces, so that a particle interacts with its own cell and 26 neighbours.
///
///   pair at distance r < 1:  w = 1 - r,  e = (x_i - x_j) / r
///   force on i along e:      repulsion w - friction w^2 e.(v_i - v_j) + sigma w noise / sqrt(dt)
///
/// sigma^2 = 2 friction temperature; noise is uniform, of variance 1, from a hash of
/// the pair and the time, so that both cells of a pair draw the same number. Mass is
/// 1. Velocities are those of half a step earlier: v += dt f(x, v), then x += dt v.
///
/// A time step has two phases. First cells send their particles, and each pair's impulses
/// are added to its particles on both sides. Then cells send the particles that have left them,
/// and each is added to its new cell. Everything is in fixed point: a
/// sum of impulses does not depend on the order of messages, and the two impulses
/// of a pair are exactly opposite, so momentum is conserved to the last bit.
///
/// In `dpd` the engine's barrier ends a phase. In `dpd-gals` cells count messages: a cell
/// continues when it has received all messages of its 26 neighbours. A neighbour may be at most
/// one phase ahead, so an early message is of the other kind, and is stored separately.
/// Example graph: gen:cube:width=10,height=10,depth=10,neighbours=26,around=yes
#pragma once

#include <gossamer/polite.h>

namespace dpd {

/// 24 fractional bits. Positions are relative to the cell, 0 to One.
inline constexpr int Bits = 24;
inline constexpr int32_t One = 1 << Bits;

inline constexpr uint32_t Capacity = 16;  // particles of a cell; the mean in a fluid is 3 or 4
inline constexpr uint32_t Neighbours = 26;
inline constexpr uint32_t Itself = 13;  // the cell's own number among the 27 cells around it
inline constexpr uint32_t AllOthers = (1u << 27) - 1 - (1u << Itself);

/// Products with dt and its root, in fixed point.
struct Params {
  int64_t repulsion;  // a dt
  int64_t friction;   // gamma dt
  int64_t noise;      // sigma sqrt(3 dt): numbers between -1 and 1 have a variance of 1/3
  int32_t dt;
  int32_t fastest;  // less than a cell in a step
  uint32_t steps;
  uint32_t seed;
  int32_t sides[3];
};

struct Particle {
  uint32_t id;
  int32_t x[3];
  int32_t v[3];
};

/// A cell by its three coordinates, 10 bits each.
using Cell = uint32_t;
inline Cell cellAt(int32_t x, int32_t y, int32_t z) { return static_cast<Cell>(x | y << 10 | z << 20); }
inline int32_t coordinate(Cell cell, int axis) { return static_cast<int32_t>(cell >> 10 * axis & 1023); }

/// The number of the cell `to` among the cells around `from`, 0 to 26; 27 if it is none of them.
inline uint32_t direction(Cell from, Cell to, const Params& p) {
  uint32_t number = 0;
  for (int axis = 2; axis >= 0; --axis) {
    int32_t step = coordinate(to, axis) - coordinate(from, axis);
    if (step > 1) step -= p.sides[axis];
    if (step < -1) step += p.sides[axis];
    if (step < -1 || step > 1) return 27;
    number = 3 * number + static_cast<uint32_t>(step + 1);
  }
  return number;
}

enum Kind : uint32_t { Positions = 0, Leavers = 1 };

/// One particle. The first message of a phase has this cell's number of messages as `count`, the others 0.
struct Message {
  Cell from;
  Cell to;  // the new cell of a particle that has left
  uint8_t kind;
  uint8_t hasParticle;
  uint8_t count;
  uint8_t spare;
  Particle particle;
};

/// Reasons why there is no result.
enum Fault : uint32_t { Fine = 0, Crowded = 1, Fast = 2, WrongGraph = 4 };

/// The messages received in a phase.
struct Received {
  uint32_t cells;     // cells whose first message has arrived
  uint32_t messages;  // messages received
  uint32_t expected;  // messages that those cells send
};

/// Particles of neighbours that have already started the next time step.
struct Early {
  uint32_t count;
  Particle particles[Neighbours * Capacity];
  uint8_t directions[Neighbours * Capacity];
};

struct State {
  Cell cell;
  uint32_t faults;
  uint32_t around;  // neighbours that have sent in the first phase
  uint32_t now;     // completed time steps
  uint32_t kind;    // of the phase
  uint32_t count;   // particles
  uint32_t leaving;
  uint32_t arrived;
  uint32_t toSend;  // messages of this phase
  uint32_t sent;
  Particle particles[Capacity];
  int64_t impulse[Capacity][3];
  int64_t potential;  // half of each pair's, in the last time step
  Particle leavers[Capacity];
  Cell goals[Capacity];
  Particle arrivals[Capacity];
};

namespace gals {
struct State {
  dpd::State cell;
  Received received[2];
  Early early;
};
}  // namespace gals

inline uint32_t scattered(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352d;
  x ^= x >> 15;
  x *= 0x846ca68b;
  return x ^ x >> 16;
}

inline int64_t times(int64_t a, int64_t b) { return a * b >> Bits; }

/// The integer square root of a number below 2^50, one bit at a time.
inline uint32_t root(uint64_t square) {
  uint64_t result = 0;
  for (uint64_t bit = 1ull << 48; bit; bit >>= 2) {
    if (square >= result + bit) {
      square -= result + bit;
      result = (result >> 1) + bit;
    } else {
      result >>= 1;
    }
  }
  return static_cast<uint32_t>(result);
}

/// The noise of a pair at a time, between -1 and 1.
inline int32_t chance(uint32_t low, uint32_t high, uint32_t time, uint32_t seed) {
  const uint32_t bits = scattered(scattered(scattered(scattered(seed) + time) ^ low) + high);
  return static_cast<int32_t>(bits >> 7) - One;
}

/// Adds the impulse that particle k receives from another, in the cell of that direction. Both sides compute it in the
/// same order of the two particles, so that the results agree.
inline void interact(State& s, uint32_t k, const Particle& other, uint32_t direction, const Params& p) {
  const Particle& mine = s.particles[k];
  const bool first = mine.id < other.id;
  int64_t apart[3];
  int64_t square = 0;
  for (uint32_t axis = 0, rest = direction; axis < 3; ++axis, rest /= 3) {
    const int64_t toOther = int64_t{other.x[axis]} - mine.x[axis] + (static_cast<int32_t>(rest % 3) - 1) * One;
    if (toOther >= One || toOther <= -One) return;
    apart[axis] = first ? -toOther : toOther;
    square += toOther * toOther;
  }
  const int64_t r = root(static_cast<uint64_t>(square));
  // Two particles at the same position have no direction.
  if (r == 0 || r >= One) return;
  const int64_t inverse = (int64_t{1} << 2 * Bits) / r;
  const int64_t w = One - r;
  int64_t e[3];
  int64_t approach = 0;
  for (int axis = 0; axis < 3; ++axis) {
    e[axis] = times(apart[axis], inverse);
    const int64_t relative = int64_t{mine.v[axis]} - other.v[axis];
    approach += times(e[axis], first ? relative : -relative);
  }
  const int32_t noise = first ? chance(mine.id, other.id, s.now, p.seed) : chance(other.id, mine.id, s.now, p.seed);
  const int64_t along =
      times(p.repulsion, w) - times(times(p.friction, times(w, w)), approach) + times(times(p.noise, w), noise);
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t given = times(along, e[axis]);
    s.impulse[k][axis] += first ? given : -given;
  }
  s.potential += times(w, w);
}

/// A neighbour's particle interacts with all particles of this cell.
inline void interactAll(State& s, const Particle& other, uint32_t direction, const Params& p) {
  for (uint32_t k = 0; k < s.count; ++k) interact(s, k, other, direction, p);
}

/// Starts a time step with empty sums.
inline void beginPositions(State& s) {
  s.kind = Positions;
  s.sent = 0;
  s.toSend = s.count;
  s.potential = 0;
  for (uint32_t k = 0; k < s.count; ++k) {
    for (int axis = 0; axis < 3; ++axis) s.impulse[k][axis] = 0;
  }
}

/// After the messages of all neighbours: particles within the cell interact; except in the last step, all move.
inline void endPositions(State& s, const Params& p) {
  for (uint32_t k = 0; k < s.count; ++k) {
    for (uint32_t other = 0; other < s.count; ++other) {
      if (other != k) interact(s, k, s.particles[other], Itself, p);
    }
  }
  if (s.now == p.steps) return;
  uint32_t stay = 0;
  s.leaving = 0;
  for (uint32_t k = 0; k < s.count; ++k) {
    Particle one = s.particles[k];
    int32_t at[3];
    bool leaves = false;
    for (int axis = 0; axis < 3; ++axis) {
      int64_t v = one.v[axis] + s.impulse[k][axis];
      if (v > p.fastest || v < -p.fastest) {
        s.faults |= Fast;
        v = 0;
      }
      one.v[axis] = static_cast<int32_t>(v);
      one.x[axis] += static_cast<int32_t>(times(v, p.dt));
      const int32_t cells = one.x[axis] >> Bits;
      one.x[axis] &= One - 1;
      const int32_t side = p.sides[axis];
      const int32_t next = coordinate(s.cell, axis) + cells;
      at[axis] = next < 0 ? next + side : next >= side ? next - side : next;
      leaves = leaves || cells != 0;
    }
    if (leaves) {
      s.goals[s.leaving] = cellAt(at[0], at[1], at[2]);
      s.leavers[s.leaving++] = one;
    } else {
      s.particles[stay++] = one;
    }
  }
  s.count = stay;
  s.kind = Leavers;
  s.sent = 0;
  s.toSend = s.leaving;
  ++s.now;
}

inline void arrive(State& s, const Particle& one) {
  if (s.arrived == Capacity) {
    s.faults |= Crowded;
  } else {
    s.arrivals[s.arrived++] = one;
  }
}

/// Adds the particles that have arrived.
inline void endLeavers(State& s) {
  for (uint32_t k = 0; k < s.arrived; ++k) {
    if (s.count == Capacity) {
      s.faults |= Crowded;
    } else {
      s.particles[s.count++] = s.arrivals[k];
    }
  }
  s.arrived = 0;
}

/// Fills in the next message of the phase; if the cell has no particle to send, one without a particle.
inline void fill(State& s, Message& m) {
  m = {};
  m.from = s.cell;
  m.kind = static_cast<uint8_t>(s.kind);
  m.count = static_cast<uint8_t>(s.sent ? 0 : s.toSend ? s.toSend : 1);
  if (s.sent < s.toSend) {
    m.hasParticle = 1;
    m.particle = s.kind == Positions ? s.particles[s.sent] : s.leavers[s.sent];
    if (s.kind == Leavers) m.to = s.goals[s.sent];
  }
  ++s.sent;
}

/// In the first phase every neighbour must send exactly once, or the graph is not the box's and there is no result.
inline void checkNeighbour(State& s, uint32_t direction) {
  const uint32_t bit = direction < 27 ? 1u << direction : 1u << Itself;
  if (bit == 1u << Itself || s.around & bit) s.faults |= WrongGraph;
  s.around |= bit;
}

struct Vertex : gossamer::PVertex<State, gossamer::None, Message, Params> {
  void init() {
    beginPositions(*s);
    *readyToSend = gossamer::Pin(0);
  }

  void send(Message* message) {
    fill(*s, *message);
    if (s->sent >= s->toSend) *readyToSend = gossamer::No;
  }

  void recv(const Message* message, const gossamer::None*) {
    const bool positions = message->kind == Positions;
    if (!positions && (!message->hasParticle || message->to != s->cell)) return;
    const uint32_t from = direction(s->cell, message->from, *params);
    if (positions && s->now == 0 && message->count) checkNeighbour(*s, from);
    if (from >= 27 || !message->hasParticle) return;
    if (positions) {
      interactAll(*s, message->particle, from, *params);
    } else {
      arrive(*s, message->particle);
    }
  }

  bool step() {
    if (s->kind == Positions) {
      const bool last = s->now == params->steps;
      endPositions(*s, *params);
      if (last) return false;
    } else {
      endLeavers(*s);
      beginPositions(*s);
    }
    if (s->toSend) *readyToSend = gossamer::Pin(0);
    return true;
  }
};

namespace gals {

struct Vertex : gossamer::PVertex<gals::State, gossamer::None, Message, Params> {
  void init() {
    beginPositions(s->cell);
    *readyToSend = gossamer::Pin(0);
  }

  void send(Message* message) {
    fill(s->cell, *message);
    if (sentAll()) *readyToSend = gossamer::No;
    advance();
  }

  void recv(const Message* message, const gossamer::None*) {
    dpd::State& cell = s->cell;
    Received& received = s->received[message->kind];
    ++received.messages;
    received.expected += message->count;
    received.cells += message->count != 0;
    const uint32_t from = direction(cell.cell, message->from, *params);
    if (message->kind == Positions) {
      if (cell.now == 0 && message->count) checkNeighbour(cell, from);
      if (message->hasParticle && from < 27) receiveParticle(message->particle, from);
    } else if (message->hasParticle && message->to == cell.cell) {
      arrive(cell, message->particle);
    }
    advance();
  }

 private:
  bool sentAll() const { return s->cell.sent >= (s->cell.toSend ? s->cell.toSend : 1); }

  void receiveParticle(const Particle& one, uint32_t from) {
    if (s->cell.kind == Positions) return interactAll(s->cell, one, from, *params);
    Early& early = s->early;
    // The space suffices unless the graph has wrong or duplicate neighbours.
    if (early.count == Neighbours * Capacity) {
      s->cell.faults |= WrongGraph;
    } else {
      early.directions[early.count] = static_cast<uint8_t>(from);
      early.particles[early.count++] = one;
    }
  }

  /// Ends the phase when this cell has sent all its messages and received all of its neighbours'. The messages of the
  /// next phase cannot be complete before this cell has sent its own.
  void advance() {
    dpd::State& cell = s->cell;
    Received& received = s->received[cell.kind];
    if (!sentAll() || received.cells != Neighbours || received.messages != received.expected) return;
    received = {};
    if (cell.kind == Positions) {
      const bool last = cell.now == params->steps;
      endPositions(cell, *params);
      if (last) return;
    } else {
      endLeavers(cell);
      beginPositions(cell);
      for (uint32_t k = 0; k < s->early.count; ++k) {
        interactAll(cell, s->early.particles[k], s->early.directions[k], *params);
      }
      s->early.count = 0;
    }
    *readyToSend = gossamer::Pin(0);
  }
};

}  // namespace gals

#ifdef DPD_GALS
using Chosen = gals::Vertex;
#else
using Chosen = Vertex;
#endif

}  // namespace dpd

GOSSAMER_VERTEX(dpd::Chosen)

#if __STDC_HOSTED__
#include "descriptor.h"
#endif
