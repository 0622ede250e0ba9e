// SPDX-License-Identifier: Apache-2.0
/// Edge lists whose vertices are numbers, in any range and with any gaps.
///
/// Numbers below 2^27 index the buckets; edges with larger ones use a table of names, one per thread.
/// At the end the numbers that occur are ranked: a vertex's index is the rank of its number.
#include <algorithm>
#include <atomic>
#include <utility>

#include "graph/names.h"
#include "graph/parallel.h"
#include "graph/text_format.h"

namespace gossamer::graph {
namespace {

/// Numbers from here on are looked up in a table instead of used as indexes.
constexpr std::uint64_t kDirect = std::uint64_t{1} << 27;

/// The edges of one thread whose numbers are looked up, and the thread's indexes of those numbers.
struct LargeEdges final : Scratch {
  NumberNames names;
  Sink edges{kUsualShift};
};

LargeEdges& large_of(Worker& worker) {
  if (!worker.scratch) worker.scratch = std::make_unique<LargeEdges>();
  return static_cast<LargeEdges&>(*worker.scratch);
}

/// Moves all edges of a sink to another under new numbers.
template <class Map>
void renumber(Sink& from, Sink& to, Map&& map) {
  std::vector<EdgeStore*> old;
  from.collect(old);
  for (auto* store : old)
    for (std::size_t b = 0; b < store->buckets(); ++b)
      store->drain(b, [&](std::uint32_t source, std::uint32_t target, const std::uint8_t* weight) {
        to.add(map(source), map(target), store->weight_type(), weight);
      });
  from.clear();
}

class NumberList final : public TextFormat {
 public:
  NumberList(Header& header, const Columns& columns) : TextFormat(header), columns_(columns) {}

  HeaderLine header_line(std::string_view) override { return HeaderLine::kData; }
  std::uint64_t parse(const Block& block, Worker& worker) override {
    if (!columns_.plain() || header_.least) return parse_fields(block, worker);
    if (columns_.separator == ',')
      return columns_.weighted() ? parse_edges<true, true>(block, worker) : parse_edges<false, true>(block, worker);
    return columns_.weighted() ? parse_edges<true, false>(block, worker) : parse_edges<false, false>(block, worker);
  }
  Numbering finish(std::deque<Worker>& workers, gs_graph_shape& shape) override;
  void collect(std::vector<EdgeStore*>& stores) override {
    for (Sink& sink : ranked_) sink.collect(stores);
  }
  void labels(const Numbering& numbering, std::int64_t* numbers, std::uint64_t*, char*) override;

 private:
  /// An edge, with numbers counted from header_.least.
  struct Entry {
    std::uint64_t source = 0, target = 0;
    Number weight;
  };
  template <bool Weighted, bool Comma>
  std::uint64_t parse_edges(const Block& block, Worker& worker);
  std::uint64_t parse_fields(const Block& block, Worker& worker);
  Entry read_line(std::string_view text, std::uint64_t line, FieldCutter& cutter) const;
  std::uint64_t vertex(std::string_view word, std::uint64_t line) const;
  void add(const Entry& entry, Worker& worker);
  bool may_be_matrix(std::deque<Worker>& workers, std::uint64_t entries) const;
  bool may_state_counts(const Numbering& numbering, std::uint64_t entries) const;
  bool may_be_neighbours(std::deque<Worker>& workers, const Numbering& numbering, std::uint64_t entries) const;
  void judge_form(std::deque<Worker>& workers, const Numbering& ranked, gs_graph_shape& shape) const;
  void add_large(std::uint64_t source, std::uint64_t target, const Number& weight, Worker& worker);
  void rank_all(std::deque<Worker>& workers);
  void merge(const std::vector<std::vector<std::uint64_t>>& sorted);
  std::vector<std::uint64_t> occurring(std::deque<Worker>& workers, std::uint64_t most) const;

