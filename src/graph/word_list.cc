// SPDX-License-Identifier: Apache-2.0
/// Edge lists whose vertices are words. A line with one word declares a vertex, if a comment states the numbers of
/// vertices and edges.
///
/// Result: words numbered in the order of their first appearance in the file, for any number of threads.
/// Method: a thread numbers the words of its block in its own table, which fits its cache. Then
/// blocks enter, in the order of the file, a critical section that looks up each of their words once in the
/// global table. Then the thread puts its edges, with the words' final numbers, into its sink. Only the critical
/// section is serial. Cache misses in the global table bound its time; several of them overlap.
#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>

#include "graph/names.h"
#include "graph/text_format.h"

namespace gossamer::graph {

bool is_heading(std::string_view word) {
  static constexpr std::string_view stems[] = {
      "source",     "src",         "from",    "node",     "u",      "v",          "head",     "tail",
      "start",      "end",         "id",      "fromnode", "tonode", "target",     "sourceid", "targetid",
      "nodeid",     "dst",         "dest",    "to",       "vertex", "fromid",     "toid",     "user",
      "vertexid",   "userid",      "srcid",   "dstid",    "destid", "fromnodeid", "tonodeid", "sourcenode",
      "targetnode", "destination", "startid", "endid",    "name",   "label"};
  std::string bare;
  for (const char c : lower(word)) {
    if (c >= 'a' && c <= 'z') bare += c;
  }
  return std::find(std::begin(stems), std::end(stems), bare) != std::end(stems);
}

namespace {

enum class Kind : std::uint8_t { kWord, kHigh, kBlank, kComma, kLineEnd, kControl };

constexpr std::array<Kind, 256> kKinds = [] {
  std::array<Kind, 256> kinds{};
  for (int byte = 0; byte < 256; ++byte)
    kinds[byte] = byte >= 0x80 ? Kind::kHigh : byte < 0x20 || byte == 0x7f ? Kind::kControl : Kind::kWord;
  kinds[' '] = kinds['\t'] = kinds['\r'] = Kind::kBlank;
  kinds[','] = Kind::kComma;
  kinds['\n'] = Kind::kLineEnd;
  return kinds;
}();
Kind kind(char c) { return kKinds[static_cast<unsigned char>(c)]; }

/// Punctuation of other formats, which is no name of a vertex.
[[gnu::noinline]] bool is_mark(std::string_view word) {
  static constexpr std::string_view all[] = {"[",  "]",   "{", "}", "[]", "{}", "},",
                                             "],", "{},", "(", ")", "->", "--", "=>"};
  if (std::find(std::begin(all), std::end(all), word) != std::end(all)) return true;
  // An opening bracket without its closing one: "(0, 1)" or "[a, b]" at a comma.
  const std::size_t bracket = std::string_view("([{").find(word[0]);
  return bracket != std::string_view::npos && word.find(")]}"[bracket]) == std::string_view::npos;
}
inline bool is_punctuation(std::string_view word) {
  // Most words begin with a letter or a digit.
  const auto first = static_cast<unsigned char>(word[0]);
  return (first == '[' || first == ']' || first == '{' || first == '}' ||
          (first <= '=' && (first < '0' || first > '9'))) &&
         is_mark(word);
}

/// Whether a word is a decimal number: "0.5", "1e-3".
bool is_decimal(std::string_view word) {
  Number number;
  return whole_weight(word, number) && !number.whole;
}

/// One block, with block-local numbers of its words: 0, 1, 2, ... in the order of first appearance.
struct BlockOfWords final : Scratch {
  IndexTable table;
  std::vector<std::string_view> words;
  std::vector<std::uint64_t> hashes;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  std::vector<Number> weights;       // of the edges, or empty
  std::vector<std::uint32_t> index;  // of each word in the graph
  FieldCutter cutter;
  bool any_word = false;  // punctuation is a word as well

  std::uint64_t lines = 0;
  std::uint64_t word_lines = 0;    // lines with words
  std::uint64_t first_line = 0;    // the first of these
  bool first_is_numbers = false;   // that line is an edge between numbers
  unsigned columns = 0;            // of the first line with an edge
  std::uint64_t columns_line = 0;  // that line
  std::uint64_t single_line = 0;   // the first line with one word before that line, from 1; 0: none
  bool numbers_only = true;        // all edges are between numbers, except for the file's first
  bool decimals_only = true;       // the target of every edge is a decimal number
  bool first_named_again = false;  // a word of the file's first line is also in another line
  std::optional<BadLine> failure;  // the error of the block
  unsigned failed_columns = 0;     // or the number of columns of a line with other than `columns`

