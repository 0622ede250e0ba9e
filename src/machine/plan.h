// SPDX-License-Identifier: Apache-2.0
/// The structure of a machine: its boards and tiles, jobs, and all tables of its topology. Python makes it
/// (gossamer.engines._rtl_plan) for every user, as text: a line for each fact.
///
/// - `config NAME`, `cluster NAME`.
/// - `shape TILES WIDTH THREADS CORE LINE DRAMS`, of a board: tiles, columns of its mesh, threads of a tile and of a
///   core, bytes of a memory line, DRAMs.
/// - `tile`: a tile alone, without a board: no control unit, tables or jobs.
/// - `board NAME`: each board, in the order of their numbers.
/// - `hosts BOARD...`: the board of each host.
/// - `job BOARD...`: the boards of each job, in the order of their numbers.
/// - `streams JOB FIRST COUNT`: streaming ports that a job has on each of its boards, or on all if it has none.
/// - `guest NUMBER BOARD...`: the plan is of one job on boards that another host configures: the job's number, and
/// those
///   of its boards, which the plan numbers from 0. The other facts of such a plan are its shape, names, host and job.
/// - `up BOARD LINK NAME`: before the next board is configured, this link of a configured one must be up; NAME of the
///   cable.
/// - `routes BOARD ENTRY...`: switch entries for all boards, then for all hosts; in the order of configuration: a board
///   after those between it and the first host.
/// - `relay BOARD CHILD...`: the tree of broadcasts.
/// - `idle BOARD PARENT CHILD...`: the tree of idle detection, parents first; the root is its own parent.
/// - `hops LINK CHANNEL BOARD ...`: for each pair of boards the next hop; the sender itself without a route.
/// - `patience UP DRAIN`: cycles for a link to come up, and for packets in flight to arrive.
/// - `drain REASON`: the tables must not be in use together with the previous ones.
/// - `end`: the last line.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace gossamer::machine {

/// The next hop from one board to another.
struct Hop {
  uint32_t link = 0, channel = 0, next = 0;
};

struct Plan {
  struct Up {
    uint32_t board = 0, link = 0;
    std::string cable;
  };
  struct Routes {
    uint32_t board = 0;
    std::vector<Up> up;
    std::vector<uint8_t> boards, hosts;
  };
  /// Streaming ports of a job on each of its boards.
  struct Streams {
    uint32_t first = 0, count = 0;
  };
  struct Node {
    uint32_t board = 0, parent = 0;
    std::vector<uint32_t> children;
  };

  std::string config, cluster;
  uint32_t tiles = 1, width = 1, threads = 1, core_threads = 1, line = 32, drams = 1;
  bool alone = false;  ///< a tile without a board
  std::vector<std::string> names;
  std::vector<uint32_t> hosts;
  std::vector<std::vector<uint32_t>> jobs;
  std::vector<Streams> streams;  ///< by job
  std::vector<Routes> routes;
  std::vector<Node> relays, idle;
  std::vector<Hop> hops;
  uint64_t up_cycles = 0, drain_cycles = 0;
  std::string drain;
  unsigned guest = kNobody;       ///< the number of the only job of this plan on boards that another host configures
  std::vector<uint32_t> numbers;  ///< of a guest's boards among all boards

  static constexpr unsigned kNobody = ~0U;
  bool is_guest() const { return guest != kNobody; }
  /// Reads the text; `name` is that of its source in messages. Throws Error (Input).
  static Plan read(std::istream& text, const std::string& name);
  static Plan read_file(const std::string& path);

  uint32_t boards() const { return alone ? 1 : static_cast<uint32_t>(names.size()); }
  /// The name of a board, given by its number on the boards' network.
  std::string name_of(uint32_t number) const;
  /// The job of a board; kNoJob if it has none.
  unsigned job_of(uint32_t board) const;
  /// The next hop; null if no route leads there.
  const Hop* hop(uint32_t from, uint32_t to) const;
};

}  // namespace gossamer::machine