  const Columns columns_;
  std::vector<std::uint64_t> numbers_;  // the numbers that occur, ascending, if any is looked up
  std::deque<Sink> ranked_;             // the edges between their ranks
};

std::uint64_t NumberList::vertex(std::string_view word, std::uint64_t line) const {
  const bool minus = word.size() > 1 && word[0] == '-';
  std::uint64_t value = 0;
  if (whole_number(minus ? word.substr(1) : word, value)) {
    const auto signed_value = minus ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
    if (signed_value >= header_.least)
      return static_cast<std::uint64_t>(signed_value) - static_cast<std::uint64_t>(header_.least);
  }
  const std::string shown = quoted(word);
  if (minus && is_digit(word[1])) bad(line, "vertex %s is negative; vertices are numbers from 0", shown.c_str());
  if (!word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos)
    bad(line, "vertex %s is too large; the maximum is %lld", shown.c_str(),
        (long long)std::numeric_limits<std::int64_t>::max());
  bad(line, "%s is not a vertex number, but the file's first edge (line %llu) has numbers", shown.c_str(),
      (unsigned long long)columns_.line);
}

/// Reads a line of any form. Throws BadLine.
NumberList::Entry NumberList::read_line(std::string_view text, std::uint64_t line, FieldCutter& cutter) const {
  cutter.restart();
  const auto& fields = cutter.cut(text, columns_.separator, line, columns_.quotes);
  columns_.check(fields, line);
  Entry entry;
  entry.source = vertex(fields[columns_.source].text, line);
  entry.target = vertex(fields[columns_.target].text, line);
  if (columns_.weighted() && !whole_weight(fields[columns_.weight].text, entry.weight))
    bad(line, "weight %s is not %s", quoted(fields[columns_.weight].text).c_str(),
        weights_must_be(fields[columns_.weight].text));
  return entry;
}

inline void NumberList::add(const Entry& entry, Worker& worker) {
  const Number* const weight = columns_.weighted() ? &entry.weight : nullptr;
  if ((entry.source | entry.target) < kDirect) [[likely]] {
    worker.most = std::max(worker.most, std::max(entry.source, entry.target));
    const auto s = static_cast<std::uint32_t>(entry.source), t = static_cast<std::uint32_t>(entry.target);
    worker.sink.add(s, t, weight);
    if (header_.undirected && s != t) worker.sink.add(t, s, weight);
  } else {
    add_large(entry.source, entry.target, entry.weight, worker);
  }
}

/// From the end of a column to the next one. False if none follows, or only FieldCutter can find it.
template <bool Comma>
[[gnu::always_inline]] inline bool next_column(const char*& at) {
  if constexpr (Comma) {
    at = skip_blanks<false>(at);
    if (*at != ',') return false;
    at = skip_blanks<false>(at + 1);
    return true;
  } else {
    if (!is_blank<false>(*at)) return false;
    if (!is_blank<false>(*++at)) [[likely]]
      return true;
    unsigned tabs = at[-1] == '\t';
    for (; is_blank<false>(*at); ++at) tabs += *at == '\t';
    return tabs < 2;
  }
}

/// Reads an edge without quotes up to the end of its line. False for any other line.
template <bool Weighted, bool Comma>
[[gnu::always_inline]] inline bool plain_edge(const char*& at, std::uint64_t& source, std::uint64_t& target,
                                              Number& weight) {
  if (!read_number(at, source) || !next_column<Comma>(at) || !read_number(at, target)) return false;
  if constexpr (Weighted)
    if (!next_column<Comma>(at) || !read_weight(at, weight)) return false;
  if (*at == '\n') return true;
  at = skip_blanks<false>(at);
  return *at == '\n';
}

template <bool Weighted, bool Comma>
std::uint64_t NumberList::parse_edges(const Block& block, Worker& worker) {
  std::optional<FieldCutter> cutter;
  const bool undirected = header_.undirected;
  std::uint64_t line = 0;
  std::uint64_t most = worker.most;
  std::uint64_t entries = 0;
  for (const char *at = block.begin(), *end = block.end(); at != end; ++line) {
    const char* const begin = at;
    at = skip_blanks<false>(at);
    if (*at == '\n') {
      ++at;
      continue;
    }
    if (*at == '#' || *at == '%') {
      at = next_line(at, end);
      continue;
    }
    std::uint64_t source = 0, target = 0;
    Number weight;
    if (!plain_edge<Weighted, Comma>(at, source, target, weight)) [[unlikely]] {
      if (!cutter) cutter.emplace();
      const Entry entry = read_line(line_at(begin), line, *cutter);
      source = entry.source;
      target = entry.target;
      weight = entry.weight;
      at = next_line(begin, end) - 1;
    }
    ++at;
    ++entries;
    if ((source | target) < kDirect) [[likely]] {
      most = std::max(most, std::max(source, target));
      const auto s = static_cast<std::uint32_t>(source), t = static_cast<std::uint32_t>(target);
      worker.sink.add(s, t, Weighted ? &weight : nullptr);
      if (undirected && s != t) worker.sink.add(t, s, Weighted ? &weight : nullptr);
    } else {
      add_large(source, target, weight, worker);
    }
  }
  worker.most = most;
  worker.entries += entries;
  return line;
}

/// As parse_edges, for columns of any number and order.
std::uint64_t NumberList::parse_fields(const Block& block, Worker& worker) {
  FieldCutter cutter;
  std::uint64_t line = 0;
  for (const char *at = block.begin(), *end = block.end(); at != end; ++line) {
    const std::string_view text = line_at(at);
    const char* const first = skip_blanks<false>(at);
    at = text.data() + text.size() + 1;
    if (*first == '\n' || *first == '#' || *first == '%') continue;
    const Entry entry = read_line(text, line, cutter);
    ++worker.entries;
    add(entry, worker);
  }
  return line;
}

/// Adds an edge with a number that is too large for buckets.
void NumberList::add_large(std::uint64_t from, std::uint64_t to, const Number& weight, Worker& worker) {
  LargeEdges& large = large_of(worker);
  const std::uint32_t source = large.names(from);
  const std::uint32_t target = large.names(to);
  const Number* const value = columns_.weighted() ? &weight : nullptr;
  large.edges.add(source, target, value);
  if (header_.undirected && source != target) large.edges.add(target, source, value);
}

/// A bitmap of the numbers that occur, up to `most`.
std::vector<std::uint64_t> NumberList::occurring(std::deque<Worker>& workers, std::uint64_t most) const {
  std::vector<std::uint64_t> bits(most / 64 + 1, 0);
  std::vector<EdgeStore*> all;
  for (auto& worker : workers) worker.sink.collect(all);
  std::size_t buckets = 0;
  for (auto* store : all) buckets = std::max(buckets, store->buckets());
  auto set = [&](std::uint32_t number) {
    std::atomic_ref<std::uint64_t> word(bits[number / 64]);
    const std::uint64_t bit = std::uint64_t{1} << (number % 64);
    if (!(word.load(std::memory_order_relaxed) & bit)) word.fetch_or(bit, std::memory_order_relaxed);
  };
  in_pieces(header_.threads, buckets, 4, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t b = begin; b < end; ++b)
      for (auto* store : all)
        store->visit(b, [&](std::uint32_t source, std::uint32_t target, const std::uint8_t*) {
          set(source);
          set(target);
        });
  });
  return bits;
}

