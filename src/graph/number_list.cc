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
  NumberList(Header& header, unsigned columns) : TextFormat(header), columns_(columns), first_line_(header.lines + 1) {}

  HeaderLine header_line(std::string_view) override { return HeaderLine::kData; }
  std::uint64_t parse(const Block& block, Worker& worker) override {
    return columns_ == 3 ? parse_edges<true>(block, worker) : parse_edges<false>(block, worker);
  }
  Numbering finish(std::deque<Worker>& workers, gs_graph_shape& shape) override;
  void collect(std::vector<EdgeStore*>& stores) override {
    for (Sink& sink : ranked_) sink.collect(stores);
  }
  void labels(const Numbering& numbering, std::int64_t* numbers, std::uint64_t*, char*) override;

 private:
  template <bool Weighted>
  std::uint64_t parse_edges(const Block& block, Worker& worker);
  void add_large(std::uint64_t source, std::uint64_t target, const Number& weight, Worker& worker);
  void rank_all(std::deque<Worker>& workers);
  void merge(const std::vector<std::vector<std::uint64_t>>& sorted);
  std::vector<std::uint64_t> occurring(std::deque<Worker>& workers, std::uint64_t most) const;
  [[noreturn]] void bad_edge(const char* at, std::uint64_t line) const;

  const unsigned columns_;
  const std::uint64_t first_line_;
  std::vector<std::uint64_t> numbers_;  // the numbers that occur, ascending, if any is looked up
  std::deque<Sink> ranked_;             // the edges between their ranks
};

/// Reports the error in a line.
void NumberList::bad_edge(const char* at, std::uint64_t line) const {
  const auto words = split<true>(line_at(at));
  if (words.size() != columns_)
    bad(line, "%zu column%s, but line %llu has %u (source target%s)", words.size(), words.size() == 1 ? "" : "s",
        (unsigned long long)first_line_, columns_, columns_ == 3 ? " weight" : "");
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string_view word = words[i];
    std::uint64_t value = 0;
    if (whole_number(word, value)) continue;
    const std::string shown = quoted(word);
    if (word.size() > 1 && word[0] == '-' && is_digit(word[1]))
      bad(line, "vertex %s is negative; vertices are numbers from 0", shown.c_str());
    if (word.find_first_not_of("0123456789") == std::string_view::npos)
      bad(line, "vertex %s is too large; the maximum is %lld", shown.c_str(),
          (long long)std::numeric_limits<std::int64_t>::max());
    bad(line, "%s is not a vertex number, but the file's first edge (line %llu) has numbers", shown.c_str(),
        (unsigned long long)first_line_);
  }
  bad(line, "weight %s is not a finite number", quoted(words[2]).c_str());
}

template <bool Weighted>
std::uint64_t NumberList::parse_edges(const Block& block, Worker& worker) {
  const bool undirected = header_.undirected;
  std::uint64_t line = 0;
  std::uint64_t most = worker.most;
  std::uint64_t entries = 0;
  for (const char *at = block.begin(), *end = block.end(); at != end; ++line) {
    const char* const begin = at;
    at = skip_blanks<true>(at);
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
    if (!read_number(at, source) || !is_blank<true>(*at)) bad_edge(begin, line);
    at = skip_blanks<true>(at);
    if (!read_number(at, target)) bad_edge(begin, line);
    if constexpr (Weighted) {
      if (!is_blank<true>(*at)) bad_edge(begin, line);
      at = skip_blanks<true>(at);
      if (!read_weight(at, weight)) bad_edge(begin, line);
    }
    if (*at != '\n') {
      if (!is_blank<true>(*at)) bad_edge(begin, line);
      at = skip_blanks<true>(at);
      if (*at != '\n') bad_edge(begin, line);
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

/// Adds an edge with a number that is too large for buckets.
void NumberList::add_large(std::uint64_t from, std::uint64_t to, const Number& weight, Worker& worker) {
  LargeEdges& large = large_of(worker);
  const std::uint32_t source = large.names(from);
  const std::uint32_t target = large.names(to);
  const Number* const value = columns_ == 3 ? &weight : nullptr;
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

/// Assigns every vertex its index, in ascending order of its number.
Numbering NumberList::finish(std::deque<Worker>& workers, gs_graph_shape& shape) {
  if (shape.entries == 0) bad_file(0, "%s", kNoEdge);
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
  if (!numbering.ranked()) {
    for (const std::uint64_t number : numbers_) *numbers++ = static_cast<std::int64_t>(number);
    return;
  }
  const auto& bits = numbering.bits();
  for (std::size_t i = 0; i < bits.size(); ++i)
    for (std::uint64_t word = bits[i]; word; word &= word - 1)
      *numbers++ = static_cast<std::int64_t>(i * 64 + static_cast<unsigned>(__builtin_ctzll(word)));
}

}  // namespace

std::unique_ptr<TextFormat> make_number_list(Header& header, unsigned columns) {
  return std::make_unique<NumberList>(header, columns);
}

}  // namespace gossamer::graph
