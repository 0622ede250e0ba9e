// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

namespace switch_test {

Bench::Bench(uint64_t seed) : random(seed), top(std::make_unique<Vswitch_top>()) {
  send_rate.fill(1.0);
  top->clk_i = 0;
  top->rst_ni = 0;
  top->board_i = kOwnBoard;
  top->burst_i = 8;
  top->table_we_i = 0;
  for (unsigned p = 0; p < kPorts; ++p) {
    top->in_valid_i[p] = 0;
    top->out_credit_i[p] = 0;
  }
  for (int i = 0; i < 6; ++i) {
    top->clk_i = !top->clk_i;
    top->eval();
  }
  top->rst_ni = 1;
  while (!top->ready_o) tick();
}

Bench::~Bench() { top->final(); }

void Bench::set(unsigned index, Entry entry) {
  top->table_we_i = 1;
  top->table_index_i = index;
  top->table_entry_i = entry.valid << 7 | entry.vc << 5 | entry.port;
  tick();
  top->table_we_i = 0;
  table[index] = entry;
}

Route Bench::route_of(const Packet& packet) const {
  const uint32_t kind = packet.dest >> 29, number = packet.dest >> 14 & 0xFFF;
  const unsigned vnet = packet.channel / kVcs;
  auto at = [&](unsigned port, unsigned vc) { return Route{port, vnet * kVcs + (is_link(port) ? vc : 0)}; };
  if (kind == kKey) {
    const unsigned link = packet.dest & 63;
    return link >= 1 && link <= 3 ? at(1 + link, packet.dest >> 6 & 1) : Route{};
  }
  if (kind != kHost && number == kOwnBoard) {
    switch (kind) {
      case kThread: case kTile: case kAccelerator: {
        // Two exits of a mesh two wide: one per column; columns beyond use the last.
        const unsigned x = packet.dest >> 6 & 15;
        return at(x == 0 ? 0 : 1, 0);
      }
      case kStream: return (packet.dest & 255) < 2 ? at(8 + (packet.dest & 255), 0) : Route{};
      case kMatch: return at(10, 0);
      case kControl: return at(6, 0);
      default: return {};
    }
  }
  if (number >= kTable) return {};
  const Entry& entry = table[kind == kHost ? kTable - 1 - number : number];
  return entry.valid && entry.port < kPorts ? at(entry.port, entry.vc) : Route{};
}

void Bench::send(unsigned port, unsigned channel, uint32_t dest, unsigned flits) {
  queue[port][channel].push_back({next_id_++, dest, flits, port, channel, 0});
  ++outstanding_;
}

void Bench::drive() {
  flits_in_before_ = flits_in_;
  for (unsigned p = 0; p < kPorts; ++p) {
    top->in_valid_i[p] = 0;
    if (send_rate[p] < 1.0 && !chance(send_rate[p])) continue;
    const unsigned first = steady ? static_cast<unsigned>(now % kChannels) : below(kChannels);
    for (unsigned k = 0; k < kChannels; ++k) {
      const unsigned c = (first + k) % kChannels;
      Sending& sending = sending_[p][c];
      if (queue[p][c].empty() || sending.credits == 0) continue;
      Packet& packet = queue[p][c].front();
      const unsigned i = sending.next++;
      --sending.credits;
      ++flits_in_;
      const uint64_t word = word_of(packet.id, i);
      top->in_valid_i[p] = 1u << c;
      top->in_kind_i[p] = (packet.id + i) & 3;
      top->in_last_i[p] = i + 1 == packet.flits;
      top->in_vnet_i[p] = c / kVcs;
      top->in_tags_i[p] = packet.id & 127;
      top->in_dest_i[p] = packet.dest;
      top->in_payload_i[p][0] = static_cast<uint32_t>(packet.id);
      top->in_payload_i[p][1] = i;
      top->in_payload_i[p][2] = static_cast<uint32_t>(word);
      top->in_payload_i[p][3] = static_cast<uint32_t>(word >> 32);
      if (i + 1 == packet.flits) {
        sending.next = 0;
        packet.sent = now;
        const Route by = route_of(packet);
        in_flight_[packet.id] = packet;
        order_[{p * kChannels + c, by}].push_back(packet.id);
        queue[p][c].pop_front();
      }
      break;
    }
  }
}

void Bench::arrive(unsigned port, unsigned channel) {
  const uint64_t id = top->out_payload_o[port][0];
  const unsigned index = top->out_payload_o[port][1];
  const uint64_t word = top->out_payload_o[port][2] | static_cast<uint64_t>(top->out_payload_o[port][3]) << 32;
  Drain& to = drain[port][channel];
  auto found = in_flight_.find(id);
  CHECK(found != in_flight_.end(), "cycle %llu: port %u channel %u sends packet %llu, which is not in flight",
        (unsigned long long)now, port, channel, (unsigned long long)id);
  const Packet& packet = found->second;
  CHECK(word == word_of(id, index) && top->out_dest_o[port] == packet.dest &&
            top->out_kind_o[port] == ((id + index) & 3) && top->out_tags_o[port] == (id & 127) &&
            top->out_vnet_o[port] == packet.channel / kVcs,
        "cycle %llu: port %u: flit %u of packet %llu was changed", (unsigned long long)now, port, index,
        (unsigned long long)id);
  CHECK(to.open.empty() ? index == 0 : to.open.front() == id && to.open.size() == index,
        "cycle %llu: port %u channel %u: flit %u of packet %llu is interleaved", (unsigned long long)now, port,
        channel, index, (unsigned long long)id);
  to.open.push_back(id);
  ++flits_out;
  ++flits_from[port][packet.in];
  order_out[port].push_back(packet.in);
  latest = now;
  if (index == 0) {
    slowest = std::max(slowest, now - packet.sent);
    fastest = std::min(fastest, now - packet.sent);
    auto& order = order_[{packet.in * kChannels + packet.channel, Route{port, channel}}];
    CHECK(!order.empty() && order.front() == id,
          "cycle %llu: port %u channel %u: packet %llu of port %u channel %u is out of order or misrouted",
          (unsigned long long)now, port, channel, (unsigned long long)id, packet.in, packet.channel);
    order.pop_front();
  }
  CHECK(bool(top->out_last_o[port]) == (index + 1 == packet.flits), "packet %llu: wrong end at flit %u",
        (unsigned long long)id, index);
  if (index + 1 == packet.flits) {
    to.open.clear();
    served[packet.in][packet.channel] = now;
    in_flight_.erase(found);
    --outstanding_;
    ++delivered;
  }
}

void Bench::observe() {
  const uint64_t out_before = flits_out;
  for (unsigned p = 0; p < kPorts; ++p) {
    const unsigned valid = top->out_valid_o[p];
    CHECK((valid & (valid - 1)) == 0, "port %u sends in two channels at once", p);
    uint8_t credits = 0;
    for (unsigned c = 0; c < kChannels; ++c) {
      if (top->in_credit_o[p] >> c & 1) {
        ++sending_[p][c].credits;
        CHECK(sending_[p][c].credits <= kWindow, "port %u channel %u returns too many credits", p, c);
      }
      Drain& to = drain[p][c];
      if (valid >> c & 1) {
        arrive(p, c);
        to.held.push_back(0);
        CHECK(to.held.size() <= kWindow, "port %u channel %u sends without credit", p, c);
      }
      if (!to.held.empty() && now % to.period == 0 && (to.rate >= 1.0 || chance(to.rate))) {
        to.held.pop_front();
        credits |= 1u << c;
      }
    }
    top->out_credit_i[p] = credits;
    if (top->unroutable_o >> p & 1) {
      // The first unroutable packet of this port that is still in flight.
      auto found = in_flight_.end();
      for (auto at = in_flight_.begin(); at != in_flight_.end(); ++at) {
        if (at->second.in == p && at->second.dest == top->unroutable_dest_o[p] && route_of(at->second).port == kPorts) {
          found = at;
          break;
        }
      }
      CHECK(found != in_flight_.end(), "port %u drops a packet to %08x that has a route", p,
            (unsigned)top->unroutable_dest_o[p]);
      auto& order = order_[{p * kChannels + found->second.channel, Route{}}];
      for (auto at = order.begin(); at != order.end(); ++at) {
        if (*at == found->first) {
          order.erase(at);
          break;
        }
      }
      flits_dropped_ += found->second.flits;
      in_flight_.erase(found);
      --outstanding_;
      ++dropped;
      latest = now;
    }
  }
  // The host changes tables when `empty` is set: then no flit may be inside or at an output.
  CHECK(!top->empty_o || (flits_out == out_before && flits_in_before_ <= flits_out + flits_dropped_),
        "cycle %llu: empty is set with %llu flits inside", (unsigned long long)now,
        (unsigned long long)(flits_in_before_ - flits_dropped_ - out_before));
}

void Bench::tick() {
  drive();
  top->clk_i = 0;
  top->eval();
  top->clk_i = 1;
  top->eval();
  ++now;
  if (top->rst_ni) observe();
}

void Bench::finish() {
  latest = now;
  while (outstanding_ != 0) {
    tick();
    CHECK(now - latest < kPatience, "%llu packets did not arrive", (unsigned long long)outstanding_);
  }
  // A dropped packet is reported when its head is read; the shared datapath reads a flit in three cycles.
  for (unsigned i = 0; i < 12 + 3 * kLongest; ++i) tick();
  CHECK(top->empty_o, "all packets have left, but the switch does not report empty");
}

}  // namespace switch_test