/// Whether the lines may be lists of neighbours, each of one vertex and two others, instead of edges with weights:
/// every vertex begins one line, and all weights are other vertices.
bool NumberList::may_be_neighbours(std::deque<Worker>& workers, const Numbering& numbering,
                                   std::uint64_t entries) const {
  if (!columns_.weighted() || columns_.chosen || header_.certain || header_.has_announced(entries)) return false;
  if (entries != numbering.count()) return false;
  std::vector<EdgeStore*> all;
  for (auto& worker : workers) worker.sink.collect(all);
  std::vector<bool> begins(entries);
  bool each = true;
  for (auto* store : all) {
    if (store->weight_type() != GS_I32) return false;
    for (std::size_t b = 0; b < store->buckets() && each; ++b)
      store->visit(b, [&](std::uint32_t source, std::uint32_t target, const std::uint8_t* weight) {
        std::int32_t value;
        std::memcpy(&value, weight, 4);
        const auto number = static_cast<std::uint64_t>(value);
        each = each && numbering.has(number) && number != source && number != target;
        const std::uint32_t at = numbering(source);
        each = each && (header_.undirected || !begins[at]);
        begins[at] = true;
      });
  }
  return each;
}

/// Whether the lines may be a matrix of zeros and ones with three rows instead of three edges with weights.
bool NumberList::may_be_matrix(std::deque<Worker>& workers, std::uint64_t entries) const {
  if (!columns_.weighted() || columns_.chosen || header_.certain || header_.has_announced(entries)) return false;
  if (entries != 3) return false;
  std::vector<EdgeStore*> all;
  for (auto& worker : workers) worker.sink.collect(all);
  bool bits = true;
  for (auto* store : all) {
    if (store->weight_type() != GS_I32) return false;
    for (std::size_t b = 0; b < store->buckets(); ++b)
      store->visit(b, [&](std::uint32_t source, std::uint32_t target, const std::uint8_t* weight) {
        std::int32_t value;
        std::memcpy(&value, weight, 4);
        bits = bits && source <= 1 && target <= 1 && (value == 0 || value == 1);
      });
  }
  return bits;
}

