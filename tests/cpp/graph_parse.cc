// SPDX-License-Identifier: Apache-2.0
/// The graph parser against a short reader with a stringstream; under the
/// sanitizers, with several threads, text in pieces of any size, and damaged text.
#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <tuple>

#include "check.h"
#include "gossamer/graph/graph.h"

extern "C" const char* gs_last_error();

namespace {

using Random = std::mt19937_64;
using Edges = std::vector<std::tuple<std::int64_t, std::int64_t, double>>;

struct Read {
  int code = 0;
  std::string message;
  gs_graph_shape shape{};
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> targets;
  std::vector<double> weights;
  std::vector<std::int64_t> labels;
  std::string words;
};

/// Feeds text in random pieces; `stop_at` < 0 reads to the end, otherwise the parser is closed there.
Read read(const std::string& text, int format, unsigned flags, int threads, Random& random, long stop_at = -1) {
  Read result;
  void* parser = nullptr;
  result.code = gs_graph_parser_open("file", format, flags, threads, &parser);
  for (std::size_t at = 0; at < text.size() && result.code == 0;) {
    if (stop_at >= 0 && at >= static_cast<std::size_t>(stop_at)) {
      gs_graph_parser_close(parser);
      return result;
    }
    const std::size_t most = random() % 8 ? std::size_t{1} << (random() % 20) : text.size();
    const std::size_t size = std::min(text.size() - at, 1 + random() % most);
    const std::vector<char> piece(text.begin() + static_cast<std::ptrdiff_t>(at),
                                  text.begin() + static_cast<std::ptrdiff_t>(at + size));
    result.code = gs_graph_parser_feed(parser, piece.data(), piece.size());
    at += size;
  }
  if (result.code == 0) result.code = gs_graph_parser_finish(parser, &result.shape);
  if (result.code == 0) {
    const gs_graph_shape& shape = result.shape;
    result.offsets.resize(shape.vertices + 1);
    result.targets.resize(shape.edges);
    std::vector<std::int32_t> small(shape.weight_type == GS_I32 ? shape.edges : 0);
    std::vector<std::int64_t> large(shape.weight_type == GS_I64 ? shape.edges : 0);
    result.weights.assign(shape.edges, 0);
    void* weights = shape.weight_type == GS_NONE  ? nullptr
                    : shape.weight_type == GS_I32 ? static_cast<void*>(small.data())
                    : shape.weight_type == GS_I64 ? static_cast<void*>(large.data())
                                                  : static_cast<void*>(result.weights.data());
    std::vector<std::uint64_t> starts(shape.label_kind == GS_LABELS_STRING ? shape.vertices + 1 : 0);
    result.labels.resize(shape.label_kind == GS_LABELS_NUMBER ? shape.vertices : 0);
    result.words.resize(shape.label_bytes);
    result.code = gs_graph_parser_build(parser, result.offsets.data(), result.targets.data(), weights,
                                        result.labels.data(), starts.data(), result.words.data());
    std::copy(small.begin(), small.end(), result.weights.begin());
    std::copy(large.begin(), large.end(), result.weights.begin());
  }
  if (result.code != 0) result.message = gs_last_error();
  gs_graph_parser_close(parser);
  return result;
}

Edges edges_of(const Read& read) {
  Edges edges;
  auto label = [&](std::uint64_t v) {
    return read.labels.empty() ? static_cast<std::int64_t>(v) + read.shape.base : read.labels[v];
  };
  for (std::uint64_t v = 0; v < read.shape.vertices; ++v)
    for (std::uint64_t e = read.offsets[v]; e < read.offsets[v + 1]; ++e)
      edges.emplace_back(label(v), label(read.targets[e]), read.weights[e]);
  std::sort(edges.begin(), edges.end());
  return edges;
}

/// The reference: source and target after `skip` words, and a weight if there is one.
Edges judged(const std::string& text, char comment, bool skip_word) {
  Edges edges;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line);
    std::string word;
    if (line.find_first_not_of(" \t\r") == std::string::npos || line[0] == comment) continue;
    if (skip_word) words >> word;
    std::int64_t source = 0, target = 0;
    double weight = 0;
    words >> source >> target;
    words >> weight;
    edges.emplace_back(source, target, weight);
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

std::string edge_list(Random& random, std::size_t lines, std::uint64_t reach, bool weighted) {
  std::string text;
  const bool commas = random() % 2;
  const auto separator = [&] { return commas ? random() % 2 ? "," : ", " : random() % 2 ? "\t" : " "; };
  for (std::size_t i = 0; i < lines; ++i) {
    if (random() % 16 == 0) text += random() % 2 ? "# comment\n" : "\n";
    text += std::to_string(random() % reach) + separator() + std::to_string(random() % reach);
    if (weighted) text += separator() + std::to_string(static_cast<long long>(random() % 2000000) - 1000000);
    text += '\n';
  }
  return text;
}

}  // namespace