  void restart() {
    table.empty();
    words.clear();
    hashes.clear();
    edges.clear();
    weights.clear();
    cutter.restart();
    lines = word_lines = first_line = columns_line = single_line = 0;
    columns = failed_columns = 0;
    first_is_numbers = first_named_again = false;
    numbers_only = decimals_only = true;
    failure.reset();
  }

  [[gnu::noinline]] static void check_label(std::string_view word, bool high, std::uint64_t line) {
    if (high && bad_utf8(word) != std::string_view::npos)
      bad(line, "label %s is not UTF-8; convert the file (iconv) first", quoted(word).c_str());
    if (!high)
      bad(line,
          "%s is not a vertex; if this file is not an edge list, convert it to a format of ./gossamer graph --help",
          quoted(word).c_str());
  }

  std::uint32_t number(std::string_view word, bool high, std::uint64_t line) {
    const std::uint64_t hash = hash_text(word);
    const auto fresh = static_cast<std::uint32_t>(words.size());
    const std::uint32_t found =
        table.find_or_add(hash, fresh, [&](std::uint32_t i) { return same_text(words[i], word); });
    if (found == fresh) {
      if (high || (!any_word && is_punctuation(word))) check_label(word, high, line);
      words.push_back(word);
      hashes.push_back(hash);
    }
    return found;
  }
};

class WordList final : public TextFormat {
 public:
  WordList(Header& header, const Columns& columns)
      : TextFormat(header), columns_(columns), first_line_(header.lines + 1) {}

  HeaderLine header_line(std::string_view) override { return HeaderLine::kData; }
  std::uint64_t parse(const Block& block, Worker& worker) override;
  void parsed(const Block& block) override;
  Numbering finish(std::deque<Worker>& workers, gs_graph_shape& shape) override;
  void labels(const Numbering&, std::int64_t*, std::uint64_t* starts, char* text) override {
    std::copy(names_.starts().begin(), names_.starts().end(), starts);
    std::copy(names_.text().begin(), names_.text().end(), text);
  }

 private:
  void read(const Block& block, BlockOfWords& into);
  void read_line(const std::string_view* words, unsigned high, unsigned count, std::uint64_t line, bool first_block,
                 BlockOfWords& into);
  void await_order(std::uint64_t block);
  void merge_in_order(std::uint64_t block, BlockOfWords& read);
  [[noreturn]] void bad_columns(std::uint64_t line, unsigned count) const;
  [[noreturn]] void bad_headings(std::uint64_t line) const;

  bool announced() const { return header_.announces_vertices && header_.announces_edges; }
  static constexpr unsigned kAnyForm = ~0u;
  unsigned blank_words(const char*& at, std::uint64_t line, std::string_view* words, unsigned& high) const;
  unsigned separated_words(const char*& at, std::string_view* words, unsigned& high) const;
  unsigned fields(std::string_view line, std::uint64_t number, std::string_view* words, unsigned& high,
                  BlockOfWords& into) const;

  const Columns columns_;
  const std::uint64_t first_line_;
  // Set from the first line of the file by the thread of the first block; read in later critical sections.
  bool heading_words_ = false;     // the line consists of usual column headings
  std::uint32_t first_words_ = 0;  // the number of its words: they have the first indices