/// Whether the first line may state the numbers of vertices and edges instead of an edge: "VERTICES EDGES", or
/// "ROWS COLUMNS ENTRIES" of a Matrix Market file without its banner.
bool NumberList::may_state_counts(const Numbering& numbering, std::uint64_t entries) const {
  if (columns_.chosen || header_.certain || header_.has_announced(entries)) return false;
  if (entries < (columns_.weighted() ? 2 : 3)) return false;
  const auto& [most, other, weight] = columns_.first;
  if ((columns_.weighted() ? weight : other) != entries - 1 || (columns_.weighted() && most != other)) return false;
  // No other line has a number above `most`.
  return numbering.count() - numbering(most + 1) == (other > most ? 1 : 0);
}

/// Rejects a file whose lines may be something else than edges.
void NumberList::judge_form(std::deque<Worker>& workers, const Numbering& ranked, gs_graph_shape& shape) const {
  if (may_be_neighbours(workers, ranked, shape.entries))
    bad_file(columns_.line,
             "edges with weights, or a vertex and two neighbours on each line? say which: --format edges or --format "
             "adjlist");
  if (may_be_matrix(workers, shape.entries))
    bad_file(columns_.line,
             "three edges with weights, or a matrix of three rows? write a matrix as Matrix Market, or say that these "
             "are edges: --format edges");
  if (may_state_counts(ranked, shape.entries)) {
    if (columns_.weighted())
      bad_file(columns_.line,
               "a matrix without its Matrix Market banner? add the banner, or say that this line is an edge: "
               "--format edges");
    shape.notes |= GS_NOTE_COUNTS;
  }
}

/// Assigns every vertex its index, in ascending order of its number.
Numbering NumberList::finish(std::deque<Worker>& workers, gs_graph_shape& shape) {
  if (shape.entries == 0 && !header_.part) bad_file(0, "%s", kNoEdge);
  copy_announced(header_, shape);
  std::uint64_t most = 0;
  bool large = false;
  for (const auto& worker : workers) {
    most = std::max(most, worker.most);
    large |= worker.scratch != nullptr;
  }
  if (large || most / 8 > 16 * shape.entries + 65536) {
    rank_all(workers);
    shape.vertices = numbers_.size();
    shape.label_kind = GS_LABELS_NUMBER;
    return Numbering(shape.vertices, 0u);
  }
  std::vector<std::uint64_t> bits = occurring(workers, most);
  const bool zero = bits[0] & 1;
  Numbering ranked(std::move(bits));
  shape.vertices = ranked.count();
  if (!header_.part) judge_form(workers, ranked, shape);
  if (header_.least) {
    shape.label_kind = GS_LABELS_NUMBER;
    return ranked;
  }
  if (ranked.count() == most + 1) return Numbering(ranked.count(), 0u);
  if (ranked.count() == most && !zero) {
    shape.base = 1;
    return Numbering(ranked.count(), 1u);
  }
  shape.label_kind = GS_LABELS_NUMBER;
  return ranked;
}

