// SPDX-License-Identifier: Apache-2.0
/// Perfetto traces of activity.h. Each board is a process with a track for each kernel, channel and collective, and
/// curves; an arrow leads from each message's first element at its sender to that at its receiver. One nanosecond of
/// the trace is one cycle. The file has a bounded size (sim/host/trace_decimation.h).
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "activity.h"
#include "perfetto.h"
#include "trace_decimation.h"

namespace gossamer::smi {

class ActivityTrace {
 public:
  enum class Group { kernels, channels, collectives };

  /// `least` is the shortest wait that is shown, `bytes` the largest size of the file.
  ActivityTrace(std::uint64_t least, std::uint64_t bytes);

  /// A new track of a board.
  std::uint32_t track(int board, Group group, const std::string& name);
  /// A wait of a kernel; waits of one kernel and site that follow without a pause are one.
  void wait(std::uint32_t track, std::uint64_t from, std::uint64_t to, const std::string& name, CallSite site);
  /// The life of a kernel.
  void life(std::uint32_t track, std::uint64_t from, std::uint64_t to);
  /// A message at one end, or a collective.
  void message(std::uint32_t track, std::uint64_t from, std::uint64_t to, const std::string& name, CallSite site,
               std::uint64_t elements);
  /// A message from its sender's track to its receiver's.
  void arrow(std::uint64_t from, std::uint64_t to, std::uint64_t id, std::uint32_t sender, std::uint32_t receiver);
  /// A curve of a board: a series times `scale`, for each cycle.
  void curve(int board, const std::string& name, const std::string& unit, const Series& series, double scale);

  /// Writes the file, up to this cycle; false if it could not be written completely.
  bool write(const std::string& path, std::uint64_t end);
  /// A sentence about what the file does not show; empty if it shows everything.
  std::string omitted() const;

 private:
  struct Track {
    int board;
    Group group;
    std::string name;
  };
  struct Life {
    std::uint32_t track;
    std::uint64_t from, to;
  };
  struct Curve {
    int board;
    std::string name, unit;
    const Series* series;
    double scale;
  };
  struct Item;

  const char* keep(const std::string& name);
  std::uint32_t keep(CallSite site);
  void flush(sim::Span& pending);
  void describe(const sim::Span& span, bool elements);
  void writeTracks(std::uint64_t end);
  void writeItems();
  void writeCurves(std::uint64_t end);
  std::uint64_t boardId(int board) const { return 2 + static_cast<std::uint64_t>(board); }
  std::uint64_t groupId(int board, unsigned group) const;
  std::uint64_t trackId(std::uint32_t track) const;
  std::uint64_t curveId(std::size_t curve) const;

  sim::perfetto::File file_;
  std::uint64_t bytes_;
  int boards_ = 0;
  std::vector<Track> tracks_;
  std::vector<Life> lives_;
  std::vector<Curve> curves_;
  std::vector<sim::Span> pending_;  ///< the last wait of each track
  std::set<std::string> names_;
  std::unordered_map<CallSite, std::uint32_t> siteNumbers_;
  std::vector<std::string> sites_;  ///< file and line of each
  std::vector<CallSite> siteAddresses_;
  sim::TraceDecimation waits_, messages_;
};

}  // namespace gossamer::smi