  std::mutex order_mutex_;
  std::condition_variable order_changed_;
  std::uint64_t next_block_ = 0;  // the next block to enter the critical section, which guards all members below
  TextNames names_;
  std::uint64_t lines_ = 0;       // in the blocks so far
  std::uint64_t word_lines_ = 0;  // those with words
  unsigned found_columns_ = 0;    // 2 or 3, from the first line with an edge
  std::uint64_t found_line_ = 0;
  std::uint64_t single_line_ = 0;  // the first line with one word that no comment announces
  bool first_named_again_ = false;
  bool numbers_only_ = true;
  bool decimals_only_ = true;
};

void WordList::bad_columns(std::uint64_t line, unsigned count) const {
  bad(line, "%u column%s, but line %llu has %u (source target%s)%s", count, count == 1 ? "" : "s",
      (unsigned long long)found_line_, found_columns_, found_columns_ == 3 ? " weight" : "",
      count == 1 ? "; is the line cut?" : "; a list of neighbours needs --format adjlist");
}

void WordList::bad_headings(std::uint64_t line) const {
  bad(line,
      "vertex numbers after a line of column headings (line %llu); put a '#' before the headings, or name the columns: "
      "--columns SOURCE,TARGET",
      (unsigned long long)first_line_);
}

/// `high`: a bit for each word with bytes beyond ASCII.
[[gnu::always_inline]] inline void WordList::read_line(const std::string_view* words, unsigned high, unsigned count,
                                                       std::uint64_t line, bool first_block, BlockOfWords& into) {
  if (count > 3)
    bad(line,
        "more than three columns; an edge list has: source target [weight]; choose columns: --columns "
        "SOURCE,TARGET[,WEIGHT]");
  const bool files_first = first_block && into.word_lines == 0;
  if (files_first) {
    heading_words_ = count > 1 && is_heading(words[0]) && is_heading(words[1]);
    // A first line of a word and a number, followed by numbers, is no sign of headings.
    into.numbers_only = count > 1 && !looks_numeric(words[0]) && !looks_numeric(words[1]);
  } else if (count > 1 && into.numbers_only) {
    into.numbers_only = looks_numeric(words[0]) && looks_numeric(words[1]);
    if (first_block && into.word_lines == 1 && heading_words_ && into.numbers_only && !header_.announces_edges)
      bad_headings(line);
  }
  if (into.word_lines++ == 0) {
    into.first_line = line;
    into.first_is_numbers = count > 1 && into.numbers_only;
  }
  if (count > 1 && into.columns == 0) {
    into.columns = count;
    into.columns_line = line;
  } else if ((count > 1 || (into.columns && !announced())) && count != into.columns) {
    into.failed_columns = count;
    throw BadLine{line, ""};
  } else if (count == 1 && !into.single_line && !announced()) {
    into.single_line = line + 1;
  }
  Number weight;
  if (count == 3) {
    if (!whole_weight(words[2], weight)) {
      const char* hint = words[2][0] == '{'         ? "; NetworkX writes weights alone with write_weighted_edgelist"
                         : is_punctuation(words[1]) ? "; choose the columns of the vertices: --columns 1,3"
                                                    : "; a list of neighbours needs --format adjlist";
      bad(line, "weight %s is not %s%s", quoted(words[2]).c_str(), weights_must_be(words[2]), hint);
    }
  }
  const std::uint32_t source = into.number(words[0], high & 1, line);
  const std::uint32_t target = count > 1 ? into.number(words[1], high & 2, line) : source;
  if (files_first)
    first_words_ = static_cast<std::uint32_t>(into.words.size());
  else if (first_block)
    into.first_named_again |= std::min(source, target) < first_words_;
  if (count == 1) return;
  if (into.decimals_only) into.decimals_only = count == 2 && is_decimal(words[1]);
  into.edges.emplace_back(source, target);
  if (count == 3) into.weights.push_back(weight);
}

/// The columns of a line in any form: their number, or 2 or 3 if the user has chosen columns.
unsigned WordList::fields(std::string_view text, std::uint64_t line, std::string_view* words, unsigned& high,
                          BlockOfWords& into) const {
  const std::vector<Field>& fields = into.cutter.cut(text, columns_.separator, line, columns_.quotes);
  unsigned count = static_cast<unsigned>(std::min<std::size_t>(fields.size(), 4));
  if (columns_.chosen) {
    columns_.check(fields, line);
    count = columns_.weighted() ? 3 : 2;
    words[0] = fields[columns_.source].text;
    words[1] = fields[columns_.target].text;
    if (columns_.weighted()) words[2] = fields[columns_.weight].text;
  } else {
    check_filled(fields, line, nullptr);
    for (unsigned i = 0; i < count; ++i) words[i] = fields[i].text;
  }
  for (unsigned i = 0; i < count; ++i)
    for (const char c : words[i]) {
      const Kind found = kind(c);
      if (found == Kind::kHigh) high |= 1u << i;
      if (found == Kind::kControl || c == '\t')
        bad(line, "a control character in a vertex label; the file is damaged or not text");
    }
  return count;
}

/// The words of a line separated by runs of blanks and tabs, at most 4; kAnyForm if FieldCutter must cut it.
[[gnu::always_inline]] inline unsigned WordList::blank_words(const char*& at, std::uint64_t line,
                                                             std::string_view* words, unsigned& high) const {
  for (unsigned count = 0;;) {
    unsigned tabs = 0;
    while (kind(*at) == Kind::kBlank) tabs += *at++ == '\t';
    if (*at == '\n' || count == 4) return count;
    if (count == 0 && (*at == '#' || *at == '%')) return 0;
    if ((*at == '"' && columns_.quotes) || (tabs > 1 && count)) return kAnyForm;
    const char* const begin = at;
    Kind stop;
    while ((stop = kind(*at)) <= Kind::kHigh) {
      high |= static_cast<unsigned>(stop) << count;
      ++at;
    }
    if (stop == Kind::kControl) bad(line, "a control character in a vertex label; the file is damaged or not text");
    if (stop == Kind::kComma) return kAnyForm;
    words[count++] = {begin, static_cast<std::size_t>(at - begin)};
  }
}

/// As blank_words, for words that single tabs or commas separate.
[[gnu::always_inline]] inline unsigned WordList::separated_words(const char*& at, std::string_view* words,
                                                                 unsigned& high) const {
  if (*at == '\n' || *at == '#' || *at == '%') return 0;
  for (unsigned count = 0; count < 4;) {
    const char* const begin = at;
    Kind stop;
    while ((stop = kind(*at)) <= Kind::kHigh) {
      high |= static_cast<unsigned>(stop) << count;
      ++at;
    }
    if (at == begin || *begin == '"') return kAnyForm;
    words[count++] = {begin, static_cast<std::size_t>(at - begin)};
    if (*at == '\n' || (*at == '\r' && at[1] == '\n')) return count;
    if (*at != columns_.separator) return kAnyForm;
    ++at;
  }
  return kAnyForm;
}

void WordList::read(const Block& block, BlockOfWords& into) {
  std::uint64_t line = 0;
  try {
    for (const char *at = block.begin(), *end = block.end(); at != end; ++line) {
      const char* const begin = at;
      std::string_view words[4];
      unsigned high = 0;
      unsigned count = columns_.chosen             ? kAnyForm
                       : columns_.separator == ' ' ? blank_words(at, line, words, high)
                                                   : separated_words(at, words, high);
      if (count == kAnyForm) {
        high = 0;
        at = skip_blanks<false>(begin);
        const bool none = *at == '\n' || *at == '#' || *at == '%';
        count = none ? 0 : fields(line_at(begin), line, words, high, into);
      }
      if (count) read_line(words, high, count, line, block.number == 0, into);
      at = next_line(at, end);
    }
  } catch (const BadLine& error) {
    into.failure = error;
  }
  into.lines = line;
}

void WordList::await_order(std::uint64_t block) {
  std::unique_lock lock(order_mutex_);
  order_changed_.wait(lock, [&] { return next_block_ >= block; });
}

void WordList::parsed(const Block& block) {
  await_order(block.number);
  const std::lock_guard lock(order_mutex_);
  if (next_block_ > block.number) return;
  next_block_ = block.number + 1;
  order_changed_.notify_all();
}

/// The critical section: checks the block against the earlier ones, and finds its words' numbers in the graph.
void WordList::merge_in_order(std::uint64_t block, BlockOfWords& read) {
  const std::uint64_t good = read.failure ? read.failure->line : read.lines;  // lines before the error
  if (read.word_lines) {
    if (word_lines_ == 1 && heading_words_ && numbers_only_ && read.first_is_numbers && !header_.announces_edges)
      bad_headings(read.first_line);
    numbers_only_ &= read.numbers_only;
    decimals_only_ &= read.decimals_only;
  }
  if (read.single_line && read.single_line <= good) {
    if (found_columns_) bad_columns(read.single_line - 1, 1);
    if (!single_line_) single_line_ = header_.lines + lines_ + read.single_line;
  }
  if (read.columns && read.columns_line <= good) {
    if (found_columns_ == 0) {
      found_columns_ = read.columns;
      found_line_ = header_.lines + lines_ + read.columns_line + 1;
    }
    if (read.columns != found_columns_) bad_columns(read.columns_line, read.columns);
  }
  if (read.failed_columns) bad_columns(read.failure->line, read.failed_columns);
  if (read.failure) throw *read.failure;
  lines_ += read.lines;
  word_lines_ += read.word_lines;
  first_named_again_ |= read.first_named_again;

  constexpr std::size_t kBatch = 32;
  const std::size_t count = read.words.size();
  read.index.resize(count);
  for (std::size_t begin = 0; begin < count; begin += kBatch) {
    const std::size_t end = std::min(begin + kBatch, count);
    for (std::size_t i = begin; i < end; ++i) names_.prefetch_slot(read.hashes[i]);
    for (std::size_t i = begin; i < end; ++i) names_.prefetch_start(read.hashes[i]);
    for (std::size_t i = begin; i < end; ++i) names_.prefetch_name(read.hashes[i]);
    for (std::size_t i = begin; i < end; ++i) {
      read.index[i] = names_(read.words[i], read.hashes[i]);
      first_named_again_ |= block > 0 && read.index[i] < first_words_;
    }
  }
}

std::uint64_t WordList::parse(const Block& block, Worker& worker) {
  if (!worker.scratch) worker.scratch = std::make_unique<BlockOfWords>();
  auto& mine = static_cast<BlockOfWords&>(*worker.scratch);
  mine.restart();
  mine.any_word = header_.words;
  read(block, mine);
  await_order(block.number);
  merge_in_order(block.number, mine);
  parsed(block);  // lets the next block enter; the following code uses only this thread's data
  worker.entries += mine.edges.size();
  for (std::size_t i = 0; i < mine.edges.size(); ++i) {
    const std::uint32_t source = mine.index[mine.edges[i].first];
    const std::uint32_t target = mine.index[mine.edges[i].second];
    const Number* const weight = mine.weights.empty() ? nullptr : &mine.weights[i];
    worker.sink.add(source, target, weight);
    if (header_.undirected && source != target) worker.sink.add(target, source, weight);
  }
  return mine.lines;
}

Numbering WordList::finish(std::deque<Worker>& workers, gs_graph_shape& shape) {
  for (auto& worker : workers) worker.scratch.reset();
  if (names_.size() == 0) bad_file(0, "%s", kNoEdge);
  // A graph of vertices only must say so in a comment, as our own files do.
  if (shape.entries == 0 && !(announced() && header_.announced_edges == 0))
    bad_file(first_line_, "one column, on this and all other lines; an edge needs two: source target [weight]");
  if (single_line_)
    bad_file(single_line_, "1 column, but line %llu has %u (source target%s); is the line cut?",
             (unsigned long long)found_line_, found_columns_, found_columns_ == 3 ? " weight" : "");
  if (word_lines_ != shape.entries &&
      (header_.announced_vertices != names_.size() || header_.announced_edges != shape.entries))
    bad_file(
        header_.size_line,
        "the comment states %llu vertices and %llu edges, but the file has %llu and %llu; the file is truncated or "
        "the comment is wrong",
        (unsigned long long)header_.announced_vertices, (unsigned long long)header_.announced_edges,
        (unsigned long long)names_.size(), (unsigned long long)shape.entries);
  if (!header_.has_announced(shape.entries)) {
    if (heading_words_ && !first_named_again_)
      bad_file(first_line_,
               "these look like column headings: put a '#' before them (or, if vertices, another line first), or name "
               "the columns: --columns SOURCE,TARGET");
    if (decimals_only_ && !columns_.chosen)
      bad_file(first_line_,
               "column 2 has decimal numbers on all lines: weights, not vertices; an edge needs two vertices: source "
               "target [weight]");
  }
  if (!header_.has_announced(shape.entries) && numbers_only_ && shape.entries > 1)
    bad_file(first_line_,
             "words on this line, numbers on all others; if these are column headings, put a '#' before them");
  if (!first_named_again_ && shape.entries > 1 && columns_.separator != ' ' && !header_.has_announced(shape.entries))
    shape.notes |= GS_NOTE_HEADING;
  copy_announced(header_, shape);
  names_.forget_table();
  shape.vertices = names_.size();
  shape.label_kind = GS_LABELS_STRING;
  shape.label_bytes = names_.text().size();
  return Numbering(shape.vertices, 0u);
}

}  // namespace

std::unique_ptr<TextFormat> make_word_list(Header& header, const Columns& columns) {
  return std::make_unique<WordList>(header, columns);
}

}  // namespace gossamer::graph