/// Ranks all numbers. Each thread looks its numbers up in its own table, so the total work grows with the
/// edges and not with the number of threads, and no thread waits for a lock.
void NumberList::rank_all(std::deque<Worker>& workers) {
  const auto each = [&](auto&& f) {
    in_pieces(header_.threads, workers.size(), 1, [&](std::uint64_t w, std::uint64_t) { f(w); });
  };
  std::vector<std::vector<std::uint64_t>> sorted(workers.size());
  each([&](std::uint64_t w) {
    LargeEdges& large = large_of(workers[w]);
    renumber(workers[w].sink, large.edges, [&](std::uint32_t number) { return large.names(number); });
    large.names.forget_table();
    sorted[w] = large.names.numbers();
    std::sort(sorted[w].begin(), sorted[w].end());
  });
  merge(sorted);
  for (std::size_t w = 0; w < workers.size(); ++w) ranked_.emplace_back(kUsualShift);
  each([&](std::uint64_t w) {
    LargeEdges& large = large_of(workers[w]);
    std::vector<std::uint32_t> rank;
    rank.reserve(large.names.size());
    for (const std::uint64_t number : large.names.numbers())
      rank.push_back(
          static_cast<std::uint32_t>(std::lower_bound(numbers_.begin(), numbers_.end(), number) - numbers_.begin()));
    renumber(large.edges, ranked_[w], [&](std::uint32_t index) { return rank[index]; });
    workers[w].scratch.reset();
  });
}

/// Merges several ascending lists without duplicates: the range is split at numbers of a sample, and all parts are
/// merged in parallel.
void NumberList::merge(const std::vector<std::vector<std::uint64_t>>& sorted) {
  constexpr std::size_t kSamples = 256;  // of a list
  const std::size_t parts = header_.threads > 1 ? std::size_t{4} * header_.threads : 1;
  std::vector<std::uint64_t> sample;
  for (const auto& list : sorted)
    for (std::size_t i = 0; i < kSamples && !list.empty(); ++i) sample.push_back(list[list.size() * i / kSamples]);
  std::sort(sample.begin(), sample.end());
  std::vector<std::vector<std::uint64_t>> merged(parts);
  in_pieces(header_.threads, parts, 1, [&](std::uint64_t part, std::uint64_t) {
    const auto cut = [&](const std::vector<std::uint64_t>& list, std::size_t at) {
      if (at == 0) return list.begin();
      return at == parts ? list.end() : std::lower_bound(list.begin(), list.end(), sample[sample.size() * at / parts]);
    };
    auto& mine = merged[part];
    for (const auto& list : sorted) mine.insert(mine.end(), cut(list, part), cut(list, part + 1));
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
  });
  std::vector<std::size_t> starts(parts + 1, 0);
  for (std::size_t part = 0; part < parts; ++part) starts[part + 1] = starts[part] + merged[part].size();
  if (starts[parts] > kMostVertices) throw TooManyVertices();
  numbers_.resize(starts[parts]);
  in_pieces(header_.threads, parts, 1, [&](std::uint64_t part, std::uint64_t) {
    std::copy(merged[part].begin(), merged[part].end(), numbers_.begin() + static_cast<std::ptrdiff_t>(starts[part]));
  });
}

void NumberList::labels(const Numbering& numbering, std::int64_t* numbers, std::uint64_t*, char*) {
  const auto label = [&](std::uint64_t number) {
    return static_cast<std::int64_t>(number + static_cast<std::uint64_t>(header_.least));
  };
  if (!numbering.ranked()) {
    for (const std::uint64_t number : numbers_) *numbers++ = label(number);
    return;
  }
  const auto& bits = numbering.bits();
  for (std::size_t i = 0; i < bits.size(); ++i)
    for (std::uint64_t word = bits[i]; word; word &= word - 1)
      *numbers++ = label(i * 64 + static_cast<unsigned>(__builtin_ctzll(word)));
}

}  // namespace

std::unique_ptr<TextFormat> make_number_list(Header& header, const Columns& columns) {
  return std::make_unique<NumberList>(header, columns);
}

}  // namespace gossamer::graph