GS_TEST(edge_lists_in_pieces_on_threads) {
  Random random(check::seed);
  const std::size_t lines = check::pick<std::size_t>(20000, 100000, 1000000);
  for (const std::uint64_t reach :
       {std::uint64_t{1000}, std::uint64_t{1} << 25, std::uint64_t{1} << 28, std::uint64_t{1} << 45}) {
    const std::string text = edge_list(random, lines, reach, random() % 2);
    const Edges judge = judged(text, '#', false);
    const Read got = read(text, GS_EDGE_LIST, 0, 1 + static_cast<int>(random() % 4), random);
    CHECK_EQ(got.message, std::string());
    CHECK(edges_of(got) == judge);
    CHECK(std::is_sorted(got.labels.begin(), got.labels.end()));
    // A number that several threads have read is one vertex.
    CHECK(std::adjacent_find(got.labels.begin(), got.labels.end()) == got.labels.end());
  }
}

GS_TEST(undirected_lists_store_both_directions) {
  Random random(check::seed);
  const std::string text = edge_list(random, 5000, 300, true);
  Edges judge = judged(text, '#', false);
  for (std::size_t i = 0, count = judge.size(); i < count; ++i) {
    const auto [source, target, weight] = judge[i];
    if (source != target) judge.emplace_back(target, source, weight);
  }
  std::sort(judge.begin(), judge.end());
  const Read got = read(text, GS_EDGE_LIST, GS_READ_UNDIRECTED, 3, random);
  CHECK(edges_of(got) == judge);
  std::uint64_t vertex = 0, other = 0;
  CHECK_EQ(got.shape.flags, GS_GRAPH_SYMMETRIC);
  CHECK_EQ(gs_graph_check_symmetric(got.shape.vertices, got.offsets.data(), got.targets.data(), got.weights.data(),
                                    GS_F64, 2, &vertex, &other),
           0);
}

namespace {

/// Words of a file: later ones are ever rarer, so that all blocks have new ones.
/// A comment announces lines with one word.
std::string word_list(Random& random, std::size_t lines, bool weighted, const char*& separator) {
  static const char* const separators[] = {",", ", ", "\t", " ", " \t"};
  separator = separators[random() % std::size(separators)];
  std::string text;
  std::set<std::string> words;
  auto word = [&](std::size_t line) {
    static const char* const stems[] = {"a", "node", "\xc3\xa4pfel", "a-long-word-that-takes-three-loads", "12x"};
    const std::string made =
        stems[random() % std::size(stems)] + std::string("_") + std::to_string(random() % (line / 2 + 3));
    words.insert(made);
    return made;
  };
  for (std::size_t i = 0; i < lines; ++i) {
    if (random() % 32 == 0) text += random() % 2 ? "% comment\n" : " \t\n";
    if (i > 0 && random() % 32 == 0) text += word(i) + "\n";
    text += word(i) + separator + word(i);
    if (weighted) text += separator + std::to_string(random() % 1000);
    text += random() % 8 ? "\n" : "\r\n";
  }
  return "# Nodes: " + std::to_string(words.size()) + " Edges: " + std::to_string(lines) + "\n" + text;
}

}  // namespace

