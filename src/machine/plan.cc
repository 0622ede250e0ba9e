// SPDX-License-Identifier: Apache-2.0
#include "machine/plan.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "machine/packets.h"

namespace gossamer::machine {
namespace {

std::vector<uint32_t> integers(std::istream& words) {
  std::vector<uint32_t> found;
  for (uint32_t number; words >> number;) found.push_back(number);
  if (!words.eof()) words.setstate(std::ios::badbit);
  return found;
}

std::string rest(std::istream& words) {
  std::string text;
  std::getline(words >> std::ws, text);
  return text;
}

Error bad(const std::string& name, const std::string& what) { return {Error::Kind::Input, name + ": " + what}; }

}  // namespace

Plan Plan::read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw bad(path, "cannot be read");
  return read(file, path);
}

Plan Plan::read(std::istream& text, const std::string& name) {
  Plan plan;
  std::vector<Up> up;
  bool ended = false;
  unsigned number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    std::istringstream words(line);
    std::string key;
    words >> key;
    bool good = true;
    if (key == "config") {
      plan.config = rest(words);
    } else if (key == "cluster") {
      plan.cluster = rest(words);
    } else if (key == "shape") {
      good = static_cast<bool>(words >> plan.tiles >> plan.width >> plan.threads >> plan.core_threads >> plan.line >>
                               plan.drams) &&
             plan.tiles && plan.width && plan.threads && plan.line && plan.drams;
    } else if (key == "tile") {
      plan.alone = true;
    } else if (key == "board") {
      plan.names.push_back(rest(words));
    } else if (key == "hosts") {
      plan.hosts = integers(words);
    } else if (key == "job") {
      plan.jobs.push_back(integers(words));
      plan.streams.emplace_back();
    } else if (key == "streams") {
      uint32_t job = 0;
      Streams one;
      good = static_cast<bool>(words >> job >> one.first >> one.count) && job < plan.streams.size();
      if (good) plan.streams[job] = one;
    } else if (key == "guest") {
      good = static_cast<bool>(words >> plan.guest) && plan.guest < kNoJob;
      plan.numbers = integers(words);
    } else if (key == "up") {
      Up& one = up.emplace_back();
      good = static_cast<bool>(words >> one.board >> one.link);
      one.cable = rest(words);
    } else if (key == "routes") {
      Routes& one = plan.routes.emplace_back();
      good = static_cast<bool>(words >> one.board);
      const auto entries = integers(words);
      const size_t boards = plan.names.size();
      good = good && entries.size() == boards + plan.hosts.size() && one.board < boards;
      if (good) {
        one.boards.assign(entries.begin(), entries.begin() + static_cast<ptrdiff_t>(boards));
        one.hosts.assign(entries.begin() + static_cast<ptrdiff_t>(boards), entries.end());
      }
      one.up.swap(up);
    } else if (key == "relay" || key == "idle") {
      Node& one = (key == "relay" ? plan.relays : plan.idle).emplace_back();
      good = static_cast<bool>(words >> one.board) && (key == "relay" || words >> one.parent);
      one.children = integers(words);
      good = good && one.board < plan.names.size() && one.children.size() <= 8;
    } else if (key == "hops") {
      for (Hop hop; words >> hop.link >> hop.channel >> hop.next;) plan.hops.push_back(hop);
    } else if (key == "patience") {
      good = static_cast<bool>(words >> plan.up_cycles >> plan.drain_cycles);
    } else if (key == "drain") {
      plan.drain = rest(words);
    } else if (key == "end") {
      ended = true;
    } else {
      good = false;
    }
    if (!good || words.bad()) throw bad(name + ":" + std::to_string(number), "is no fact about a machine: " + line);
  }
  const size_t boards = plan.names.size();
  if (!ended) throw bad(name, "is truncated");
  const auto beyond = [&](uint32_t board) { return board >= boards; };
  bool whole = plan.alone || ((boards || plan.is_guest()) && !plan.hosts.empty() && !plan.jobs.empty());
  whole = whole && (plan.alone || (plan.is_guest() ? plan.numbers.size() : plan.routes.size()) == boards);
  whole = whole && (plan.hops.empty() || plan.hops.size() == boards * boards);
  whole = whole && (plan.is_guest() || std::none_of(plan.hosts.begin(), plan.hosts.end(), beyond));
  for (size_t job = 0; job < plan.jobs.size(); ++job) {
    const auto& its = plan.jobs[job];
    whole = whole && (!its.empty() || plan.streams[job].count) && std::none_of(its.begin(), its.end(), beyond);
  }
  if (!whole) throw bad(name, "describes no machine");
  return plan;
}

std::string Plan::name_of(uint32_t number) const {
  for (size_t board = 0; board < names.size(); ++board) {
    if ((is_guest() ? numbers[board] : board) == number) return names[board];
  }
  return std::to_string(number);
}

unsigned Plan::job_of(uint32_t board) const {
  if (alone) return 0;
  for (unsigned job = 0; job < jobs.size(); ++job) {
    if (std::find(jobs[job].begin(), jobs[job].end(), board) != jobs[job].end()) return job;
  }
  return kNoJob;
}

const Hop* Plan::hop(uint32_t from, uint32_t to) const {
  const size_t at = size_t{from} * boards() + to;
  return at < hops.size() && hops[at].next != from ? &hops[at] : nullptr;
}

}  // namespace gossamer::machine
