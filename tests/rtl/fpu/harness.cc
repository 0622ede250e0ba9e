// SPDX-License-Identifier: Apache-2.0
// Drives gs_fpu with the operations of a file and compares each response with the file's.
//
//   harness FILE SEED VALID READY SPLIT
//
// FILE: records of 24 bytes, little endian: op, rounding mode, flags, 0 (bytes), a, b, c, result, number (words).
// VALID, READY: percentage of cycles in which a core offers a request, and in which the receiver accepts a response.
// SPLIT 1: core 0 sends all divides and roots, the others all other operations; 0: any core sends the next record.
//
// Every thread of every core has at most one operation in flight. A response must be for a waiting thread, must be
// correct, and must not change while it waits. The test judges the line of figures at the end.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <vector>

#include "Vgs_fpu_bench.h"
#include "verilated.h"

namespace {

constexpr unsigned kCores = 4;
constexpr unsigned kThreads = 16;
constexpr unsigned kDiv = 7;
constexpr unsigned kSqrt = 8;
constexpr unsigned kClasses = 22;

struct Record {
    std::uint8_t op, mode, flags, zero;
    std::uint32_t a, b, c, result, number;
};
static_assert(sizeof(Record) == 24);

struct Flight {
    bool busy = false;
    std::size_t record = 0;
    std::uint64_t start = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 6) {
        std::fprintf(stderr, "harness FILE SEED VALID READY SPLIT\n");
        return 2;
    }
    std::vector<Record> records;
    if (std::FILE* file = std::fopen(argv[1], "rb")) {
        Record record;
        while (std::fread(&record, sizeof record, 1, file) == 1) records.push_back(record);
        std::fclose(file);
    }
    if (records.empty()) {
        std::fprintf(stderr, "%s: no records\n", argv[1]);
        return 2;
    }
    std::mt19937 random(static_cast<unsigned>(std::strtoul(argv[2], nullptr, 0)));
    const unsigned valid_share = static_cast<unsigned>(std::atoi(argv[3]));
    const unsigned ready_share = static_cast<unsigned>(std::atoi(argv[4]));
    const bool split = std::atoi(argv[5]) != 0;
    auto chance = [&](unsigned share) { return share >= 100 || random() % 100 < share; };

    // The records of each core: its own queue, or a common one.
    std::vector<std::deque<std::size_t>> queues(kCores);
    for (std::size_t i = 0; i < records.size(); i++) {
        const bool slow = records[i].op == kDiv || records[i].op == kSqrt;
        const std::size_t core = !split ? 0 : slow ? 0 : 1 + i % (kCores - 1);
        queues[core].push_back(i);
    }

    VerilatedContext context;
    Vgs_fpu_bench top(&context);
    Flight flights[kCores][kThreads];
    bool offered[kCores] = {};
    unsigned tid[kCores] = {};
    std::uint64_t cycle = 0, done = 0, accepted = 0, stalled = 0, last_progress = 0, errors = 0, overtaken = 0;
    std::uint64_t quickest[kClasses], slowest[kClasses] = {};
    for (std::uint64_t& value : quickest) value = ~0ull;
    std::uint64_t newest_done = 0;
    bool held = false;
    unsigned held_core = 0, held_tid = 0, held_flags = 0;
    std::uint32_t held_data = 0;

    top.clk_i = 0;
    top.rst_ni = 0;
    top.f_valid_i = 0;
    top.rsp_ready_i = 0;
    for (int i = 0; i < 6; i++) {
        top.clk_i = !top.clk_i;
        top.eval();
    }
    top.rst_ni = 1;