/// The reference numbers words with a map, line by line.
GS_TEST(words_are_numbered_in_file_order_for_any_thread_count) {
  Random random(check::seed);
  for (int round = 0; round < check::pick(2, 2, 20); ++round) {
    const bool weighted = random() % 2;
    const char* separator = nullptr;
    const std::string text = word_list(random, check::pick<std::size_t>(60000, 60000, 600000), weighted, separator);
    CHECK(text.size() > (std::size_t{1} << 20));
    std::map<std::string, std::int64_t> index;
    std::string words = "\n";
    Edges judge;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::replace(line.begin(), line.end(), ',', ' ');
      std::istringstream columns(line);
      std::string source, target;
      double weight = 0;
      if (!(columns >> source) || source == "%" || source == "#") continue;
      const bool edge = static_cast<bool>(columns >> target);
      columns >> weight;
      for (const std::string& word : {source, target})
        if (!word.empty() && index.emplace(word, index.size()).second) words += word + "\n";
      if (edge) judge.emplace_back(index[source], index[target], weight);
    }
    std::sort(judge.begin(), judge.end());
    const Read got = read(text, GS_EDGE_LIST, 0, round == 0 ? 4 : round, random);
    CHECK_EQ(got.message, std::string());
    CHECK_EQ(got.shape.vertices, index.size());
    CHECK(got.words == words);
    CHECK(edges_of(got) == judge);
  }
}

/// Errors that a block finds alone, that depend on earlier blocks, and several at once.
GS_TEST(first_bad_line_of_a_word_list_is_reported) {
  Random random(check::seed);
  const char* separator = nullptr;
  const std::string text = word_list(random, check::pick<std::size_t>(60000, 60000, 600000), false, separator);
  std::vector<std::size_t> begins;  // of lines with two words
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    const std::size_t gap = line.find(separator);
    if (line[0] != '%' && line[0] != '#' && gap != std::string::npos && gap > 0 && line[0] != ' ') begins.push_back(at);
  }
  const auto columns = [&](std::string line) {
    for (std::size_t at = 0; (at = line.find(' ', at)) != std::string::npos; at += std::strlen(separator))
      line.replace(at, 1, separator);
    return line;
  };
  const std::pair<const char*, const char*> faults[] = {
      {"one two 3\n", "3 columns, but line "},
      {"one two 3 4\n", "more than three columns"},
      {"one \x01two\n", "a control character"},
      {"one t\xffwo\n", "is not UTF-8"},
  };
  for (int round = 0; round < check::pick(4, 4, 100); ++round) {
    std::map<std::size_t, const std::pair<const char*, const char*>*> placed;
    for (std::uint64_t many = 1 + random() % 6; many; --many)
      placed[begins[1 + random() % (begins.size() - 1)]] = &faults[random() % std::size(faults)];
    std::string damaged;
    std::size_t from = 0;
    for (const auto& [at, fault] : placed) {
      damaged += text.substr(from, at - from) + columns(fault->first);
      from = at;
    }
    damaged += text.substr(from);
    const std::size_t first = placed.begin()->first;
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(first), '\n');
    const Read got = read(damaged, GS_EDGE_LIST, 0, 1 + static_cast<int>(random() % 4), random);
    CHECK_EQ(got.message.substr(0, got.message.find(": ")), "file:" + std::to_string(line));
    CHECK(got.message.find(placed.begin()->second->second) != std::string::npos);
  }
}

GS_TEST(work_does_not_grow_with_the_number_of_threads) {
  Random random(check::seed);
  for (const bool words : {false, true}) {
    std::string text;
    while (text.size() < (std::size_t{4} << 20)) {
      text += (words ? "v" : "") + std::to_string(random() % 200000) + " " + std::to_string(random() % 200000) + "\n";
    }
    std::uint64_t work[2];
    for (const int many : {0, 1}) {
      const std::uint64_t begun = gs_graph_work();
      CHECK_EQ(read(text, GS_EDGE_LIST, 0, many ? 64 : 1, random).message, std::string());
      work[many] = gs_graph_work() - begun;
      CHECK(work[many] > text.size());
    }
    CHECK(work[1] * 100 <= work[0] * 115);
  }
}

