// SPDX-License-Identifier: Apache-2.0
/// Edge lists whose vertices are numbers, in any range and with any gaps.
///
/// Numbers below 2^27 index the buckets; edges with greater ones go through a table of names. In the end
/// the numbers that occur are ranked: a vertex's index is its place among them.
#include <algorithm>
#include <atomic>
#include <mutex>

#include "graph/names.h"
#include "graph/parallel.h"
#include "graph/text_format.h"

namespace gossamer::graph {
namespace {

/// Numbers from here on are looked up in a table and not used as indexes.
constexpr std::uint64_t kDirect = std::uint64_t{1} << 27;

struct FarEdge {
  std::uint64_t source, target;
  Number weight;
};

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
    if (named_) named_->collect(stores);
  }
  void labels(const Numbering& numbering, std::int64_t* numbers, std::uint64_t*, char*) override;

 private:
  template <bool Weighted>
  std::uint64_t parse_edges(const Block& block, Worker& worker);
  void add_far(std::vector<FarEdge>& far);
  void all_through_names(std::deque<Worker>& workers);
  std::vector<std::uint64_t> met(std::deque<Worker>& workers, std::uint64_t most) const;
  [[noreturn]] void bad_edge(const char* at, std::uint64_t line) const;

  const unsigned columns_;
  const std::uint64_t first_line_;
  std::mutex names_mutex_;
  NumberNames names_;
  std::optional<Sink> named_;
};

/// Says what is wrong with a line.
void NumberList::bad_edge(const char* at, std::uint64_t line) const {
  const auto words = split<true>(line_at(at));
  if (words.size() != columns_)
    bad(line, "%zu column%s where line %llu has %u (source target%s)", words.size(), words.size() == 1 ? "" : "s",
        (unsigned long long)first_line_, columns_, columns_ == 3 ? " weight" : "");
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string_view word = words[i];
    std::uint64_t value = 0;
    if (whole_number(word, value)) continue;
    const std::string shown = quoted(word);
    if (word.size() > 1 && word[0] == '-' && is_digit(word[1]))
      bad(line, "vertex %s is negative; vertices are numbers from 0", shown.c_str());
    if (word.find_first_not_of("0123456789") == std::string_view::npos)
      bad(line, "vertex %s is too large; the most is %lld", shown.c_str(),
          (long long)std::numeric_limits<std::int64_t>::max());
    bad(line, "%s is no vertex number, but the file's first edge (line %llu) has numbers", shown.c_str(),
        (unsigned long long)first_line_);
  }
  bad(line, "weight %s is no finite number", quoted(words[2]).c_str());
}

template <bool Weighted>
std::uint64_t NumberList::parse_edges(const Block& block, Worker& worker) {
  const bool undirected = header_.undirected;
  std::uint64_t line = 0;
  std::uint64_t most = worker.most;
  std::uint64_t entries = 0;
  std::vector<FarEdge> far;
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
      far.push_back({source, target, weight});
      if (far.size() >= 16384) add_far(far);
    }
  }
  worker.most = most;
  worker.entries += entries;
  if (!far.empty()) add_far(far);
  return line;
}

/// Edges with numbers too far out for buckets: through the table of names.
void NumberList::add_far(std::vector<FarEdge>& far) {
  const std::lock_guard lock(names_mutex_);
  if (!named_) named_.emplace(kUsualShift);
  for (const FarEdge& edge : far) {
    const std::uint32_t source = names_(edge.source);
    const std::uint32_t target = names_(edge.target);
    const Number* const weight = columns_ == 3 ? &edge.weight : nullptr;
    named_->add(source, target, weight);
    if (header_.undirected && source != target) named_->add(target, source, weight);
  }
  far.clear();
}

/// A bit for every number that occurs, up to `most`.
std::vector<std::uint64_t> NumberList::met(std::deque<Worker>& workers, std::uint64_t most) const {
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

/// Gives every vertex its index, in ascending order of its number.
Numbering NumberList::finish(std::deque<Worker>& workers, gs_graph_shape& shape) {
  if (shape.entries == 0) bad_file(0, "%s", kNoEdge);
  tell_announced(header_, shape);
  std::uint64_t most = 0;
  for (const auto& worker : workers) most = std::max(most, worker.most);
  if (named_ || most / 8 > 16 * shape.entries + 65536) {
    all_through_names(workers);
    shape.vertices = names_.size();
    shape.label_kind = GS_LABELS_NUMBER;
    return Numbering(shape.vertices, 0u);
  }
  std::vector<std::uint64_t> bits = met(workers, most);
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

void NumberList::all_through_names(std::deque<Worker>& workers) {
  Sink met(kUsualShift);
  for (auto& worker : workers) renumber(worker.sink, met, [&](std::uint32_t number) { return names_(number); });
  if (named_) renumber(*named_, met, [](std::uint32_t index) { return index; });
  names_.forget_table();
  auto& numbers = names_.numbers();
  std::vector<std::uint32_t> order(numbers.size()), rank(numbers.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return numbers[a] < numbers[b]; });
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<std::uint32_t>(i);
  std::vector<std::uint32_t>().swap(order);
  std::sort(numbers.begin(), numbers.end());
  named_.emplace(kUsualShift);
  renumber(met, *named_, [&](std::uint32_t index) { return rank[index]; });
}

void NumberList::labels(const Numbering& numbering, std::int64_t* numbers, std::uint64_t*, char*) {
  if (!numbering.ranked()) {
    for (const std::uint64_t number : names_.numbers()) *numbers++ = static_cast<std::int64_t>(number);
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
