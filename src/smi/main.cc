// SPDX-License-Identifier: Apache-2.0
/// The emulator's process: smi-emulator PLAN REPORT-FILE-NUMBER ARGUMENTS...
/// One of several processes that MPI starts: smi-emulator --mpi LIBRARY HOST PORT TOKEN ARGUMENTS...; it receives the
/// plan from that address.
/// The command writes the plan. Its lines are `program PATH`, `rank PROGRAM NAME`, `option NAME VALUE`, and `argument
/// RANK WORD`: a rank with such lines gets these arguments in place of those of the command line. With the RTL
/// transport also `boards LIBRARY`, `port NUMBER` in the order of the boards' ports, `block NUMBER` in the order of
/// their blocks, `fabric LINE` for the library, `dram SETTINGS` of each board's banks, and, for what is recorded
/// (activity.h), `name board NAME` in the order of the boards, `name link BOARD LINK NAME`, and `about JSON`.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "activity.h"
#include "banks.h"
#include "command.h"
#include "hardware.h"
#include "interrupt.h"
#include "outputs.h"
#include "processes.h"
#include "programs.h"
#include "runtime.h"

using namespace gossamer::smi;

namespace {

std::vector<char*> arguments;

struct Start {
  Main main;
  Rank* rank;
};

void runMain(void* context) {
  const auto* start = static_cast<Start*>(context);
  // Each rank gets its own argument strings: main may modify them.
  auto* own = new std::vector<std::string>(arguments.begin(), arguments.end());
  const std::vector<std::string>& ofRank = start->rank->arguments;
  if (!ofRank.empty()) {
    own->resize(1);
    own->insert(own->end(), ofRank.begin(), ofRank.end());
  }
  auto* list = new std::vector<char*>;
  for (std::string& argument : *own) list->push_back(argument.data());
  list->push_back(nullptr);
  start->rank->code = start->main(static_cast<int>(own->size()), list->data());
}

}  // namespace

int main(int count, char** values) {
  if (count < 3) return GS_EXIT_BUG;
  std::vector<std::string> programs;
  std::string boards, fabric;
  std::vector<int> ports, blocks;
  double seconds = 0;
  std::stringstream plan;
  int used = 3;
  if (std::string(values[1]) == "--mpi") {
    if (count < 6) return GS_EXIT_BUG;
    join(values[2]);
    plan << connectCommand(values[3], values[4], values[5], process);
    used = 6;
  } else {
    reportFile = std::atoi(values[2]);
    plan << std::ifstream(values[1]).rdbuf();
  }
  for (std::string line; std::getline(plan, line);) {
    std::istringstream in(line);
    std::string kind, name, value;
    in >> kind;
    if (kind == "program") {
      std::getline(in >> std::ws, value);
      programs.push_back(value);
    } else if (kind == "rank") {
      auto* rank = new Rank;
      rank->index = static_cast<int>(ranks.size());
      in >> rank->code >> rank->program;  // `code` holds the program's number until the rank starts
      ranks.push_back(rank);
    } else if (kind == "argument") {
      std::size_t rank = 0;
      in >> rank;
      in.get();
      std::getline(in, value);
      ranks[rank]->arguments.push_back(value);
    } else if (kind == "boards") {
      std::getline(in >> std::ws, boards);
    } else if (kind == "port" || kind == "block") {
      std::vector<int>& numbers = kind == "port" ? ports : blocks;
      numbers.push_back(0);
      in >> numbers.back();
    } else if (kind == "fabric") {
      std::getline(in, value);
      fabric += value + "\n";
    } else if (kind == "name") {
      in >> name;
      if (name == "board") {
        std::getline(in >> std::ws, value);
        activityOptions.boards.push_back(value);
      } else {
        ActivityOptions::LinkName& one = activityOptions.links.emplace_back();
        in >> one.board >> one.link;
        std::getline(in >> std::ws, one.name);
      }
    } else if (kind == "about") {
      std::getline(in >> std::ws, activityOptions.about);
    } else if (kind == "dram") {
      std::getline(in, value);
      makeBanks(value);
    } else {
      in >> name;
      std::getline(in >> std::ws, value);
      if (name == "slack")
        options.slack = std::stoi(value);
      else if (name == "seed")
        options.seed = std::stoull(value);
      else if (name == "operations")
        options.operations = std::stoull(value);
      else if (name == "stack")
        options.stack = std::stoull(value);
      else if (name == "ordered")
        options.ordered = true;
      else if (name == "timeout")
        seconds = std::stod(value);
      else if (name == "trace")
        activityOptions.trace = value;
      else if (name == "least-wait")
        activityOptions.leastWait = std::stoull(value);
      else if (name == "trace-bytes")
        activityOptions.traceBytes = std::stoull(value);
      else if (name == "status")
        activityOptions.statusFolder = value;
      else if (name == "link-bytes")
        activityOptions.linkBytes = std::stod(value);
      else if (name == "frame-overhead")
        activityOptions.frameOverhead = static_cast<unsigned>(std::stoul(value));
      else
        fail(GS_EXIT_BUG, "unknown option: " + name);
    }
  }
  arguments.push_back(values[0]);
  for (int at = used; at < count; ++at) arguments.push_back(values[at]);
  watchSignals(seconds);
  watchExit();
  for (Rank* rank : ranks) {
    rank->home =
        static_cast<int>(static_cast<std::size_t>(rank->index) * static_cast<std::size_t>(processes) / ranks.size());
  }
  allowFiles((ranks.size() + static_cast<std::size_t>(processes) - 1) / static_cast<std::size_t>(processes));
  makeWorld();
  if (!boards.empty()) makeHardware(boards, fabric, ports, blocks);
  for (Rank* rank : ranks) {
    const int program = rank->code;
    rank->code = 0;
    if (rank->home != process) continue;
    const std::string& path = programs[static_cast<std::size_t>(program)];
    start(*rank, "main", runMain, new Start{loadProgram(rank->index, program, path), rank}, false);
  }
  runAll();
  writeOutputs();
  int code = 0;
  for (const Rank* rank : ranks) {
    if (!code) code = rank->code & 0xff;
  }
  finished(code);
  std::fflush(nullptr);
  leaveTransport();
  // MPI treats any other code as a failure; the command reads the code from the report.
  return distributed() ? 0 : code;
}
