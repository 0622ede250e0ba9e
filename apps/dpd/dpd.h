// SPDX-License-Identifier: Apache-2.0
/// Dissipative particle dynamics (Hoogerbrugge and Koelman, Europhysics Letters 19,
/// 1992; in the form of Groot and Warren, J. Chem. Phys. 107, 1997): soft particles
/// in a periodic box. A vertex is a cell of the box, and a cell's side is the range
/// of the forces, so that a particle feels its own cell and 26 neighbours.
///
///   pair at distance r < 1:  w = 1 - r,  e = (x_i - x_j) / r
///   force on i along e:      repulsion w - friction w^2 e.(v_i - v_j) + sigma w noise / sqrt(dt)
///
/// sigma^2 = 2 friction temperature; noise is uniform, of variance 1, from a hash of
/// the pair and the time, so that both cells of a pair draw the same number. Mass is
/// 1. Velocities are those of half a step before: v += dt f(x, v), then x += dt v.
///
/// A time step has two phases. Cells tell their particles, and each pair's impulses
/// are added to its particles on both sides; then particles that have left their
/// cell are told, and each is taken by its new one. Everything is in fixed point: a
/// sum of impulses does not depend on the order of messages, and what one particle
/// of a pair gets the other loses, so momentum is kept to the last bit.
///
/// `dpd` ends a phase by the engine's barrier. `dpd-gals` counts: a cell goes on when
/// it has heard all that its 26 neighbours have to tell. A neighbour may be one phase
/// ahead, never two, so what comes early is of the other kind, and is kept apart.
#pragma once

#include <gossamer/polite.h>