    while (done < records.size() && errors < 10) {
        // Inputs of this cycle. An offered request stays.
        for (unsigned core = 0; core < kCores; core++) {
            std::deque<std::size_t>& queue = queues[split ? core : 0];
            if (!offered[core] && !queue.empty() && chance(valid_share)) {
                const unsigned first = random() % kThreads;
                for (unsigned i = 0; i < kThreads && !offered[core]; i++) {
                    const unsigned thread = (first + i) % kThreads;
                    if (flights[core][thread].busy) continue;
                    const Record& record = records[queue.front()];
                    flights[core][thread] = {true, queue.front(), 0};
                    queue.pop_front();
                    offered[core] = true;
                    tid[core] = thread;
                    top.op_i[core] = record.op;
                    top.rm_i[core] = record.mode;
                    top.tid_i[core] = static_cast<unsigned char>(thread);
                    top.a_i[core] = record.a;
                    top.b_i[core] = record.b;
                    top.c_i[core] = record.c;
                }
            }
        }
        unsigned valid = 0;
        for (unsigned core = 0; core < kCores; core++) valid |= offered[core] ? 1u << core : 0u;
        top.f_valid_i = static_cast<unsigned char>(valid);
        top.rsp_ready_i = chance(ready_share);
        top.eval();

        const unsigned taken = valid & top.f_ready_o;
        if (taken & (taken - 1)) {
            std::printf("cycle %llu: two requests taken at once\n", static_cast<unsigned long long>(cycle));
            errors++;
        }
        stalled += valid != 0 && taken == 0;
        for (unsigned core = 0; core < kCores; core++) {
            if (!(taken >> core & 1)) continue;
            offered[core] = false;
            flights[core][tid[core]].start = cycle;
            accepted++;
            last_progress = cycle;
        }
        if (held && (!top.rsp_valid_o || top.rsp_core_o != held_core || top.rsp_tid_o != held_tid ||
                     top.rsp_data_o != held_data || top.rsp_flags_o != held_flags)) {
            std::printf("cycle %llu: a response changed while it waited\n", static_cast<unsigned long long>(cycle));
            errors++;
        }
        held = top.rsp_valid_o && !top.rsp_ready_i;
        held_core = top.rsp_core_o;
        held_tid = top.rsp_tid_o;
        held_data = top.rsp_data_o;
        held_flags = top.rsp_flags_o;
        if (top.rsp_valid_o && top.rsp_ready_i) {
            const unsigned core = top.rsp_core_o, thread = top.rsp_tid_o;
            Flight& flight = flights[core][thread];
            if (!flight.busy || (offered[core] && tid[core] == thread)) {
                std::printf("cycle %llu: a response to core %u thread %u, which waits for none\n",
                            static_cast<unsigned long long>(cycle), core, thread);
                errors++;
            } else {
                const Record& record = records[flight.record];
                if (top.rsp_data_o != record.result || top.rsp_flags_o != record.flags) {
                    std::printf("record %u: op %u mode %u a %08x b %08x c %08x: %08x flags %02x, must be %08x %02x\n",
                                record.number, record.op, record.mode, record.a, record.b, record.c, top.rsp_data_o,
                                top.rsp_flags_o, record.result, record.flags);
                    errors++;
                }
                const std::uint64_t took = cycle - flight.start;
                if (took < quickest[record.op]) quickest[record.op] = took;
                if (took > slowest[record.op]) slowest[record.op] = took;
                if (flight.start < newest_done) overtaken++;
                if (flight.start > newest_done) newest_done = flight.start;
                flight.busy = false;
                done++;
                last_progress = cycle;
            }
        }
        if (cycle - last_progress > 2000) {
            std::printf("cycle %llu: nothing moves; %llu of %zu done\n", static_cast<unsigned long long>(cycle),
                        static_cast<unsigned long long>(done), records.size());
            errors++;
            break;
        }
        top.clk_i = 1;
        top.eval();
        top.clk_i = 0;
        top.eval();
        cycle++;
    }
    // No further response may arrive.
    for (int i = 0; i < 200 && errors == 0; i++) {
        top.f_valid_i = 0;
        top.rsp_ready_i = 1;
        top.clk_i = 1;
        top.eval();
        top.clk_i = 0;
        top.eval();
        if (top.rsp_valid_o) {
            std::printf("a response after all were there\n");
            errors++;
        }
    }
    top.final();
    std::printf("records=%zu cycles=%llu accepted=%llu stalled=%llu overtaken=%llu errors=%llu\n", records.size(),
                static_cast<unsigned long long>(cycle), static_cast<unsigned long long>(accepted),
                static_cast<unsigned long long>(stalled), static_cast<unsigned long long>(overtaken),
                static_cast<unsigned long long>(errors));
    for (unsigned op = 0; op < kClasses; op++) {
        if (slowest[op] == 0) continue;
        std::printf("latency op=%u least=%llu most=%llu\n", op, static_cast<unsigned long long>(quickest[op]),
                    static_cast<unsigned long long>(slowest[op]));
    }
    return errors ? 1 : 0;
}
