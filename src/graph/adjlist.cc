// SPDX-License-Identifier: Apache-2.0
// The reader of adjacency lists. Nearly all of its time is spent looking up
// labels (names.h). The second pass looks them up in batches, so that their cache
// misses overlap. Those misses bound the time on large graphs; on small graphs,
// scanning the text does.
#include "gossamer/graph/adjlist.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gossamer/core/error.h"
#include "graph/names.h"
#include "graph/text.h"

namespace gossamer {
namespace {

constexpr uint32_t kNoVertex = graph::IndexTable::kNone;
constexpr size_t kLongestLabel = 65535;
constexpr int kShown = 60;  // bytes of a label that an error message repeats

enum class Kind : uint8_t { kLabel, kHigh, kBlank, kLineEnd, kComment, kControl };

constexpr std::array<Kind, 256> make_kinds() {
  std::array<Kind, 256> kinds{};
  for (int byte = 0; byte < 256; ++byte) {
    kinds[byte] = byte >= 0x80 ? Kind::kHigh : byte < 0x20 || byte == 0x7f ? Kind::kControl : Kind::kLabel;
  }
  kinds[' '] = kinds['\t'] = kinds['\r'] = Kind::kBlank;
  kinds['\n'] = Kind::kLineEnd;
  kinds['#'] = Kind::kComment;
  return kinds;
}
constexpr std::array<Kind, 256> kKinds = make_kinds();

/// Skips bytes that are certainly part of a label, eight at a time: from `at` to the first that may
/// be a blank, a line end, a comment, a control byte or beyond ASCII. Bytes above 0x23 and below
/// 0x7f are none of these; a borrow or a carry only affects bytes after the first one found.
uint64_t skip_plain(std::string_view text, uint64_t at) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  if constexpr (std::endian::native == std::endian::little) {
    for (; at + 8 <= text.size(); at += 8) {
      uint64_t word;
      std::memcpy(&word, text.data() + at, 8);
      const uint64_t low = (word - kOnes * 0x24) & ~word;
      if (const uint64_t found = (low | word | (word + kOnes)) & (kOnes * 0x80)) {
        return at + static_cast<unsigned>(std::countr_zero(found)) / 8;
      }
    }
  }
  return at;
}

Kind kind(char byte) { return kKinds[static_cast<unsigned char>(byte)]; }

/// A label for a message: at most kShown bytes, and whole characters.
std::string shown(std::string_view label) {
  if (label.size() <= kShown) return std::string(label);
  size_t cut = kShown;
  while (cut > 0 && (static_cast<unsigned char>(label[cut]) & 0xc0) == 0x80) --cut;
  return std::string(label.substr(0, cut)) + "...";
}

/// Maps labels to vertex numbers; the labels' bytes remain in the text.
class Vertices {
 public:
  uint32_t size() const { return static_cast<uint32_t>(labels_.size()); }
  std::string_view label(uint32_t vertex) const { return labels_[vertex]; }

  /// The vertex of this label, or kNoVertex.
  uint32_t find(std::string_view label, uint64_t hash) const {
    return table_.find(hash, [&](uint32_t vertex) { return graph::same_text(labels_[vertex], label); });
  }

  /// Prefetches the memory that find() reads first.
  void prefetch_slot(uint64_t hash) const { table_.prefetch(hash); }

  /// Prefetches the memory that find() reads next; the slot should be in the cache.
  void prefetch_label(uint64_t hash) const {
    const uint32_t vertex = table_.guess(hash);
    if (vertex != kNoVertex) __builtin_prefetch(&labels_[vertex]);
  }

  /// Adds a label and returns kNoVertex; or returns the vertex that already has this label.
  uint32_t add(std::string_view label) {
    const uint32_t fresh = size();
    const uint32_t vertex = table_.find_or_add(graph::hash_text(label), fresh,
                                               [&](uint32_t known) { return graph::same_text(labels_[known], label); });
    if (vertex != fresh) return vertex;
    labels_.push_back(label);
    return kNoVertex;
  }

 private:
  graph::IndexTable table_;
  std::vector<std::string_view> labels_;
};

}  // namespace
}  // namespace gossamer

using gossamer::fail;
using gossamer::Kind;

struct gs_adjlist {
  std::string_view text;
  std::string path;
  gossamer::Vertices vertices;
  uint64_t edges = 0;
  uint64_t label_bytes = 1;
  std::optional<uint64_t> stated_vertices, stated_edges;  // from the comments at the file's head

