// SPDX-License-Identifier: Apache-2.0
#include "models/match/baselines.h"

namespace gossamer::match {

namespace {

/// Removes the message's receive; returns the number of entries inspected until it is found, or all of them.
unsigned walk(std::list<Command>& queue, const Command& message) {
  unsigned looked = 0;
  for (auto at = queue.begin(); at != queue.end(); ++at) {
    ++looked;
    if (at->rank == message.rank && at->communicator == message.communicator && at->source == message.source &&
        at->tag == message.tag) {
      queue.erase(at);
      return looked;
    }
  }
  return looked;
}

}  // namespace

double Alpu::arrive(const Command& message) {
  const unsigned looked = walk(queue_, message);
  return kBaseNs + (looked > kCells ? (looked - kCells) * kElementNs : 0);
}

double HashProcessor::arrive(const Command& message) {
  return walk(buckets_[message.source % kBuckets], message) * kElementNs;
}

}  // namespace gossamer::match