/// Column headings are detected by later lines, perhaps blocks later; so are columns.
GS_TEST(first_line_before_blocks_of_comments) {
  Random random(check::seed);
  std::string comments;
  while (comments.size() < (std::size_t{3} << 20)) comments += "# nothing here\n";
  const auto lines = 2 + std::count(comments.begin(), comments.end(), '\n');
  for (const int threads : {1, 3}) {
    const Read numbers = read("from to\n" + comments + "1 2\n2 3\n", GS_EDGE_LIST, 0, threads, random);
    const std::string place = "file:" + std::to_string(lines);
    CHECK(numbers.message.starts_with(place + ": vertex numbers after a line of column headings"));
    const Read words = read("from to\n" + comments + "x y\n", GS_EDGE_LIST, 0, threads, random);
    CHECK(words.message.starts_with("file:1: these look like column headings"));
    const Read named = read("from to\n" + comments + "x from\n", GS_EDGE_LIST, 0, threads, random);
    CHECK_EQ(named.message, std::string());
    const Read columns = read("x y\n" + comments + "y x 3\n", GS_EDGE_LIST, 0, threads, random);
    CHECK(columns.message.starts_with(place + ": 3 columns, but line 1 has 2"));
    const Read same = read("node node\nx y\n", GS_EDGE_LIST, 0, threads, random);
    CHECK(same.message.starts_with("file:1: these look like column headings"));
  }
}

GS_TEST(matrices_and_dimacs) {
  Random random(check::seed);
  const std::size_t lines = check::pick<std::size_t>(5000, 60000, 1000000);
  std::string entries, arcs;
  for (std::size_t i = 0; i < lines; ++i) {
    const std::string edge = std::to_string(1 + random() % 50000) + " " + std::to_string(1 + random() % 50000);
    const std::string weight = std::to_string(random() % 4096) + "." + std::to_string(random() % 1000);
    entries += edge + " " + weight + "\n";
    arcs += "a " + edge + " " + std::to_string(random() % 100000) + "\n";
  }
  const std::string count = std::to_string(lines) + "\n";
  const Read matrix = read("%%MatrixMarket matrix coordinate real general\n% c\n50000 50000 " + count + entries,
                           GS_MATRIX_MARKET, 0, 4, random);
  CHECK(edges_of(matrix) == judged(entries, '%', false));
  const Read dimacs = read("c\np sp 50000 " + count + arcs, GS_DIMACS, 0, 4, random);
  CHECK(edges_of(dimacs) == judged(arcs, 'c', true));
}

GS_TEST(metis_line_may_exceed_a_block) {
  Random random(check::seed);
  const int leaves = check::pick(250000, 250000, 1000000);
  std::string text = std::to_string(leaves + 1) + " " + std::to_string(leaves) + "\n";
  for (int i = 0; i < leaves; ++i) text += std::to_string(i + 2) + " ";
  text += "\n";
  for (int i = 0; i < leaves; ++i) text += "1\n";
  const Read star = read(text, GS_METIS, 0, 2, random);
  CHECK_EQ(star.message, std::string());
  CHECK_EQ(star.shape.edges, 2u * static_cast<unsigned>(leaves));
  CHECK_EQ(star.offsets[1], static_cast<std::uint64_t>(leaves));
}

GS_TEST(first_bad_line_is_reported) {
  Random random(check::seed);
  const std::string text = edge_list(random, 200000, 100000, false);
  for (int round = 0; round < check::pick(2, 4, 40); ++round) {
    std::string damaged = text;
    std::size_t first = text.size();
    for (int faults = 0; faults < 3; ++faults) {
      const std::size_t line = damaged.find('\n', random() % (text.size() / 2)) + 1;
      damaged[line] = 'x';
      first = std::min(first, line);
    }
    // The first line determines that the file has numbers: it remains undamaged.
    if (first < 100) continue;
    const Read got = read(damaged, GS_EDGE_LIST, 0, 4, random);
    const auto number = 1 + std::count(damaged.begin(), damaged.begin() + static_cast<std::ptrdiff_t>(first), '\n');
    CHECK_EQ(got.message.substr(0, got.message.find(": ")), "file:" + std::to_string(number));
  }
}