  uint64_t position = 0;  // in the current pass
  uint64_t line = 1;
  uint32_t row = 0;     // of the second pass
  uint64_t filled = 0;  // edges written by the second pass
  uint64_t label_end = 1;

  /// The next label of the line at `position`; empty at the end of the line, and
  /// `position` is then the line end. Comments end a line.
  std::string_view next_label(bool& has_high, int& bad_byte) {
    while (position < text.size() && gossamer::kind(text[position]) == Kind::kBlank) ++position;
    const uint64_t begin = position;
    for (;; ++position) {
      position = gossamer::skip_plain(text, position);
      if (position >= text.size()) break;
      const Kind kind = gossamer::kind(text[position]);
      if (kind == Kind::kLabel) continue;
      if (kind == Kind::kHigh) {
        has_high = true;
        continue;
      }
      if (kind == Kind::kControl) bad_byte = static_cast<unsigned char>(text[position]);
      break;
    }
    const std::string_view label = text.substr(begin, position - begin);
    if (label.empty() && position < text.size() && text[position] == '#') {
      position = std::min(text.find('\n', position), text.size());
    }
    return label;
  }

  void end_line() {
    if (position < text.size()) {
      ++position;
      ++line;
    }
  }

  /// `# vertices: 12` and `# edges: 34` before the first vertex state the counts.
  void read_comment(std::string_view comment) {
    for (auto& [name, count] : {std::pair{std::string_view("# vertices: "), &stated_vertices},
                                std::pair{std::string_view("# edges: "), &stated_edges}}) {
      if (!comment.starts_with(name)) continue;
      comment.remove_prefix(name.size());
      while (!comment.empty() && gossamer::kind(comment.back()) == Kind::kBlank) comment.remove_suffix(1);
      if (comment.empty() || comment.size() > 18) return;
      uint64_t value = 0;
      for (const char digit : comment) {
        if (digit < '0' || digit > '9') return;
        value = value * 10 + static_cast<uint64_t>(digit - '0');
      }
      *count = value;
      return;
    }
  }

  int bad_byte_error(int byte) const {
    return fail("%s:%llu: byte 0x%02x in a label; labels are UTF-8 text without control bytes", path.c_str(),
                static_cast<unsigned long long>(line), static_cast<unsigned>(byte));
  }

  int scan_line() {
    bool has_high = false;
    int bad_byte = -1;
    const uint64_t begin = position;
    const std::string_view label = next_label(has_high, bad_byte);
    if (bad_byte >= 0) return bad_byte_error(bad_byte);
    if (label.empty()) {
      if (vertices.size() == 0) read_comment(text.substr(begin, position - begin));
      end_line();
      return gossamer::GS_OK;
    }
    const auto where = static_cast<unsigned long long>(line);
    if (label.size() > gossamer::kLongestLabel) {
      return fail("%s:%llu: a label of %zu bytes; at most %zu are allowed", path.c_str(), where, label.size(),
                  gossamer::kLongestLabel);
    }
    if (has_high && gossamer::graph::bad_utf8(label) != std::string_view::npos) {
      return fail("%s:%llu: a label that is not UTF-8; convert the file to UTF-8", path.c_str(), where);
    }
    if (vertices.size() == gossamer::kNoVertex) {
      return fail("%s:%llu: more than %u vertices; split the graph", path.c_str(), where, gossamer::kNoVertex);
    }
    if (const uint32_t known = vertices.add(label); known != gossamer::kNoVertex) {
      const char* first = vertices.label(known).data();
      const auto first_line = 1 + std::count(text.data(), first, '\n');
      return fail("%s:%llu: vertex '%s' already has a line, line %lld; merge the two", path.c_str(), where,
                  gossamer::shown(label).c_str(), static_cast<long long>(first_line));
    }
    label_bytes += label.size() + 1;
    while (!next_label(has_high, bad_byte).empty() && bad_byte < 0) ++edges;
    if (bad_byte >= 0) return bad_byte_error(bad_byte);
    end_line();
    return gossamer::GS_OK;
  }

