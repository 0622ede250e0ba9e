// SPDX-License-Identifier: Apache-2.0
/// Collectives that blocks in hardware carry (hardware.h): which elements a rank gives and takes. What all have asked
/// for has been compared before; the lanes only count, for reports.
#include "collective.h"
#include "hardware.h"

namespace gossamer::smi {

namespace {

bool reduces(const Collective& c) { return c.is(Kind::reduce, Kind::allreduce); }

/// Whether the next call of a rank gives an element, and whether it takes one: its own part comes back to a root.
bool gives(const Collective& c, int me) {
  switch (c.asked.kind) {
    case Kind::bcast:
    case Kind::scatter: return me == c.asked.root;
    case Kind::gather: return me != c.asked.root || c.turn(me) == me;
    case Kind::allgather: return c.turn(me) == me;
    default: return true;
  }
}

bool takes(const Collective& c, int me) {
  switch (c.asked.kind) {
    case Kind::bcast: return me != c.asked.root;
    case Kind::scatter: return me != c.asked.root || c.turn(me) == me;
    case Kind::gather:
    case Kind::reduce: return me == c.asked.root;
    default: return true;
  }
}

/// The rank that a call waits for, as far as it is one: -1 otherwise.
int giver(const Collective& c, int me) {
  switch (c.asked.kind) {
    case Kind::bcast:
    case Kind::scatter: return me == c.asked.root ? -1 : c.asked.root;
    case Kind::gather:
    case Kind::allgather: return c.turn(me) == me ? -1 : c.turn(me);
    default: return -1;
  }
}

int taker(const Collective& c, int me) {
  switch (c.asked.kind) {
    case Kind::scatter: return c.turn(me) == me ? -1 : c.turn(me);
    case Kind::gather:
    case Kind::reduce: return me == c.asked.root ? -1 : c.asked.root;
    default: return -1;
  }
}

}  // namespace

bool Collective::onBlock() const { return hardware && asked.kind != Kind::barrier && asked.count && size() > 1; }

void openOnBlock(const Collective& c, int me, int degree, Place place) {
  const auto part = static_cast<std::uint64_t>(c.asked.count);
  const std::uint64_t all = part * static_cast<std::uint64_t>(c.size());
  const bool root = me == c.asked.root;
  std::uint64_t given = part, taken = part;
  switch (c.asked.kind) {
    case Kind::bcast: (root ? taken : given) = 0; break;
    case Kind::reduce: taken = root ? part : 0; break;
    case Kind::scatter: given = root ? all : 0; break;
    case Kind::gather: taken = root ? all : 0; break;
    case Kind::allgather: taken = all; break;
    default: break;
  }
  // smi_collective counts from 1 in the order of Kind. In which order a port adds is a matter of its block.
  const int op = c.asked.op == SMI_ADD_ORDERED ? SMI_ADD : c.asked.op;
  openBlock(c.port,
            {static_cast<int>(c.asked.kind) + 1, c.asked.type, op, c.asked.root, c.asked.count, degree, given, taken},
            place);
}

void callOnBlock(Collective& c, int me, const void* sent, void* received, Place place) {
  Member& mine = c.member(me);
  const bool takesOne = takes(c, me);
  if (gives(c, me)) {
    mine.waitsFor = taker(c, me);
    mine.needs = mine.done;  // those who have had less hold it up
    pushElement(c.port, load(c.asked.type, sent), mine.waiting, c, place);
    mine.needs = 0;
    if (reduces(c)) ++mine.ring.tail;
  }
  if (takesOne) {
    mine.waitsFor = giver(c, me);
    store(c.asked.type, received, popElement(c.port, mine.waiting, c, place));
  }
  mine.waiting = nullptr;
}

}  // namespace gossamer::smi
