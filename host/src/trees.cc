// SPDX-License-Identifier: Apache-2.0
#include <gossamer/host/routers.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "board.h"
#include "python_helper.h"

namespace gossamer::host {

void RouterTables::check(const char* call) const {
  const auto board = Board::open();
  const Board::Lock lock(*board);
  // Contents of the boards' memories: a key may refer to records of an earlier, longer table.
  static auto& written = *new std::vector<std::vector<uint8_t>>;
  written.resize(tables_.size());
  const char* folder = std::getenv("GOSSAMER_POLITE");
  if (!folder) reject_call(call, kNotStarted);
  const std::string path = std::string(folder) + "/.trees";
  {
    std::ofstream file(path, std::ios::binary);
    const auto put = [&](const auto* from, size_t count) {
      file.write(reinterpret_cast<const char*>(from), static_cast<std::streamsize>(count * sizeof *from));
    };
    for (size_t i = 0; i < tables_.size(); ++i) {
      const RouterTable& table = *tables_[i];
      std::vector<uint8_t>& there = written[i];
      there.resize(std::max(there.size(), table.size()));
      std::copy_n(table.data(), table.size(), there.begin());
      const uint32_t head[] = {RouterTable::first_beat(), static_cast<uint32_t>(there.size()),
                               static_cast<uint32_t>(table.keys().size())};
      put(head, 3);
      put(table.keys().data(), table.keys().size());
      put(there.data(), there.size());
    }
    file.close();
    if (!file) reject_call(call, path + ": cannot be written");
  }
  run_module(call, "gossamer.polite.trees", {board->plan_file(), path, call});
}

}  // namespace gossamer::host