  int fill_line(uint64_t* offsets, uint32_t* targets, uint64_t* label_offsets, char* labels) {
    bool has_high = false;
    int bad_byte = -1;
    const std::string_view label = next_label(has_high, bad_byte);
    if (label.empty()) {
      end_line();
      return gossamer::GS_OK;
    }
    label_offsets[row] = label_end;
    std::memcpy(labels + label_end, label.data(), label.size());
    label_end += label.size();
    labels[label_end++] = '\n';
    const uint64_t first = filled;
    bool ascending = true;
    std::array<std::string_view, 32> batch;
    std::array<uint64_t, 32> hashes;
    size_t count;
    do {
      for (count = 0; count < batch.size(); ++count) {
        batch[count] = next_label(has_high, bad_byte);
        if (batch[count].empty()) break;
        hashes[count] = gossamer::graph::hash_text(batch[count]);
        vertices.prefetch_slot(hashes[count]);
      }
      for (size_t i = 0; i < count; ++i) vertices.prefetch_label(hashes[i]);
      for (size_t i = 0; i < count; ++i) {
        const uint32_t vertex = vertices.find(batch[i], hashes[i]);
        if (vertex == gossamer::kNoVertex) {
          return fail("%s:%llu: an edge to '%s', which has no line of its own; add the line", path.c_str(),
                      static_cast<unsigned long long>(line), gossamer::shown(batch[i]).c_str());
        }
        ascending = ascending && (filled == first || targets[filled - 1] <= vertex);
        targets[filled++] = vertex;
      }
    } while (count == batch.size());
    if (!ascending) std::sort(targets + first, targets + filled);
    offsets[++row] = filled;
    end_line();
    return gossamer::GS_OK;
  }

  int check_counts() const {
    if (vertices.size() == 0) {
      return fail("%s:%llu: no vertex so far; an adjacency list has a line for each vertex", path.c_str(),
                  static_cast<unsigned long long>(line));
    }
    const uint64_t want_vertices = stated_vertices.value_or(vertices.size());
    const uint64_t want_edges = stated_edges.value_or(edges);
    if (want_vertices != vertices.size() || want_edges != edges) {
      return fail(
          "%s:%llu: ends after %u vertices and %llu edges, but its head states %llu and %llu; "
          "get the whole file, or correct its head",
          path.c_str(), static_cast<unsigned long long>(line), vertices.size(), static_cast<unsigned long long>(edges),
          static_cast<unsigned long long>(want_vertices), static_cast<unsigned long long>(want_edges));
    }
    return gossamer::GS_OK;
  }
};

gs_adjlist* gs_graph_adjlist_open(const char* text, uint64_t size, const char* path) {
  try {
    auto* list = new gs_adjlist{};
    list->text = std::string_view(text, size);
    list->path = path;
    return list;
  } catch (const std::bad_alloc&) {
    fail("not enough memory to read a graph");
    return nullptr;
  }
}

int gs_graph_adjlist_scan(gs_adjlist* list, uint64_t budget, uint64_t* done) {
  try {
    const uint64_t size = list->text.size();
    const uint64_t stop = budget < size - list->position ? list->position + budget : size;
    if (list->position == 0 && list->text.starts_with("\xef\xbb\xbf")) list->position = 3;
    while (list->position < stop) {
      if (const int code = list->scan_line()) return code;
    }
    *done = list->position;
    if (list->position < size) return gossamer::GS_OK;
    if (const int code = list->check_counts()) return code;
    list->position = list->text.starts_with("\xef\xbb\xbf") ? 3 : 0;
    list->line = 1;
    return gossamer::GS_OK;
  } catch (const std::bad_alloc&) {
    return fail("%s: not enough memory for its labels", list->path.c_str());
  }
}

void gs_graph_adjlist_counts(const gs_adjlist* list, uint64_t* vertices, uint64_t* edges, uint64_t* label_bytes) {
  *vertices = list->vertices.size();
  *edges = list->edges;
  *label_bytes = list->label_bytes;
}

int gs_graph_adjlist_fill(gs_adjlist* list, uint64_t budget, uint64_t* done, uint64_t* offsets, uint32_t* targets,
                          uint64_t* label_offsets, char* labels) {
  const uint64_t size = list->text.size();
  const uint64_t stop = budget < size - list->position ? list->position + budget : size;
  if (list->row == 0) {
    offsets[0] = 0;
    labels[0] = '\n';
  }
  while (list->position < stop) {
    if (const int code = list->fill_line(offsets, targets, label_offsets, labels)) return code;
  }
  *done = list->position;
  if (list->position == size) label_offsets[list->row] = list->label_end;
  return gossamer::GS_OK;
}

void gs_graph_adjlist_close(gs_adjlist* list) { delete list; }