GS_TEST(closing_early_releases_everything) {
  Random random(check::seed);
  const std::string text = edge_list(random, 200000, 100000, true);
  for (int round = 0; round < 5; ++round)
    read(text, GS_EDGE_LIST, 0, 4, random, static_cast<long>(random() % text.size()));
  const char* separator = nullptr;
  const std::string words = word_list(random, 60000, true, separator);
  for (int round = 0; round < 3; ++round)
    read(words, GS_EDGE_LIST, 0, 4, random, static_cast<long>(random() % words.size()));
}

GS_TEST(unknown_format_is_rejected) {
  void* parser = nullptr;
  for (const int format : {0, 5, -1, 99}) {
    CHECK(gs_graph_parser_open("file", format, 0, 1, &parser) != 0);
    CHECK(std::string(gs_last_error()).starts_with("file: no text format has the number"));
    CHECK(parser == nullptr);
  }
}

GS_TEST(damaged_text_is_an_error_or_a_valid_graph) {
  Random random(check::seed);
  const std::pair<int, std::string> samples[] = {
      {GS_EDGE_LIST, "# Nodes: 3 Edges: 3\n0 1\n1 2\n3 0\n"},
      {GS_EDGE_LIST, "1,2,3.5e1\n99999999999,1,-7\n5 5 0\n"},
      {GS_EDGE_LIST, "# Nodes: 4 Edges: 2\n\xc3\xa4pfel birne 3\nbirne zitrone 2.5\nallein\n"},
      {GS_EDGE_LIST, "\"\xc3\xa4pfel\",\"bir\"\"ne\",3\nbirne, zi trone,2.5\n"},
      {GS_EDGE_LIST, "# Nodes: 3 Edges: 2 Least: -4\n-4 0 2\n0 -2 1\n"},
      {GS_MATRIX_MARKET, "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n0\n%\n4D1\n5\n0\n"},
      {GS_MATRIX_MARKET, "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n0\n"},
      {GS_MATRIX_MARKET, "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n1 1 5\n3 1 -2\n"},
      {GS_MATRIX_MARKET, "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n3 1 1.25e-3\n"},
      {GS_METIS, "% c\n4 3 011 1\n1 2 7 3 9\n1 1 7\n1 1 9 4 2\n% d\n1 3 2\n"},
      {GS_DIMACS, "c x\np sp 3 2\na 1 2 3\na 3 1 4\n"},
  };
  int errors = 0;
  for (int round = 0; round < check::pick(1000, 4000, 300000); ++round) {
    auto [format, text] = samples[random() % std::size(samples)];
    for (std::uint64_t faults = random() % 4; faults < 4; ++faults) {
      const std::size_t at = random() % (text.size() + 1);
      switch (random() % 4) {
        case 0: text.resize(at); break;
        case 1:
          if (at < text.size()) text[at] = static_cast<char>(random());
          break;
        case 2: text.insert(at, text.substr(random() % (text.size() + 1), random() % 16)); break;
        default: text.erase(at, random() % 4);
      }
    }
    const unsigned flags = random() % 2;
    const Read got = read(text, format, flags, 1 + static_cast<int>(random() % 3), random);
    if (got.code != 0) {
      ++errors;
      CHECK(got.message.starts_with("file:"));
      CHECK(got.message.find('\n') == std::string::npos);
      continue;
    }
    gs_graph_census census;
    CHECK_EQ(gs_graph_count(got.shape.vertices, got.shape.edges, got.offsets.data(), got.targets.data(), &census), 0);
    CHECK(!got.shape.label_bytes || (got.words.front() == '\n' && got.words.back() == '\n'));
  }
  CHECK(errors > 0);
}
