// SPDX-License-Identifier: Apache-2.0
#include <gossamer/host/vertices.h>

#include <gossamer/device_config.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

#include "board.h"
#include "python_helper.h"

namespace gossamer::host {
namespace {

constexpr uint32_t kNowhere = 0xFFFFFFFF;   ///< the piece of a deleted vertex
constexpr uint32_t kToVertex = 0x80000000;  ///< HostToVertex of device/include/gossamer/hosted.h

/// The graph that was written last, to address messages of the host to its vertices.
struct Written {
  uint32_t stride = 0;                     ///< bytes from state to state; 0: there is no graph
  std::map<uint32_t, uint32_t> on_thread;  ///< vertices, by the thread's address
};
Written& written() {
  static Written& its = *new Written;  // hosts may send while they end
  return its;
}

/// Files that the command has named for the mapper, which is a separate program (gossamer.polite.mapping).
struct Mapper {
  std::string settings;  ///< file that describes boards and programs
  std::string problem;   ///< file for the graph
  std::string tables;    ///< file for the mapper's tables

  static Mapper read() {
    const char* folder = std::getenv("GOSSAMER_POLITE");
    if (!folder) reject_call("PGraph::map", kNotStarted);
    const std::string at = std::string(folder) + "/";
    return {at + "settings.pickle", at + "problem", at + "tables"};
  }
};

template <typename T>
void put(std::ofstream& file, const std::vector<T>& values) {
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

class Reader {
 public:
  explicit Reader(const std::string& path) : file_(path, std::ios::binary), path_(path) {}
  template <typename T>
  std::vector<T> take(size_t count) {
    std::vector<T> values(count);
    file_.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
    if (!file_) reject_call("PGraph::map", path_ + ": is cut short");
    return values;
  }

 private:
  std::ifstream file_;
  std::string path_;
};

}  // namespace


/// A piece of the tables, in the memory that a tile uses.
struct Piece {
  uint32_t tile, address;
  std::vector<uint8_t> data;
};

struct Vertices::Tables {
  std::vector<Piece> pieces;
  /// By vertex: the piece with its state, and the offset in it.
  std::vector<uint32_t> piece;
  std::vector<uint32_t> at;
  /// The same for each thread's header.
  std::vector<uint32_t> header_piece;
  std::vector<uint32_t> header_at;
  uint64_t header_bytes = 0;
  uint64_t edge_bytes = 0;  ///< of an edge and its vertex
};

namespace {

/// Words that a thread writes to its header: PoliteHeader of device/include/gossamer/softswitch.h.
enum HeaderWord : size_t {
  kStatus = 9,
  kSteps = 10,
  kSends = 11,
  kDelivered = 12,
  kHostMessages = 13,
  kRetired = 16,
  kAggregates = 17
};
constexpr uint32_t kGivenUp = 2;  ///< PoliteStatus

uint32_t word(const uint8_t* header, HeaderWord which) {
  uint32_t value = 0;
  std::memcpy(&value, header + 4 * which, sizeof value);
  return value;
}

/// Reads from each piece the bytes that cover the given items, each `size` bytes long.
std::vector<std::vector<uint8_t>> read_pieces(const std::vector<Piece>& pieces, const std::vector<uint32_t>& piece,
                                              const std::vector<uint32_t>& at, uint64_t bytes) {
  const char* call = "Job::recv";
  std::vector<uint64_t> begin(pieces.size(), ~uint64_t{0}), end(pieces.size(), 0);
  for (size_t i = 0; i < piece.size(); ++i) {
    if (piece[i] == kNowhere) continue;
    begin[piece[i]] = std::min<uint64_t>(begin[piece[i]], at[i]);
    end[piece[i]] = std::max(end[piece[i]], at[i] + bytes);
  }
  const auto board = Board::open();
  const Board::Lock lock(*board);
  std::vector<std::vector<uint8_t>> found(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (!end[i]) continue;
    // Whole words; each piece begins at a line.
    const uint64_t first = begin[i] / 4 * 4;
    const auto count = static_cast<uint32_t>((end[i] - first + 3) / 4);
    const uint32_t core = pieces[i].tile * TinselCoresPerMailbox;
    board->set_address(core, pieces[i].address + static_cast<uint32_t>(first));
    const std::vector<uint32_t> words = board->load(call, core, count);
    found[i].resize(first + size_t{count} * 4);
    std::memcpy(found[i].data() + first, words.data(), size_t{count} * 4);
  }
  return found;
}

}  // namespace

void Vertices::map() {
  const auto begun = std::chrono::steady_clock::now();
  const Mapper mapper = Mapper::read();
  {
    std::ofstream file(mapper.problem, std::ios::binary);
    put(file, std::vector<uint64_t>{count, pins.size(), stateBytes, edgeBytes, messageBytes, boardsX, boardsY,
                                    params.size(), type.size(), marks.size()});
    put(file, params);
    file << type;
    put(file, marks);
    for (const Edges& one : pins) {
      put(file, one.offsets);
      put(file, one.targets);
      put(file, one.values);
    }
    file.close();
    if (!file) reject_call("PGraph::map", mapper.problem + ": cannot be written");
  }
  run_module("PGraph::map", "gossamer.polite.mapping", {mapper.settings, mapper.problem, mapper.tables});

  Reader reader(mapper.tables);
  auto tables = std::make_shared<Tables>();
  threads = reader.take<uint32_t>(count);
  locals = reader.take<uint32_t>(count);
  tables->piece = reader.take<uint32_t>(count);
  tables->at = reader.take<uint32_t>(count);
  const uint64_t pieces = reader.take<uint64_t>(1)[0];
  for (uint64_t i = 0; i < pieces; ++i) {
    const auto head = reader.take<uint32_t>(2);
    const uint64_t size = reader.take<uint64_t>(1)[0];
    tables->pieces.push_back({head[0], head[1], reader.take<uint8_t>(size)});
  }
  const auto rest = reader.take<uint64_t>(3);
  tables->header_bytes = rest[1];
  tables->edge_bytes = rest[2];
  tables->header_piece = reader.take<uint32_t>(rest[0]);
  tables->header_at = reader.take<uint32_t>(rest[0]);
  memories.resize(rest[0]);
  const auto addresses = reader.take<uint32_t>(rest[0]);
  for (size_t thread = 0; thread < memories.size(); ++thread) memories[thread].thread = addresses[thread];
  for (unsigned region = 0; region < kRegions; ++region) {
    const auto base = reader.take<uint32_t>(rest[0]), bytes = reader.take<uint32_t>(rest[0]);
    const auto piece = reader.take<uint32_t>(rest[0]), at = reader.take<uint32_t>(rest[0]);
    for (size_t thread = 0; thread < memories.size(); ++thread) {
      uint8_t* const data = bytes[thread] ? tables->pieces[piece[thread]].data.data() + at[thread] : nullptr;
      memories[thread].regions[region] = {data, bytes[thread], base[thread]};
    }
  }
  tables_ = tables;
  if (chatty) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begun;
    std::fprintf(stderr, "PGraph::map: %u devices, %.2f s\n", count, elapsed.count());
  }
}

void address_vertex(const char* call, uint32_t thread, uint32_t* words) {
  const Written& graph = written();
  if (!graph.stride) return;
  const char* receives_messages = std::getenv("GOSSAMER_POLITE_HEARS");
  if (!receives_messages || *receives_messages != '1') reject_call(call, kNotCompiledForMessages);
  const auto found = graph.on_thread.find(thread);
  const uint32_t count = found == graph.on_thread.end() ? 0 : found->second;
  if (words[0] >= count) {
    reject_call(call, "there is no device " + std::to_string(words[0]) + " on that thread (PMessage::destKey), which "
                      "has " +
                      std::to_string(count) + "; use getThreadId and getLocalDeviceId of toDeviceAddr");
  }
  words[0] = kToVertex | words[0] * graph.stride;
}

void address_by_key() { written() = {}; }

void Vertices::write(const void* states) {
  written() = {std::max<uint32_t>(2, stateBytes), {}};
  for (const uint32_t thread : threads) ++written().on_thread[thread];
  auto pieces = std::make_shared<std::vector<Piece>>(tables_->pieces);
  for (uint32_t i = 0; i < count; ++i) {
    if (tables_->piece[i] == kNowhere) continue;
    std::memcpy((*pieces)[tables_->piece[i]].data.data() + tables_->at[i],
                static_cast<const uint8_t*>(states) + size_t{i} * stateBytes, stateBytes);
  }
  // Written just before the start: programs write the graph first and then load code and data, which would overwrite
  // it.
  Board::open()->before_start([pieces](Board& board) {
    for (const Piece& piece : *pieces) {
      board.write_memory("PGraph::write", piece.tile, piece.address, piece.data.data(), piece.data.size());
    }
  });
}

Vertices::Results Vertices::read(void* states) const {
  const Tables& tables = *tables_;
  if (stateBytes) {
    const auto found = read_pieces(tables.pieces, tables.piece, tables.at, stateBytes);
    for (uint32_t i = 0; i < count; ++i) {
      if (tables.piece[i] == kNowhere) continue;
      std::memcpy(static_cast<uint8_t*>(states) + size_t{i} * stateBytes, found[tables.piece[i]].data() + tables.at[i],
                  stateBytes);
    }
  }
  Results results;
  const auto found = read_pieces(tables.pieces, tables.header_piece, tables.header_at, tables.header_bytes);
  for (size_t i = 0; i < tables.header_piece.size(); ++i) {
    const uint8_t* header = found[tables.header_piece[i]].data() + tables.header_at[i];
    results.steps = std::max<uint64_t>(results.steps, word(header, kSteps));
    results.sends += word(header, kSends);
    results.hostMessages += word(header, kHostMessages);
    results.retired += word(header, kRetired);
    results.deliveries += word(header, kDelivered) / tables.edge_bytes;
    if (i) continue;
    results.aggregates.resize((tables.header_bytes - 4 * kAggregates) / sizeof(int64_t));
    std::memcpy(results.aggregates.data(), header + 4 * kAggregates, results.aggregates.size() * sizeof(int64_t));
  }
  return results;
}

bool Vertices::gaveUp() const {
  const Tables& tables = *tables_;
  const auto found = read_pieces(tables.pieces, tables.header_piece, tables.header_at, tables.header_bytes);
  for (size_t i = 0; i < tables.header_piece.size(); ++i) {
    if (word(found[tables.header_piece[i]].data() + tables.header_at[i], kStatus) == kGivenUp) return true;
  }
  return false;
}

}  // namespace gossamer::host
