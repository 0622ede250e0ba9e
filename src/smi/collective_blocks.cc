// SPDX-License-Identifier: Apache-2.0
/// Collectives on hardware blocks (hardware.h): which elements a rank pushes and pops. The signatures of all ranks have
/// been compared before; the lanes only count elements, for reports.
#include "collective.h"
#include "hardware.h"

namespace gossamer::smi {

namespace {

bool reduces(const Collective& c) { return c.is(Kind::reduce, Kind::allreduce); }

/// Whether the next call of a rank pushes an element, and whether it pops one. A root pops its own block, too.
bool pushesNext(const Collective& c, int me) {
  switch (c.signature.kind) {
    case Kind::bcast:
    case Kind::scatter: return me == c.signature.root;
    case Kind::gather: return me != c.signature.root || c.blockOwner(me) == me;
    case Kind::allgather: return c.blockOwner(me) == me;
    default: return true;
  }
}

bool popsNext(const Collective& c, int me) {
  switch (c.signature.kind) {
    case Kind::bcast: return me != c.signature.root;
    case Kind::scatter: return me != c.signature.root || c.blockOwner(me) == me;
    case Kind::gather:
    case Kind::reduce: return me == c.signature.root;
    default: return true;
  }
}

/// The single rank that a call waits for; -1 if it is not a single other rank.
int senderOf(const Collective& c, int me) {
  switch (c.signature.kind) {
    case Kind::bcast:
    case Kind::scatter: return me == c.signature.root ? -1 : c.signature.root;
    case Kind::gather:
    case Kind::allgather: return c.blockOwner(me) == me ? -1 : c.blockOwner(me);
    default: return -1;
  }
}

int receiverOf(const Collective& c, int me) {
  switch (c.signature.kind) {
    case Kind::scatter: return c.blockOwner(me) == me ? -1 : c.blockOwner(me);
    case Kind::gather:
    case Kind::reduce: return me == c.signature.root ? -1 : c.signature.root;
    default: return -1;
  }
}

}  // namespace

bool Collective::usesBlock() const {
  return hardware && signature.kind != Kind::barrier && signature.count && size() > 1;
}

void openOnBlock(const Collective& c, int me, int degree, CallSite site) {
  const auto part = static_cast<std::uint64_t>(c.signature.count);
  const std::uint64_t all = part * static_cast<std::uint64_t>(c.size());
  const bool root = me == c.signature.root;
  std::uint64_t pushes = part, pops = part;
  switch (c.signature.kind) {
    case Kind::bcast: (root ? pops : pushes) = 0; break;
    case Kind::reduce: pops = root ? part : 0; break;
    case Kind::scatter: pushes = root ? all : 0; break;
    case Kind::gather: pops = root ? all : 0; break;
    case Kind::allgather: pops = all; break;
    default: break;
  }
  // smi_collective counts from 1 in the order of Kind. The block of a port determines its order of addition.
  const int op = c.signature.op == SMI_ADD_ORDERED ? SMI_ADD : c.signature.op;
  openBlock(c.port,
            {static_cast<int>(c.signature.kind) + 1, c.signature.type, op, c.signature.root, c.signature.count, degree,
             pushes, pops},
            site);
}

void callOnBlock(Collective& c, int me, const void* sent, void* received, CallSite site) {
  Member& mine = c.member(me);
  const bool pops = popsNext(c, me);
  if (pushesNext(c, me)) {
    mine.waitsFor = receiverOf(c, me);
    mine.needs = mine.done;  // ranks with fewer elements block this one
    pushElement(c.port, load(c.signature.type, sent), mine.waiting, c, site);
    mine.needs = 0;
    if (reduces(c)) ++mine.ring.tail;
  }
  if (pops) {
    mine.waitsFor = senderOf(c, me);
    store(c.signature.type, received, popElement(c.port, mine.waiting, c, site));
  }
  mine.waiting = nullptr;
}

}  // namespace gossamer::smi