namespace dpd {

/// 24 bits behind the point. Places are within the cell, 0 to One.
inline constexpr int Bits = 24;
inline constexpr int32_t One = 1 << Bits;

inline constexpr uint32_t Capacity = 16;  // particles of a cell; the mean in a fluid is 3 or 4
inline constexpr uint32_t Neighbours = 26;
inline constexpr uint32_t Itself = 13;  // among the 27 cells around it
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

/// Which of the cells around `from` the cell `to` is, 0 to 26; 27 if it is none.
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

enum Kind : uint32_t { Places = 0, Leavers = 1 };

/// One particle. The first of a phase says how many messages this cell has for it, the others 0.
struct Message {
  Cell from;
  Cell to;  // of a leaver
  uint8_t kind;
  uint8_t hasParticle;
  uint8_t count;
  uint8_t spare;
  Particle particle;
};

/// Why a result is none.
enum Fault : uint32_t { Fine = 0, Crowded = 1, Fast = 2, WrongGraph = 4 };

/// What was told in the phase.
struct Heard {
  uint32_t cells;     // that have said how many messages they have
  uint32_t messages;  // heard
  uint32_t expected;  // by what these cells have said
};

/// Particles of a neighbour that has begun the next time step already.
struct Early {
  uint32_t count;
  Particle particles[Neighbours * Capacity];
  uint8_t directions[Neighbours * Capacity];
};

struct State {
  Cell cell;
  uint32_t faults;
  uint32_t around;  // cells that have been heard in the first phase
  uint32_t now;     // time steps done
  uint32_t kind;    // of the phase
  uint32_t count;   // particles
  uint32_t leaving;
  uint32_t arrived;
  uint32_t toTell;  // messages of this phase
  uint32_t told;
  Particle particles[Capacity];
  int64_t impulse[Capacity][3];
  int64_t potential;  // half of each pair's, of the last time step
  Particle leavers[Capacity];
  Cell goals[Capacity];
  Particle arrivals[Capacity];
};

namespace gals {
struct State {
  dpd::State cell;
  Heard heard[2];
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

/// The whole root of a number below 2^50, a bit at a time.
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

/// What time and pair give by chance, between -1 and 1.
inline int32_t chance(uint32_t low, uint32_t high, uint32_t time, uint32_t seed) {
  const uint32_t bits = scattered(scattered(scattered(scattered(seed) + time) ^ low) + high);
  return static_cast<int32_t>(bits >> 7) - One;
}

/// Adds what particle k gets from another, in the cell of that direction. Both sides work it out in the same order of
/// the two, so that they get the same.
inline void meet(State& s, uint32_t k, const Particle& other, uint32_t direction, const Params& p) {
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
  // Two at one place have no direction to part in.
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

/// A neighbour's particle meets all of this cell.
inline void meetAll(State& s, const Particle& other, uint32_t direction, const Params& p) {
  for (uint32_t k = 0; k < s.count; ++k) meet(s, k, other, direction, p);
}

/// A new time step: nothing has been added up.
inline void beginPlaces(State& s) {
  s.kind = Places;
  s.told = 0;
  s.toTell = s.count;
  s.potential = 0;
  for (uint32_t k = 0; k < s.count; ++k) {
    for (int axis = 0; axis < 3; ++axis) s.impulse[k][axis] = 0;
  }
}

/// The particles of the cell have heard all neighbours: they meet each other, and all but the last time move.
inline void endPlaces(State& s, const Params& p) {
  for (uint32_t k = 0; k < s.count; ++k) {
    for (uint32_t other = 0; other < s.count; ++other) {
      if (other != k) meet(s, k, s.particles[other], Itself, p);
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
  s.told = 0;
  s.toTell = s.leaving;
  ++s.now;
}

inline void arrive(State& s, const Particle& one) {
  if (s.arrived == Capacity) {
    s.faults |= Crowded;
  } else {
    s.arrivals[s.arrived++] = one;
  }
}

/// Who has arrived stays.
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

/// Fills in the next message of the phase; one without a particle where there is none.
inline void tell(State& s, Message& m) {
  m = {};
  m.from = s.cell;
  m.kind = static_cast<uint8_t>(s.kind);
  m.count = static_cast<uint8_t>(s.told ? 0 : s.toTell ? s.toTell : 1);
  if (s.told < s.toTell) {
    m.hasParticle = 1;
    m.particle = s.kind == Places ? s.particles[s.told] : s.leavers[s.told];
    if (s.kind == Leavers) m.to = s.goals[s.told];
  }
  ++s.told;
}

/// In the first phase every cell is heard, once: the graph is the box's, or the result is none.
inline void look(State& s, uint32_t direction) {
  const uint32_t bit = direction < 27 ? 1u << direction : 1u << Itself;
  if (bit == 1u << Itself || s.around & bit) s.faults |= WrongGraph;
  s.around |= bit;
}

struct Vertex : gossamer::PVertex<State, gossamer::None, Message, Params> {
  void init() {
    beginPlaces(*s);
    *readyToSend = gossamer::Pin(0);
  }

  void send(Message* message) {
    tell(*s, *message);
    if (s->told >= s->toTell) *readyToSend = gossamer::No;
  }

  void recv(const Message* message, const gossamer::None*) {
    const bool places = message->kind == Places;
    if (!places && (!message->hasParticle || message->to != s->cell)) return;
    const uint32_t from = direction(s->cell, message->from, *params);
    if (places && s->now == 0 && message->count) look(*s, from);
    if (from >= 27 || !message->hasParticle) return;
    if (places) {
      meetAll(*s, message->particle, from, *params);
    } else {
      arrive(*s, message->particle);
    }
  }

  bool step() {
    if (s->kind == Places) {
      const bool last = s->now == params->steps;
      endPlaces(*s, *params);
      if (last) return false;
    } else {
      endLeavers(*s);
      beginPlaces(*s);
    }
    if (s->toTell) *readyToSend = gossamer::Pin(0);
    return true;
  }
};

namespace gals {

struct Vertex : gossamer::PVertex<gals::State, gossamer::None, Message, Params> {
  void init() {
    beginPlaces(s->cell);
    *readyToSend = gossamer::Pin(0);
  }

  void send(Message* message) {
    tell(s->cell, *message);
    if (toldAll()) *readyToSend = gossamer::No;
    goOn();
  }

  void recv(const Message* message, const gossamer::None*) {
    dpd::State& cell = s->cell;
    Heard& heard = s->heard[message->kind];
    ++heard.messages;
    heard.expected += message->count;
    heard.cells += message->count != 0;
    const uint32_t from = direction(cell.cell, message->from, *params);
    if (message->kind == Places) {
      if (cell.now == 0 && message->count) look(cell, from);
      if (message->hasParticle && from < 27) place(message->particle, from);
    } else if (message->hasParticle && message->to == cell.cell) {
      arrive(cell, message->particle);
    }
    goOn();
  }

 private:
  bool toldAll() const { return s->cell.told >= (s->cell.toTell ? s->cell.toTell : 1); }

  void place(const Particle& one, uint32_t from) {
    if (s->cell.kind == Places) return meetAll(s->cell, one, from, *params);
    Early& early = s->early;
    // Only cells that are no neighbours, or are so twice, can be too many.
    if (early.count == Neighbours * Capacity) {
      s->cell.faults |= WrongGraph;
    } else {
      early.directions[early.count] = static_cast<uint8_t>(from);
      early.particles[early.count++] = one;
    }
  }

  /// Ends the phase when everybody has been told and heard. What neighbours say of the next cannot be all before this
  /// cell has told its own.
  void goOn() {
    dpd::State& cell = s->cell;
    Heard& heard = s->heard[cell.kind];
    if (!toldAll() || heard.cells != Neighbours || heard.messages != heard.expected) return;
    heard = {};
    if (cell.kind == Places) {
      const bool last = cell.now == params->steps;
      endPlaces(cell, *params);
      if (last) return;
    } else {
      endLeavers(cell);
      beginPlaces(cell);
      for (uint32_t k = 0; k < s->early.count; ++k) {
        meetAll(cell, s->early.particles[k], s->early.directions[k], *params);
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
