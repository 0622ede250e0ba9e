// SPDX-License-Identifier: Apache-2.0
// match_axi SEED: the C example through the registers, random requests through the streams, rejected accesses.
#include <deque>
#include <memory>
#include <random>

#include "Vgs_match_axi.h"
#include "check.h"
#include "gossamer/match/axi.h"
#include "models/match/reference.h"
#include "verilated.h"

// The example, unmodified.
#define GS_MATCH_NO_MAIN
#include "../../../examples/match/host.c"

namespace {

using gossamer::match::Command;
using gossamer::match::Completion;
using gossamer::match::Op;
using gossamer::match::Reference;
using gossamer::match::Status;

struct Axi {
  std::unique_ptr<Vgs_match_axi> top = std::make_unique<Vgs_match_axi>();
  std::mt19937_64 random;
  unsigned response = 0;
  explicit Axi(uint64_t seed) : random(seed) {
    top->rst_ni = 0;
    for (int i = 0; i < 4; ++i) tick();
    top->rst_ni = 1;
    tick();
  }
  void tick() {
    top->clk_i = 0;
    top->eval();
    top->clk_i = 1;
    top->eval();
  }
  void settle() {
    top->clk_i = 0;
    top->eval();
  }
  void write(uint32_t offset, uint32_t value, unsigned strobe = 15) {
    // Address and data arrive in any order.
    const bool address_first = random() % 2, apart = random() % 2;
    top->s_axil_awaddr_i = offset;
    top->s_axil_wdata_i = value;
    top->s_axil_wstrb_i = strobe;
    top->s_axil_awvalid_i = address_first || !apart;
    top->s_axil_wvalid_i = !address_first || !apart;
    if (apart) tick();
    top->s_axil_awvalid_i = top->s_axil_wvalid_i = 1;
    for (int i = 0;; ++i) {
      CHECK(i < 100, "a write of %#x is not accepted", offset);
      settle();
      const bool taken = top->s_axil_awready_o && top->s_axil_wready_o;
      tick();
      if (taken) break;
    }
    top->s_axil_awvalid_i = top->s_axil_wvalid_i = 0;
    for (unsigned wait = random() % 3; wait; --wait) tick();
    settle();
    CHECK(top->s_axil_bvalid_o, "a write of %#x is not answered", offset);
    response = top->s_axil_bresp_o;
    top->s_axil_bready_i = 1;
    tick();
    top->s_axil_bready_i = 0;
  }
  uint32_t read(uint32_t offset) {
    top->s_axil_araddr_i = offset;
    top->s_axil_arvalid_i = 1;
    for (int i = 0;; ++i) {
      CHECK(i < 100, "a read of %#x is not accepted", offset);
      settle();
      const bool taken = top->s_axil_arready_o;
      tick();
      if (taken) break;
    }
    top->s_axil_arvalid_i = 0;
    for (unsigned wait = random() % 3; wait; --wait) tick();
    settle();
    CHECK(top->s_axil_rvalid_o, "a read of %#x is not answered", offset);
    response = top->s_axil_rresp_o;
    const uint32_t value = top->s_axil_rdata_o;
    top->s_axil_rready_i = 1;
    tick();
    top->s_axil_rready_i = 0;
    return value;
  }
};

uint32_t read_register(void* axi, uint32_t offset) { return static_cast<Axi*>(axi)->read(offset); }
void write_register(void* axi, uint32_t offset, uint32_t value) { static_cast<Axi*>(axi)->write(offset, value); }

/// Random posts and arrivals through the streams; compares the low word of a completion and its status.
void streams(Axi& axi, unsigned count) {
  Reference reference;
  std::deque<Completion> expected;
  uint64_t by_status[5] = {};
  unsigned sent = 0;
  bool offering = false;
  uint32_t before[5];
  for (unsigned i = 0; i < 5; ++i) before[i] = axi.read(GS_MATCH_COUNTERS + 4 * i);
  for (unsigned cycle = 0; sent < count || !expected.empty(); ++cycle) {
    CHECK(cycle < count * 100, "%zu requests are not answered", expected.size());
    Vgs_match_axi& top = *axi.top;
    Command c;
    if (!offering && sent < count && axi.random() % 2) {
      c.op = axi.random() % 2 ? Op::kPost : Op::kArrive;
      c.source = static_cast<uint16_t>(axi.random() % 4);
      c.tag = static_cast<uint32_t>(axi.random() % 4);
      c.any_source = c.op == Op::kPost && axi.random() % 4 == 0;
      c.handle = sent;
      top.s_axis_tdata_i[0] = c.handle;
      top.s_axis_tdata_i[1] = c.tag;
      top.s_axis_tdata_i[2] = c.source;
      top.s_axis_tdata_i[3] = static_cast<uint32_t>(c.op) << 21 | static_cast<uint32_t>(c.any_source) << 20;
      offering = true;
      const Completion must = reference.apply(c);
      expected.push_back(must);
      ++by_status[static_cast<int>(must.status)];
    }
    top.s_axis_tvalid_i = offering;
    top.m_axis_tready_i = axi.random() % 2;
    axi.settle();
    if (top.m_axis_tvalid_o && top.m_axis_tready_i) {
      CHECK(!expected.empty(), "a completion without a request");
      const Completion must = expected.front();
      expected.pop_front();
      const auto status = static_cast<Status>(top.m_axis_tdata_o[3] >> 25 & 7);
      CHECK(status == must.status && top.m_axis_tdata_o[1] == must.handle &&
                (status != Status::kMatched || top.m_axis_tdata_o[0] == must.partner),
            "request %u: status %d, must be %d", must.handle, (int)status, (int)must.status);
    }
    if (offering && top.s_axis_tready_o) {
      offering = false;
      ++sent;
    }
    axi.tick();
  }
  axi.top->s_axis_tvalid_i = axi.top->m_axis_tready_i = 0;
  CHECK(axi.read(GS_MATCH_POSTS) == reference.posts().size(), "wrong count of waiting receives");
  CHECK(axi.read(GS_MATCH_MESSAGES) == reference.messages().size(), "wrong count of waiting messages");
  for (unsigned i = 0; i < 5; ++i) {
    CHECK(axi.read(GS_MATCH_COUNTERS + 4 * i) - before[i] == by_status[i], "wrong count of status %u", i);
  }
}

/// A program ends at some point of a request, and another opens the window; one requests a nonexistent rank.
void programs_that_end(Axi& axi, const gs_match_bus& bus) {
  const uint32_t seed[4] = {1, 2, 3, 4};
  const gs_match_request probe = {GS_MATCH_PROBE, 1, 1, 0, 5, 0, 7, 0, 0, 77, 0};
  const auto asks = [&](unsigned words) {
    const uint32_t word[4] = {99, 0, 0, static_cast<uint32_t>(Op::kTake) << 21 | 3u << 19};
    for (unsigned i = 0; i < words; ++i) axi.write(GS_MATCH_COMMAND + 4 * i, word[i]);
  };
  // Words of the request written, cycles waited, words of the completion read
  for (unsigned written = 0; written <= 4; ++written) {
    for (unsigned waits = 0; waits < 8; ++waits) {
      for (unsigned taken = 0; taken < (written == 4 && waits == 7 ? 5 : 1); ++taken) {
        asks(written);
        for (unsigned i = 0; i < waits; ++i) axi.tick();
        for (unsigned i = 0; i < taken; ++i) axi.read(GS_MATCH_COMPLETION + 4 * i);
        CHECK(gs_match_open(&bus, seed) == 0, "the window does not open after %u words", written);
        const gs_match_result got = gs_match_do(&bus, &probe);
        CHECK(got.status == GS_MATCH_NONE && got.handle == probe.handle,
              "after %u words and %u cycles: status %d of %u", written, waits, (int)got.status, got.handle);
      }
    }
  }
  // A program leaves a receive and a message, and the next program clears the engine.
  gs_match_request left = {GS_MATCH_POST, 0, 0, 0, 5, 0, 7, 1, 1, 78, 0};
  CHECK(gs_match_do(&bus, &left).status == GS_MATCH_WAITING, "a receive does not wait");
  left.op = GS_MATCH_ARRIVE;
  left.tag = 2;
  CHECK(gs_match_do(&bus, &left).status == GS_MATCH_WAITING, "a message does not wait");
  CHECK(axi.read(GS_MATCH_POSTS) == 1 && axi.read(GS_MATCH_MESSAGES) == 1, "wrong counts");
  left.op = GS_MATCH_CLEAR;
  CHECK(gs_match_do(&bus, &left).status == GS_MATCH_MATCHED, "the engine is not cleared");
  CHECK(axi.read(GS_MATCH_POSTS) == 0 && axi.read(GS_MATCH_MESSAGES) == 0, "entries are left after a clear");
  CHECK(gs_match_do(&bus, &probe).status == GS_MATCH_NONE, "a message is found after a clear");
  asks(4);
  CHECK(gs_match_do(&bus, &probe).status == GS_MATCH_STRAY, "another program's completion is accepted");
  CHECK(gs_match_open(&bus, seed) == 0 && gs_match_do(&bus, &probe).status == GS_MATCH_NONE, "no recovery from it");

  uint32_t before = 0, after = 0;
  for (unsigned i = 0; i < 5; ++i) before += axi.read(GS_MATCH_COUNTERS + 4 * i);
  for (const unsigned rank : {1024u, 1029u, 65'535u}) {
    gs_match_request wrong = probe;
    wrong.rank = static_cast<uint16_t>(rank);
    CHECK(gs_match_do(&bus, &wrong).status == GS_MATCH_BAD, "rank %u is requested", rank);
  }
  for (unsigned i = 0; i < 5; ++i) after += axi.read(GS_MATCH_COUNTERS + 4 * i);
  CHECK(before == after, "a nonexistent rank has reached the engine");

  // Streams in use: the window must not open while the engine has a request or a completion waits.
  axi.write(GS_MATCH_CONTROL, 0);
  Vgs_match_axi& top = *axi.top;
  top.s_axis_tdata_i[3] = static_cast<uint32_t>(Op::kTake) << 21;
  top.s_axis_tvalid_i = 1;
  axi.settle();
  CHECK(top.s_axis_tready_o, "an idle engine accepts no request");
  top.s_axil_awaddr_i = GS_MATCH_CONTROL;
  top.s_axil_wdata_i = 1;
  top.s_axil_wstrb_i = 15;
  // The write in the cycle of the request, then one in each cycle until the completion is available.
  for (unsigned cycle = 0; cycle < 12; ++cycle) {
    top.s_axil_awvalid_i = top.s_axil_wvalid_i = cycle % 2 == 0;
    top.s_axil_bready_i = 1;
    axi.tick();
    top.s_axis_tvalid_i = 0;
    axi.settle();
    CHECK(!top.s_axil_bvalid_o || top.s_axil_bresp_o == 2, "cycle %u: the window opens during a request", cycle);
  }
  top.s_axil_awvalid_i = top.s_axil_wvalid_i = 0;
  axi.tick();
  top.s_axil_bready_i = 0;
  CHECK(gs_match_open(&bus, seed) == -1, "the window is reported open while a completion waits");
  top.m_axis_tready_i = 1;
  axi.settle();
  CHECK(top.m_axis_tvalid_o, "the completion is lost");
  axi.tick();
  top.m_axis_tready_i = 0;
  CHECK(gs_match_open(&bus, seed) == 0, "the window does not open");
}

/// Requests through the streams, all completions accepted at once; cycles until the last is answered.
unsigned through_streams(Axi& axi, Op op, unsigned count, Status must) {
  Vgs_match_axi& top = *axi.top;
  unsigned cycles = 0;
  top.m_axis_tready_i = 1;
  for (unsigned sent = 0, done = 0; done < count; ++cycles) {
    CHECK(cycles < 1'000'000, "%u requests are not answered", count - done);
    top.s_axis_tvalid_i = sent < count;
    top.s_axis_tdata_i[0] = top.s_axis_tdata_i[1] = sent;
    top.s_axis_tdata_i[2] = 0;
    top.s_axis_tdata_i[3] = static_cast<uint32_t>(op) << 21;
    axi.settle();
    if (top.m_axis_tvalid_o) {
      const auto status = static_cast<Status>(top.m_axis_tdata_o[3] >> 25 & 7);
      CHECK(status == must && top.m_axis_tdata_o[1] == done, "request %u: status %d, must be %d", done, (int)status,
            (int)must);
      ++done;
    }
    if (top.s_axis_tvalid_i && top.s_axis_tready_o) ++sent;
    axi.tick();
  }
  top.s_axis_tvalid_i = top.m_axis_tready_i = 0;
  return cycles;
}

/// Receives of a thousand tags and a message for each: bounds the average number of cycles per request.
void no_bin_has_all(Axi& axi, const char* when) {
  constexpr unsigned kTags = 1000, kMost = 24;
  const unsigned posts = through_streams(axi, Op::kPost, kTags, Status::kWaiting);
  const unsigned arrivals = through_streams(axi, Op::kArrive, kTags, Status::kMatched);
  CHECK(posts < kTags * kMost && arrivals < kTags * kMost, "%s: %u receives take %u cycles, as many messages %u", when,
        kTags, posts, arrivals);
}

}  // namespace

int main(int argc, char** argv) {
  Axi axi(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1);
  constexpr unsigned kOkay = 0, kError = 2;
  // Undefined accesses
  axi.read(0xFC);
  CHECK(axi.response == kError, "an undefined register can be read");
  axi.write(GS_MATCH_POSTS, 1);
  CHECK(axi.response == kError, "a read-only register can be written");
  axi.write(GS_MATCH_COMMAND + 12, 0);
  CHECK(axi.response == kError, "a request is accepted while the window is closed");
  axi.write(GS_MATCH_CONTROL, 1, 1);
  CHECK(axi.response == kError, "part of a register can be written");
  CHECK(axi.read(GS_MATCH_CONTROL) == 0 && axi.response == kOkay, "a rejected write has an effect");
  axi.read(GS_MATCH_COMPLETION);
  CHECK(axi.response == kError, "a completion can be read when none is available");

  if (GS_ARCHITECTURE == 0) {
    no_bin_has_all(axi, "after reset");
    for (unsigned i = 0; i < 4; ++i) axi.write(GS_MATCH_SEED + 4 * i, 0);
    no_bin_has_all(axi, "with a seed of zeros");
  }

  const gs_match_bus bus{&axi, read_register, write_register};
  const int wrong = match_example(&bus);
  CHECK(wrong == 0, "%d answers of the example are wrong", wrong);
  programs_that_end(axi, bus);
  axi.write(GS_MATCH_CONTROL, 0);
  CHECK(axi.response == kOkay, "the window does not close");
  streams(axi, 5000);
  axi.top->final();
}
