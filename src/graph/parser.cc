// SPDX-License-Identifier: Apache-2.0
/// Text to graph: a stream of text in, compressed sparse rows out.
///
/// The caller feeds text as it comes out of a decompressor. It is cut at newlines
/// into blocks of a megabyte, which threads parse straight into buckets of edges
/// (store.h), so that neither the text nor a list of edges is ever whole in
/// memory. Labelled edges (numbers beyond the buckets' reach, or words) go
/// through a table of names. A block knows its place in the file: the message
/// about a bad line is that of the file's first bad line, with its number,
/// whatever the threads did.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <condition_variable>
#include <cstdarg>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "gossamer/core/error.h"
#include "gossamer/graph/graph.h"
#include "graph/intern.h"
#include "graph/parallel.h"
#include "graph/store.h"
#include "graph/text.h"

namespace gossamer::graph {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
/// Ids from here on are looked up in a table and not used as indexes.
constexpr std::uint64_t kDirect = std::uint64_t{1} << 27;
constexpr unsigned kShift = 12;
constexpr std::uint64_t kMostVertices = 0xfffffffeu;

/// What a bad line makes: caught in this file, never passed on.
struct BadLine {
  std::uint64_t line;  // counted from the start of the block, from 0
  std::string what;
};

[[gnu::format(printf, 2, 3)]] [[noreturn]] void bad(std::uint64_t line, const char* format, ...) {
  char text[600];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  throw BadLine{line, text};
}

/// The stores of one thread, one for each type of weight met, and its far edges.
class Sink {
 public:
  explicit Sink(unsigned shift) : shift_(shift) {}

  void add(std::uint32_t source, std::uint32_t target) { store(none_, GS_NONE).add(source, target); }
  void add(std::uint32_t source, std::uint32_t target, const Number& weight) {
    if (!weight.whole)
      store(real_, GS_F64).add(source, target, weight.real);
    else if (weight.integer == static_cast<std::int32_t>(weight.integer))
      store(small_, GS_I32).add(source, target, static_cast<std::int32_t>(weight.integer));
    else
      store(large_, GS_I64).add(source, target, weight.integer);
  }
  void add_real(std::uint32_t source, std::uint32_t target, double weight) {
    store(real_, GS_F64).add(source, target, weight);
  }
  /// From a stored edge's bytes.
  void add(std::uint32_t source, std::uint32_t target, int type, const std::uint8_t* bytes) {
    if (type == GS_NONE) {
      add(source, target);
    } else if (type == GS_I32) {
      std::int32_t value;
      std::memcpy(&value, bytes, 4);
      store(small_, type).add(source, target, value);
    } else if (type == GS_I64) {
      std::int64_t value;
      std::memcpy(&value, bytes, 8);
      store(large_, type).add(source, target, value);
    } else {
      double value;
      std::memcpy(&value, bytes, 8);
      store(real_, type).add(source, target, value);
    }
  }
  void collect(std::vector<EdgeStore*>& into) {
    for (auto* one : {&none_, &small_, &large_, &real_})
      if (*one) into.push_back(&**one);
  }
  void clear() {
    for (auto* one : {&none_, &small_, &large_, &real_}) one->reset();
  }

 private:
  EdgeStore& store(std::optional<EdgeStore>& one, int type) {
    if (!one) [[unlikely]]
      one.emplace(shift_, type);
    return *one;
  }
  unsigned shift_;
  std::optional<EdgeStore> none_, small_, large_, real_;
};

struct FarEdge {
  std::uint64_t source, target;
  Number weight;
};

/// One thread's state.
struct Worker {
  explicit Worker(unsigned shift) : sink(shift) {}
  Sink sink;
  std::vector<FarEdge> far;
  std::uint64_t entries = 0;
  std::uint64_t most = 0;  // greatest id put into the sink
};

struct Block {
  std::uint64_t number = 0;
  std::uint64_t row = 0;  // METIS: data lines before it
  std::vector<char> text;
  std::size_t size = 0;
};

struct Failure {
  std::uint64_t block;
  std::uint64_t line;
  std::string what;
};

enum class Field { pattern, integer, real };
enum class Symmetry { general, symmetric, skew };

class Parser {
 public:
  Parser(const char* path, int format, unsigned flags, unsigned threads)
      : path_(path), format_(format), undirected_(flags & GS_READ_UNDIRECTED), threads_(threads) {}
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() { stop(); }

  int feed(const char* text, std::size_t length) {
    if (!report_.empty() || failed()) return report();
    if (header_done_) return push(text, length) == GS_OK ? static_cast<int>(GS_OK) : report();
    head_.insert(head_.end(), text, text + length);
    if (!read_header(false)) return report_.empty() ? static_cast<int>(GS_OK) : report();
    std::vector<char> rest(head_.begin() + static_cast<std::ptrdiff_t>(head_at_), head_.end());
    std::vector<char>().swap(head_);
    return push(rest.data(), rest.size()) == GS_OK ? static_cast<int>(GS_OK) : report();
  }

  int finish(gs_graph_shape* shape);
  int build(std::uint64_t* offsets, std::uint32_t* targets, void* weights, std::int64_t* numbers,
            std::uint64_t* starts, char* text);

 private:
  // Header ---------------------------------------------------------------
  bool read_header(bool last);
  bool header_line(std::string_view line);  // true: this line starts the data (and is not used up)
  bool edge_list_line(std::string_view line);
  bool matrix_line(std::string_view line);
  bool metis_line(std::string_view line);
  bool dimacs_line(std::string_view line);
  std::uint64_t count_word(std::string_view word, const char* what);
  void check_size(std::uint64_t vertices);

  // Blocks ---------------------------------------------------------------
  int push(const char* text, std::size_t length);
  int enqueue(std::size_t cut);
  /// Sources a bucket: enough buckets for all threads, and one bucket's rows fit a cache.
  unsigned shift() const {
    if (!n_) return kShift;
    unsigned bits = 4;
    while (bits < kShift && (n_ >> bits) > 256) ++bits;
    while (bits < 16 && (n_ >> bits) > 65536) ++bits;
    return bits;
  }
  void work(Worker& worker);
  void parse(Block& block, Worker& worker);
  void stop();
  void finish_queue();
  bool failed() {
    const std::lock_guard lock(mutex_);
    return failure_.has_value();
  }
  int report();

  // One format each; they throw BadLine, and give the number of lines.
  template <bool Weighted>
  std::uint64_t parse_edges(const char* at, const char* end, Worker& worker);
  std::uint64_t parse_words(const char* at, const char* end, Worker& worker);
  template <Field F>
  std::uint64_t parse_matrix(const char* at, const char* end, Worker& worker);
  std::uint64_t parse_metis(const char* at, const char* end, std::uint64_t row, Worker& worker);
  std::uint64_t parse_dimacs(const char* at, const char* end, Worker& worker);
  [[noreturn]] void bad_edge(const char* line, std::uint64_t number) const;
  [[noreturn]] void bad_entry(const char* line, std::uint64_t number, unsigned skip, const char* form) const;
  [[noreturn]] void bad_vertex(std::string_view word, std::uint64_t number) const;
  void add_edge(Worker& worker, std::uint64_t source, std::uint64_t target, const Number* weight);
  void flush_far(Worker& worker);
  void metis_lines(const char* text, std::size_t size);

  // End ------------------------------------------------------------------
  void number_vertices();
  void all_through_names();
  [[gnu::format(printf, 3, 4)]] int wrong(std::uint64_t line, const char* format, ...);
  std::vector<EdgeStore*> stores();
  int check_metis(const std::uint64_t* offsets, const std::uint32_t* targets, const void* weights);

  const std::string path_;
  const int format_;
  const bool undirected_;
  const unsigned threads_;

  // Header.
  std::vector<char> head_;
  std::size_t head_at_ = 0;
  std::uint64_t head_lines_ = 0;
  bool header_done_ = false;
  std::uint64_t size_line_ = 0;    // where the header gave the counts
  std::uint64_t announced_n_ = 0;  // from the header, or a SNAP comment
  std::uint64_t announced_m_ = 0;
  std::uint64_t n_ = 0;  // number of vertices where the header gives it
  Field field_ = Field::pattern;
  Symmetry symmetry_ = Symmetry::general;
  bool words_ = false;    // labels are strings
  unsigned columns_ = 0;  // of an edge list: 2 or 3, from its first line
  std::uint64_t columns_line_ = 0;
  bool metis_weighted_ = false;
  unsigned metis_skip_ = 0;  // vertex sizes and weights before the neighbours

  // Blocks.
  std::vector<char> current_;
  std::size_t filled_ = 0;
  std::uint64_t blocks_ = 0;
  std::uint64_t rows_ = 0;
  std::vector<std::uint64_t> comment_rows_;  // METIS: rows seen before each comment line
  std::mutex mutex_;
  std::condition_variable wake_worker_, wake_feeder_;
  std::deque<Block> queue_;
  std::vector<std::vector<char>> spare_;
  std::vector<std::uint64_t> lines_;  // of each parsed block
  std::optional<Failure> failure_;
  std::string report_;
  bool closing_ = false;
  std::vector<std::thread> workers_;
  std::deque<Worker> states_;

  // Names.
  std::mutex names_mutex_;
  NumberNames numbers_;
  TextNames text_names_;
  std::optional<Sink> named_;
  std::uint64_t word_lines_ = 0;        // lines with words so far
  std::uint64_t word_block_lines_ = 0;  // lines in the blocks so far
  bool heading_words_ = false;          // the first line is what tables are headed by
  bool heading_named_again_ = false;    // one of its words is a vertex of another line, too
  bool numbers_only_ = true;            // below the first line
  bool edges_announced_ = false;        // a comment says how many there are

  // Result.
  std::optional<Numbering> numbering_;
  gs_graph_shape shape_{};
  bool built_ = false;
};

bool looks_numeric(std::string_view word) {
  std::size_t i = !word.empty() && (word[0] == '-' || word[0] == '+') ? 1 : 0;
  if (i == word.size()) return false;
  bool digit = false;
  for (; i < word.size(); ++i) {
    if (is_digit(word[i]))
      digit = true;
    else if (word[i] != '.' &&
             !(digit && (word[i] == 'e' || word[i] == 'E' || word[i] == '-' || word[i] == '+')))
      return false;
  }
  return digit;
}

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// Header -----------------------------------------------------------------

/// Reads header lines out of head_. True when the data begins at head_at_.
bool Parser::read_header(bool last) {
  try {
    if (last && !head_.empty() && head_.back() != '\n') head_.push_back('\n');
    while (head_at_ < head_.size() && !header_done_) {
      const char* begin = head_.data() + head_at_;
      const auto* newline = static_cast<const char*>(std::memchr(begin, '\n', head_.size() - head_at_));
      if (!newline) {
        if (head_.size() - head_at_ > kBlock)
          bad(0, "no end of line within a megabyte: this is no graph in text; see ./gossamer graph --help");
        break;
      }
      const std::string_view line(begin, static_cast<std::size_t>(newline - begin));
      if (line.find('\0') != std::string_view::npos)
        bad(0, "a NUL byte: this is no graph in text; see ./gossamer graph --help for the known forms");
      if (header_line(line)) {
        header_done_ = true;
        return true;
      }
      head_at_ += line.size() + 1;
      ++head_lines_;
    }
    if (!header_done_ && head_at_ > kBlock) {
      head_.erase(head_.begin(), head_.begin() + static_cast<std::ptrdiff_t>(head_at_));
      head_at_ = 0;
    }
  } catch (const BadLine& error) {
    report_ = path_ + ":" + std::to_string(head_lines_ + 1) + ": " + error.what;
  }
  return header_done_;
}

bool Parser::header_line(std::string_view line) {
  switch (format_) {
    case GS_MATRIX_MARKET:
      return matrix_line(line);
    case GS_METIS:
      return metis_line(line);
    case GS_DIMACS:
      return dimacs_line(line);
    default:
      return edge_list_line(line);
  }
}

/// A count in a header: 0 .. 2^63 - 1.
std::uint64_t Parser::count_word(std::string_view word, const char* what) {
  const std::string ended = std::string(word) + "\n";
  const char* at = ended.c_str();
  std::uint64_t value = 0;
  if (!read_number(at, value) || *at != '\n')
    bad(0, "%s is no count of %s; correct the header", quoted(word).c_str(), what);
  return value;
}

/// Before anything of that size is asked for.
void Parser::check_size(std::uint64_t vertices) {
  if (vertices == 0) bad(0, "a graph without vertices; nothing can be computed on it");
  const auto memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (vertices > kMostVertices)
    bad(0, "%llu vertices announced, the most is %llu; is the header right?", (unsigned long long)vertices,
        (unsigned long long)kMostVertices);
  const double needed = 8.0 * static_cast<double>(vertices);
  if (needed > memory)
    bad(0, "%llu vertices announced, which take %.1f GB; this machine has %.1f GB; is the header right?",
        (unsigned long long)vertices, needed / 1e9, memory / 1e9);
  n_ = vertices;
}

bool Parser::edge_list_line(std::string_view line) {
  const auto words = split<true>(line);
  if (words.empty()) return false;
  if (words[0][0] == '#' || words[0][0] == '%') {
    // SNAP's "# Nodes: 7115 Edges: 103689": a comment, so no more than noted.
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      const std::string key = lower(words[i]);
      std::uint64_t value = 0;
      const std::string number = std::string(words[i + 1]) + "\n";
      const char* at = number.c_str();
      if ((key != "nodes:" && key != "edges:") || !read_number(at, value) || *at != '\n') continue;
      (key == "nodes:" ? announced_n_ : announced_m_) = value;
      edges_announced_ |= key == "edges:";
      size_line_ = head_lines_ + 1;
    }
    return false;
  }
  words_ = !looks_numeric(words[0]) || (words.size() > 1 && !looks_numeric(words[1]));
  columns_line_ = head_lines_ + 1;
  for (const std::string_view word : words) {
    const std::size_t at = word.find_first_of(";|");
    if (at != std::string_view::npos && (words.size() == 1 || at == 0 || at + 1 == word.size()))
      bad(0, "columns apart by '%c'; an edge list has blanks, tabs or commas between them: tr '%c' ' '", word[at],
          word[at]);
  }
  if (words_) return true;
  if (words.size() < 2) bad(0, "one column where an edge needs two: source target [weight]");
  if (words.size() > 3)
    bad(0, "%zu columns; an edge list has two or three: source target [weight]", words.size());
  columns_ = static_cast<unsigned>(words.size());
  return true;
}

bool Parser::matrix_line(std::string_view line) {
  const auto words = split<false>(line);
  if (head_lines_ == 0) {
    if (words.size() != 5)
      bad(0, "the banner must have five words: %%%%MatrixMarket matrix coordinate FIELD SYMMETRY");
    const std::string object = lower(words[1]), form = lower(words[2]), field = lower(words[3]),
                      symmetry = lower(words[4]);
    if (object != "matrix") bad(0, "object %s; a graph is a 'matrix'", quoted(words[1]).c_str());
    if (form != "coordinate")
      bad(0, "format %s; a graph is read from 'coordinate' (sparse) files alone", quoted(words[2]).c_str());
    if (field == "pattern")
      field_ = Field::pattern;
    else if (field == "integer")
      field_ = Field::integer;
    else if (field == "real" || field == "double")
      field_ = Field::real;
    else
      bad(0, "field %s; edges may be pattern, integer or real", quoted(words[3]).c_str());
    if (symmetry == "general")
      symmetry_ = Symmetry::general;
    else if (symmetry == "symmetric")
      symmetry_ = Symmetry::symmetric;
    else if (symmetry == "skew-symmetric" && field_ != Field::pattern)
      symmetry_ = Symmetry::skew;
    else
      bad(0, "symmetry %s; it may be general, symmetric or (with weights) skew-symmetric",
          quoted(words[4]).c_str());
    if (undirected_ && symmetry_ == Symmetry::skew)
      bad(0, "a skew-symmetric matrix cannot be read as undirected");
    return false;
  }
  if (words.empty() || words[0][0] == '%') return false;
  if (words.size() != 3) bad(0, "%zu columns where the sizes stand: rows columns entries", words.size());
  const std::uint64_t rows = count_word(words[0], "rows");
  const std::uint64_t columns = count_word(words[1], "columns");
  announced_m_ = count_word(words[2], "entries");
  if (rows != columns)
    bad(0, "%llu rows and %llu columns; the matrix of a graph is square", (unsigned long long)rows,
        (unsigned long long)columns);
  check_size(rows);
  size_line_ = head_lines_ + 1;
  header_done_ = true;
  return false;
}

bool Parser::metis_line(std::string_view line) {
  const auto words = split<false>(line);
  if (words.empty() || words[0][0] == '%') return false;
  if (words.size() < 2 || words.size() > 4)
    bad(0, "%zu columns where the header stands: vertices edges [format [weights]]", words.size());
  const std::uint64_t vertices = count_word(words[0], "vertices");
  announced_m_ = count_word(words[1], "edges");
  if (words.size() > 2) {
    const std::string_view format = words[2];
    if (format.size() > 3 || format.find_first_not_of("01") != std::string_view::npos)
      bad(0, "format %s; it has up to three digits, each 0 or 1: sizes, vertex weights, edge weights",
          quoted(format).c_str());
    auto flag = [&](std::size_t from_end) {
      return format.size() > from_end && format[format.size() - 1 - from_end] == '1';
    };
    metis_weighted_ = flag(0);
    std::uint64_t weights = flag(1) ? 1 : 0;
    if (words.size() > 3) {
      weights = count_word(words[3], "vertex weights");
      if (weights > 1000 || (weights == 0) == flag(1))
        bad(0, "%s vertex weights do not go with format %s", quoted(words[3]).c_str(),
            quoted(format).c_str());
    }
    metis_skip_ = static_cast<unsigned>(weights) + (flag(2) ? 1 : 0);
  }
  check_size(vertices);
  size_line_ = head_lines_ + 1;
  header_done_ = true;
  return false;
}

bool Parser::dimacs_line(std::string_view line) {
  const auto words = split<false>(line);
  if (words.empty() || words[0] == "c") return false;
  if (words[0] != "p")
    bad(0, "%s before the problem line; a DIMACS graph starts with: p sp VERTICES EDGES",
        quoted(words[0]).c_str());
  if (words.size() != 4 || words[1] != "sp") bad(0, "the problem line must be: p sp VERTICES EDGES");
  const std::uint64_t vertices = count_word(words[2], "vertices");
  announced_m_ = count_word(words[3], "edges");
  check_size(vertices);
  size_line_ = head_lines_ + 1;
  header_done_ = true;
  return false;
}

// Blocks -----------------------------------------------------------------

int Parser::push(const char* text, std::size_t length) {
  while (length) {
    if (current_.empty()) {
      const std::lock_guard lock(mutex_);
      if (!spare_.empty()) {
        current_ = std::move(spare_.back());
        spare_.pop_back();
      }
      if (current_.empty()) current_.resize(kBlock);
    }
    const std::size_t part = std::min(length, current_.size() - filled_);
    std::memcpy(current_.data() + filled_, text, part);
    filled_ += part;
    text += part;
    length -= part;
    if (filled_ < current_.size()) break;
    const auto* newline = static_cast<const char*>(::memrchr(current_.data(), '\n', filled_));
    if (newline) {
      const int code = enqueue(static_cast<std::size_t>(newline + 1 - current_.data()));
      if (code != GS_OK) return code;
    } else if (format_ == GS_METIS) {
      current_.resize(current_.size() * 2);  // a line holds all neighbours of a vertex
    } else {
      const std::lock_guard lock(mutex_);
      // A little more than a block, so that a comment or blanks cannot be meant.
      if (!failure_)
        failure_ = Failure{blocks_, 0, "no end of line within a megabyte: this is no line of a graph"};
      return GS_FAILED;
    }
  }
  return GS_OK;
}

/// Hands the first `cut` bytes to the workers, and keeps the rest.
int Parser::enqueue(std::size_t cut) {
  Block block;
  block.size = cut;
  block.number = blocks_++;
  block.row = rows_;
  if (format_ == GS_METIS) metis_lines(current_.data(), cut);
  std::vector<char> next;
  std::unique_lock lock(mutex_);
  const std::size_t most = threads_ + 2;
  if (workers_.empty() && !queue_.empty()) {
    // Words are numbered in the order of the file: one thread.
    const unsigned wanted = words_ ? 1 : threads_;
    lock.unlock();
    while (states_.size() < wanted) states_.emplace_back(shift());
    for (unsigned i = 0; i < wanted; ++i) {
      try {
        workers_.emplace_back([this, i] { work(states_[i]); });
      } catch (const std::system_error&) {
        if (workers_.empty()) throw std::bad_alloc();
        break;
      }
    }
    lock.lock();
  }
  wake_feeder_.wait(lock, [&] { return queue_.size() < most || failure_; });
  if (failure_ && failure_->block < block.number) return GS_FAILED;
  if (!spare_.empty()) {
    next = std::move(spare_.back());
    spare_.pop_back();
  }
  if (next.size() < std::max(kBlock, filled_ - cut)) next.resize(std::max(kBlock, filled_ - cut));
  std::memcpy(next.data(), current_.data() + cut, filled_ - cut);
  filled_ -= cut;
  block.text = std::move(current_);
  current_ = std::move(next);
  queue_.push_back(std::move(block));
  wake_worker_.notify_one();
  return GS_OK;
}

void Parser::work(Worker& worker) {
  for (;;) {
    Block block;
    {
      std::unique_lock lock(mutex_);
      wake_worker_.wait(lock, [&] { return !queue_.empty() || closing_; });
      if (queue_.empty()) return;
      block = std::move(queue_.front());
      queue_.pop_front();
      wake_feeder_.notify_one();
    }
    parse(block, worker);
  }
}

void Parser::parse(Block& block, Worker& worker) {
  std::uint64_t lines = 0;
  std::optional<Failure> failure;
  {
    const std::lock_guard lock(mutex_);
    if (failure_ && failure_->block < block.number) return;
  }
  const char* const at = block.text.data();
  const char* const end = at + block.size;
  try {
    if (const void* nul = std::memchr(at, 0, block.size))
      bad(static_cast<std::uint64_t>(std::count(at, static_cast<const char*>(nul), '\n')),
          "a NUL byte; the file is damaged or no text");
    if (format_ == GS_MATRIX_MARKET)
      lines = field_ == Field::pattern   ? parse_matrix<Field::pattern>(at, end, worker)
              : field_ == Field::integer ? parse_matrix<Field::integer>(at, end, worker)
                                         : parse_matrix<Field::real>(at, end, worker);
    else if (format_ == GS_METIS)
      lines = parse_metis(at, end, block.row, worker);
    else if (format_ == GS_DIMACS)
      lines = parse_dimacs(at, end, worker);
    else if (words_)
      lines = parse_words(at, end, worker);
    else
      lines = columns_ == 3 ? parse_edges<true>(at, end, worker) : parse_edges<false>(at, end, worker);
  } catch (const BadLine& error) {
    failure = Failure{block.number, error.line, error.what};
  } catch (const std::bad_alloc&) {
    failure = Failure{block.number, 0, "not enough memory for this graph from here on"};
  } catch (const std::exception& error) {
    failure = Failure{block.number, 0, error.what()};
  }
  const std::lock_guard lock(mutex_);
  if (lines_.size() <= block.number) lines_.resize(block.number + 1, 0);
  lines_[block.number] = lines;
  if (failure && (!failure_ || failure->block < failure_->block)) {
    failure_ = failure;
    wake_feeder_.notify_all();
  }
  if (block.text.size() == kBlock) spare_.push_back(std::move(block.text));
}

/// Lets the workers finish what is queued, and waits for them.
void Parser::stop() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_worker_.notify_all();
  for (auto& worker : workers_) worker.join();
  workers_.clear();
}

/// Parses what is queued in this thread; no worker may be running.
void Parser::finish_queue() {
  if (states_.empty()) states_.emplace_back(shift());
  closing_ = true;
  work(states_[0]);
}

int Parser::report() {
  if (report_.empty()) {
    stop();
    // With one block there are no workers yet, and it may hold an earlier error.
    finish_queue();
    std::uint64_t line = head_lines_ + failure_->line + 1;
    for (std::uint64_t block = 0; block < failure_->block && block < lines_.size(); ++block)
      line += lines_[block];
    report_ = path_ + ":" + std::to_string(line) + ": " + failure_->what;
  }
  return fail("%s", report_.c_str());
}

int Parser::wrong(std::uint64_t line, const char* format, ...) {
  char text[600];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  report_ = path_ + (line ? ":" + std::to_string(line) : "") + ": " + text;
  return report();
}

// Lines ------------------------------------------------------------------

const char* line_end(const char* at) {
  while (*at != '\n') ++at;
  return at;
}

void Parser::bad_vertex(std::string_view word, std::uint64_t number) const {
  const std::string shown = quoted(word);
  const bool negative = word.size() > 1 && word[0] == '-' && is_digit(word[1]);
  const bool digits = word.find_first_not_of("0123456789") == std::string_view::npos;
  if (format_ == GS_EDGE_LIST) {
    if (negative) bad(number, "vertex %s is negative; vertices are numbers from 0", shown.c_str());
    if (digits)
      bad(number, "vertex %s is too large; the most is %lld", shown.c_str(),
          (long long)std::numeric_limits<std::int64_t>::max());
    bad(number, "%s is no vertex number, but the file's first edge (line %llu) has numbers", shown.c_str(),
        (unsigned long long)columns_line_);
  }
  if (negative || digits)
    bad(number, "vertex %s is outside of 1 .. %llu, the range that line %llu announces", shown.c_str(),
        (unsigned long long)n_, (unsigned long long)size_line_);
  bad(number, "%s is no vertex; vertices are numbers 1 .. %llu", shown.c_str(), (unsigned long long)n_);
}

/// Says what is wrong with a line of numbers in an edge list.
void Parser::bad_edge(const char* line, std::uint64_t number) const {
  const auto words = split<true>({line, static_cast<std::size_t>(line_end(line) - line)});
  if (words.size() != columns_)
    bad(number, "%zu column%s where line %llu has %u (source target%s)", words.size(),
        words.size() == 1 ? "" : "s", (unsigned long long)columns_line_, columns_,
        columns_ == 3 ? " weight" : "");
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string ended = std::string(words[i]) + "\n";
    const char* at = ended.c_str();
    std::uint64_t value;
    if (!read_number(at, value) || *at != '\n') bad_vertex(words[i], number);
  }
  bad(number, "weight %s is no finite number", quoted(words[2]).c_str());
}

/// Says what is wrong with a line of a format whose vertices are 1 .. n.
void Parser::bad_entry(const char* line, std::uint64_t number, unsigned skip, const char* form) const {
  const auto words = split<false>({line, static_cast<std::size_t>(line_end(line) - line)});
  const std::size_t columns = split<false>(form).size();
  if (words.size() != columns)
    bad(number, "%zu column%s where %zu must stand: %s", words.size(), words.size() == 1 ? "" : "s", columns,
        form);
  for (std::size_t i = skip; i < skip + 2u; ++i) {
    const std::string ended = std::string(words[i]) + "\n";
    const char* at = ended.c_str();
    std::uint64_t value;
    if (!read_number(at, value) || *at != '\n' || value - 1 >= n_) bad_vertex(words[i], number);
  }
  bad(number, "weight %s is no %s", quoted(words.back()).c_str(),
      format_ == GS_MATRIX_MARKET && field_ == Field::integer ? "integer of 64 bits" : "finite number");
}

void Parser::add_edge(Worker& worker, std::uint64_t source, std::uint64_t target, const Number* weight) {
  const auto s = static_cast<std::uint32_t>(source);
  const auto t = static_cast<std::uint32_t>(target);
  if (weight)
    worker.sink.add(s, t, *weight);
  else
    worker.sink.add(s, t);
}

template <bool Weighted>
std::uint64_t Parser::parse_edges(const char* at, const char* end, Worker& worker) {
  std::uint64_t line = 0;
  std::uint64_t most = worker.most;
  std::uint64_t entries = 0;
  for (; at != end; ++line) {
    const char* const begin = at;
    at = skip_blanks<true>(at);
    if (*at == '\n') {
      ++at;
      continue;
    }
    if (*at == '#' || *at == '%') {
      at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at))) + 1;
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
      add_edge(worker, source, target, Weighted ? &weight : nullptr);
      if (undirected_ && source != target) add_edge(worker, target, source, Weighted ? &weight : nullptr);
    } else {
      worker.far.push_back({source, target, weight});
      if (worker.far.size() >= 16384) flush_far(worker);
    }
  }
  worker.most = most;
  worker.entries += entries;
  if (!worker.far.empty()) flush_far(worker);
  return line;
}

/// Edges with numbers too far out for buckets: through the table of names.
void Parser::flush_far(Worker& worker) {
  const std::lock_guard lock(names_mutex_);
  if (!named_) named_.emplace(kShift);
  for (const FarEdge& edge : worker.far) {
    const std::uint32_t source = numbers_(edge.source);
    const std::uint32_t target = numbers_(edge.target);
    for (int way = 0; way < (undirected_ && source != target ? 2 : 1); ++way) {
      const std::uint32_t s = way ? target : source;
      const std::uint32_t t = way ? source : target;
      if (columns_ == 3)
        named_->add(s, t, edge.weight);
      else
        named_->add(s, t);
    }
  }
  worker.far.clear();
}

/// Whether tables of edges have such a word above a column of vertices, in any spelling: node_1, "From Node".
bool is_heading(std::string_view word) {
  static constexpr std::string_view stems[] = {"source",   "src",      "from",     "node",     "u",      "v",
                                               "head",     "tail",     "start",    "end",      "id",     "fromnode",
                                               "tonode",   "sourceid", "targetid", "nodeid",   "target", "dst",
                                               "dest",     "to",       "vertex",   "fromid",   "toid",   "user",
                                               "vertexid", "userid",   "srcid",    "dstid",    "destid", "fromnodeid",
                                               "tonodeid", "sourcenode", "targetnode", "destination"};
  std::string bare;
  for (const char c : lower(word)) {
    if (c >= 'a' && c <= 'z') bare += c;
  }
  return std::find(std::begin(stems), std::end(stems), bare) != std::end(stems);
}

/// Lists whose labels are words. A line with one word declares a vertex.
std::uint64_t Parser::parse_words(const char* at, const char* end, Worker& worker) {
  std::uint64_t line = 0;
  for (; at != end; ++line) {
    const auto* newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    std::string_view words[4];
    unsigned count = 0;
    for (const char* p = at; p != newline;) {
      if (is_blank<true>(*p)) {
        ++p;
        continue;
      }
      if (count == 4) break;
      const char* const begin = p;
      while (p != newline && !is_blank<true>(*p)) {
        if (static_cast<unsigned char>(*p) < 0x20 || *p == 0x7f)
          bad(line, "a control character in a vertex label; the file is damaged or no text");
        ++p;
      }
      words[count++] = {begin, static_cast<std::size_t>(p - begin)};
    }
    at = newline + 1;
    if (count == 0 || words[0][0] == '#' || words[0][0] == '%') continue;
    if (count > 3) bad(line, "more than three columns; an edge list has: source target [weight]");
    auto index = [&](std::string_view word) {
      return text_names_(word, [&](std::string_view fresh) {
        if (bad_utf8(fresh) != std::string_view::npos)
          bad(line, "label %s is not UTF-8; convert the file (iconv) first", quoted(fresh).c_str());
      });
    };
    if (word_lines_ == 0) {
      heading_words_ = count > 1 && is_heading(words[0]) && is_heading(words[1]);
      // Numbers below a word and a number are no sign of headings.
      numbers_only_ = count > 1 && !looks_numeric(words[0]) && !looks_numeric(words[1]);
    } else if (count > 1) {
      numbers_only_ &= looks_numeric(words[0]) && looks_numeric(words[1]);
      if (word_lines_ == 1 && heading_words_ && numbers_only_)
        bad(line, "vertex numbers after a line of column headings (line %llu); put a '#' before the headings",
            (unsigned long long)columns_line_);
    }
    ++word_lines_;
    if (count == 1) {
      heading_named_again_ |= index(words[0]) < 2;
      continue;
    }
    if (columns_ == 0) {
      columns_ = count;
      columns_line_ = head_lines_ + word_block_lines_ + line + 1;
    }
    if (count != columns_)
      bad(line, "%u columns where line %llu has %u (source target%s)", count,
          (unsigned long long)columns_line_, columns_, columns_ == 3 ? " weight" : "");
    Number weight;
    if (count == 3) {
      const std::string ended = std::string(words[2]) + "\n";
      const char* p = ended.c_str();
      if (!read_weight(p, weight) || *p != '\n')
        bad(line, "weight %s is no finite number", quoted(words[2]).c_str());
    }
    const std::uint32_t source = index(words[0]);
    const std::uint32_t target = index(words[1]);
    // The words of the first line have the first two indices.
    heading_named_again_ |= word_lines_ > 1 && std::min(source, target) < 2;
    ++worker.entries;
    add_edge(worker, source, target, count == 3 ? &weight : nullptr);
    if (undirected_ && source != target) add_edge(worker, target, source, count == 3 ? &weight : nullptr);
  }
  word_block_lines_ += line;
  return line;
}

template <Field F>
std::uint64_t Parser::parse_matrix(const char* at, const char* end, Worker& worker) {
  constexpr const char* form = F == Field::pattern ? "row column" : "row column value";
  std::uint64_t line = 0;
  std::uint64_t entries = 0;
  const std::uint64_t n = n_;
  const bool mirror = undirected_ || symmetry_ != Symmetry::general;
  for (; at != end; ++line) {
    const char* const begin = at;
    at = skip_blanks<false>(at);
    if (*at == '\n') {
      ++at;
      continue;
    }
    if (*at == '%') {
      at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at))) + 1;
      continue;
    }
    std::uint64_t row = 0, column = 0;
    Number weight;
    if (!read_number(at, row) || !is_blank<false>(*at)) bad_entry(begin, line, 0, form);
    at = skip_blanks<false>(at);
    if (!read_number(at, column)) bad_entry(begin, line, 0, form);
    if constexpr (F != Field::pattern) {
      if (!is_blank<false>(*at)) bad_entry(begin, line, 0, form);
      at = skip_blanks<false>(at);
      if (!read_weight(at, weight) || (F == Field::integer && !weight.whole)) bad_entry(begin, line, 0, form);
    }
    if (*at != '\n') {
      at = skip_blanks<false>(at);
      if (*at != '\n') bad_entry(begin, line, 0, form);
    }
    // 0 wraps around, and is out of range with the rest.
    if (--row >= n || --column >= n) bad_entry(begin, line, 0, form);
    ++at;
    ++entries;
    for (int way = 0; way < (mirror && row != column ? 2 : 1); ++way) {
      const auto s = static_cast<std::uint32_t>(way ? column : row);
      const auto t = static_cast<std::uint32_t>(way ? row : column);
      if (way && symmetry_ == Symmetry::skew) {
        if (weight.whole && weight.integer == std::numeric_limits<std::int64_t>::min())
          bad_entry(begin, line, 0, form);
        weight.integer = -weight.integer;
        weight.real = -weight.real;
      }
      if constexpr (F == Field::pattern)
        worker.sink.add(s, t);
      else if constexpr (F == Field::integer)
        worker.sink.add(s, t, weight);
      else
        worker.sink.add_real(s, t, weight.real);
    }
  }
  worker.entries += entries;
  return line;
}

std::uint64_t Parser::parse_dimacs(const char* at, const char* end, Worker& worker) {
  constexpr const char* form = "a source target weight";
  std::uint64_t line = 0;
  std::uint64_t entries = 0;
  for (; at != end; ++line) {
    const char* const begin = at;
    at = skip_blanks<false>(at);
    if (*at == '\n') {
      ++at;
      continue;
    }
    if (*at == 'c' && (is_blank<false>(at[1]) || at[1] == '\n')) {
      at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at))) + 1;
      continue;
    }
    if (*at != 'a' || !is_blank<false>(at[1])) {
      const auto words = split<false>({begin, static_cast<std::size_t>(line_end(begin) - begin)});
      bad(line,
          "a line of kind %s; after the problem line there are arcs (a source target weight) and comments "
          "(c)",
          quoted(words[0]).c_str());
    }
    at = skip_blanks<false>(at + 1);
    std::uint64_t source = 0, target = 0;
    Number weight;
    if (!read_number(at, source) || !is_blank<false>(*at)) bad_entry(begin, line, 1, form);
    at = skip_blanks<false>(at);
    if (!read_number(at, target) || !is_blank<false>(*at)) bad_entry(begin, line, 1, form);
    at = skip_blanks<false>(at);
    if (!read_weight(at, weight)) bad_entry(begin, line, 1, form);
    at = skip_blanks<false>(at);
    if (*at != '\n' || --source >= n_ || --target >= n_) bad_entry(begin, line, 1, form);
    ++at;
    ++entries;
    add_edge(worker, source, target, &weight);
    if (undirected_ && source != target) add_edge(worker, target, source, &weight);
  }
  worker.entries += entries;
  return line;
}

/// Counts the data lines of a block, and notes where its comments are.
void Parser::metis_lines(const char* text, std::size_t size) {
  for (const char *at = text, *end = text + size; at != end;) {
    if (*skip_blanks<false>(at) == '%')
      comment_rows_.push_back(rows_);
    else
      ++rows_;
    at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at))) + 1;
  }
}

std::uint64_t Parser::parse_metis(const char* at, const char* end, std::uint64_t row, Worker& worker) {
  std::uint64_t line = 0;
  std::uint64_t entries = 0;
  for (; at != end; ++line) {
    at = skip_blanks<false>(at);
    if (*at == '%') {
      at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at))) + 1;
      continue;
    }
    auto word = [&] {
      const char* stop = at;
      while (*stop != '\n' && !is_blank<false>(*stop)) ++stop;
      return std::string_view(at, static_cast<std::size_t>(stop - at));
    };
    if (row >= n_) {
      if (*at != '\n')
        bad(line, "more lines of neighbours than the %llu vertices that line %llu announces",
            (unsigned long long)n_, (unsigned long long)size_line_);
      ++at;
      continue;
    }
    for (unsigned i = 0; i < metis_skip_; ++i) {
      std::uint64_t ignored = 0;
      if (*at == '\n')
        bad(line, "%u numbers before the neighbours where the header announces %u", i, metis_skip_);
      const std::string_view seen = word();
      if (!read_number(at, ignored) || (*at != '\n' && !is_blank<false>(*at)))
        bad(line, "%s is no weight of a vertex", quoted(seen).c_str());
      at = skip_blanks<false>(at);
    }
    while (*at != '\n') {
      std::uint64_t target = 0;
      const std::string_view seen = word();
      if (!read_number(at, target) || (*at != '\n' && !is_blank<false>(*at)) || --target >= n_)
        bad_vertex(seen, line);
      at = skip_blanks<false>(at);
      ++entries;
      if (metis_weighted_) {
        Number weight;
        if (*at == '\n') bad(line, "the last neighbour has no weight; the header announces weights of edges");
        const std::string_view shown = word();
        if (!read_weight(at, weight) || (*at != '\n' && !is_blank<false>(*at)))
          bad(line, "weight %s is no finite number", quoted(shown).c_str());
        at = skip_blanks<false>(at);
        add_edge(worker, row, target, &weight);
      } else {
        add_edge(worker, row, target, nullptr);
      }
    }
    ++at;
    ++row;
  }
  worker.entries += entries;
  return line;
}

// End --------------------------------------------------------------------

std::vector<EdgeStore*> Parser::stores() {
  std::vector<EdgeStore*> all;
  for (auto& state : states_) state.sink.collect(all);
  if (named_) named_->collect(all);
  return all;
}

int Parser::finish(gs_graph_shape* shape) {
  if (!report_.empty()) return report();
  if (!header_done_) {
    const bool any = !head_.empty() || head_at_;
    if (!read_header(true)) {
      if (!report_.empty()) return report();
      if (!any && head_lines_ == 0) return wrong(0, "the file is empty; there is no graph in it");
      return wrong(head_lines_ ? head_lines_ : 1,
                   format_ == GS_EDGE_LIST ? "the file ends without an edge; there is no graph in it"
                                           : "the file ends within its header; it is cut short");
    }
    const std::vector<char> rest(head_.begin() + static_cast<std::ptrdiff_t>(head_at_), head_.end());
    std::vector<char>().swap(head_);
    push(rest.data(), rest.size());
  }
  if (filled_ && !failed()) {
    if (current_[filled_ - 1] != '\n') {
      if (filled_ == current_.size()) current_.resize(filled_ + 1);
      current_[filled_++] = '\n';
    }
    enqueue(filled_);
  }
  std::vector<char>().swap(current_);
  if (workers_.empty()) finish_queue();
  stop();
  if (failure_) return report();
  {
    const std::lock_guard lock(mutex_);
    std::vector<std::vector<char>>().swap(spare_);
  }
  shape_ = {};
  for (const auto& state : states_) shape_.entries += state.entries;
  if (format_ == GS_EDGE_LIST) {
    if (shape_.entries == 0 && text_names_.size() == 0)
      return wrong(0, "the file ends without an edge; there is no graph in it");
    // Vertices alone are a graph only to whom says so, as our own files do.
    if (shape_.entries == 0 && !(edges_announced_ && announced_m_ == 0))
      return wrong(columns_line_, "one column, here and on all other lines; an edge needs two: source target [weight]");
    if (heading_words_ && !heading_named_again_)
      return wrong(columns_line_,
                   "these look like column headings: put a '#' before them (or, if vertices, another line first)");
    if (words_ && numbers_only_ && shape_.entries > 1)
      return wrong(columns_line_,
                   "words here, numbers on all other lines; if these are column headings, put a '#' before them");
    shape_.announced_vertices = announced_n_;
    shape_.announced_edges = announced_m_;
    shape_.announced_line = size_line_;
    number_vertices();
  } else {
    if (format_ == GS_METIS && rows_ < n_)
      return wrong(size_line_,
                   "the header announces %llu vertices, but there are %llu lines of neighbours; "
                   "the file is cut short or its header is wrong",
                   (unsigned long long)n_, (unsigned long long)rows_);
    const std::uint64_t expected = format_ == GS_METIS ? 2 * announced_m_ : announced_m_;
    if (shape_.entries != expected)
      return wrong(size_line_,
                   "the header announces %llu %s, but there are %llu; the file is cut short or its "
                   "header is wrong",
                   (unsigned long long)expected,
                   format_ == GS_MATRIX_MARKET ? "entries"
                   : format_ == GS_METIS       ? "neighbours (two an edge)"
                                               : "edges",
                   (unsigned long long)shape_.entries);
    shape_.vertices = n_;
    shape_.base = 1;
    numbering_.emplace(n_, 0u);
  }
  if (undirected_ || format_ == GS_METIS || (format_ == GS_MATRIX_MARKET && symmetry_ == Symmetry::symmetric))
    shape_.flags = GS_GRAPH_SYMMETRIC;
  for (auto* store : stores()) {
    // GS_I32 < GS_I64 < GS_F64: the widest that was met.
    shape_.weight_type = std::max(shape_.weight_type, store->weight_type());
    for (std::size_t b = 0; b < store->buckets(); ++b) shape_.edges += store->bucket_edges(b);
  }
  *shape = shape_;
  return GS_OK;
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

/// Gives every vertex that an edge list names its index, in ascending order of
/// its number; words keep the order of their first appearance.
void Parser::number_vertices() {
  if (words_) {
    text_names_.forget_table();
    shape_.vertices = text_names_.size();
    shape_.label_kind = GS_LABELS_STRING;
    shape_.label_bytes = text_names_.text().size();
    numbering_.emplace(shape_.vertices, 0u);
    return;
  }
  std::uint64_t most = 0;
  for (const auto& state : states_) most = std::max(most, state.most);
  if (named_ || most / 8 > 16 * shape_.entries + 65536) {
    all_through_names();
    shape_.vertices = numbers_.size();
    shape_.label_kind = GS_LABELS_NUMBER;
    numbering_.emplace(shape_.vertices, 0u);
    return;
  }
  std::vector<std::uint64_t> bits(most / 64 + 1, 0);
  const auto all = stores();
  std::size_t buckets = 0;
  for (auto* store : all) buckets = std::max(buckets, store->buckets());
  auto set = [&](std::uint32_t number) {
    std::atomic_ref<std::uint64_t> word(bits[number / 64]);
    const std::uint64_t bit = std::uint64_t{1} << (number % 64);
    if (!(word.load(std::memory_order_relaxed) & bit)) word.fetch_or(bit, std::memory_order_relaxed);
  };
  in_pieces(threads_, buckets, 4, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t b = begin; b < end; ++b)
      for (auto* store : all)
        store->visit(b, [&](std::uint32_t source, std::uint32_t target, const std::uint8_t*) {
          set(source);
          set(target);
        });
  });
  const bool zero = bits[0] & 1;
  Numbering ranked(std::move(bits));
  shape_.vertices = ranked.count();
  if (ranked.count() == most + 1) {
    numbering_.emplace(ranked.count(), 0u);
  } else if (ranked.count() == most && !zero) {
    numbering_.emplace(ranked.count(), 1u);
    shape_.base = 1;
  } else {
    shape_.label_kind = GS_LABELS_NUMBER;
    numbering_.emplace(std::move(ranked));
  }
}

void Parser::all_through_names() {
  Sink met(kShift);
  for (auto& state : states_)
    renumber(state.sink, met, [&](std::uint32_t number) { return numbers_(number); });
  if (named_) renumber(*named_, met, [](std::uint32_t index) { return index; });
  numbers_.forget_table();
  auto& numbers = numbers_.numbers();
  std::vector<std::uint32_t> order(numbers.size()), rank(numbers.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return numbers[a] < numbers[b]; });
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<std::uint32_t>(i);
  std::vector<std::uint32_t>().swap(order);
  std::sort(numbers.begin(), numbers.end());
  named_.emplace(kShift);
  renumber(met, *named_, [&](std::uint32_t index) { return rank[index]; });
}

int Parser::build(std::uint64_t* offsets, std::uint32_t* targets, void* weights, std::int64_t* numbers,
                  std::uint64_t* starts, char* text) {
  if (!numbering_ || built_) return fail("gs_graph_parser_build must follow gs_graph_parser_finish, once");
  built_ = true;
  build_rows(stores(), *numbering_, threads_, offsets, targets, weights, shape_.weight_type);
  if (shape_.label_kind == GS_LABELS_NUMBER) {
    if (numbering_->ranked()) {
      const auto& bits = numbering_->bits();
      for (std::size_t i = 0; i < bits.size(); ++i)
        for (std::uint64_t word = bits[i]; word; word &= word - 1)
          *numbers++ = static_cast<std::int64_t>(i * 64 + static_cast<unsigned>(__builtin_ctzll(word)));
    } else {
      for (const std::uint64_t number : numbers_.numbers()) *numbers++ = static_cast<std::int64_t>(number);
    }
  } else if (shape_.label_kind == GS_LABELS_STRING) {
    std::copy(text_names_.starts().begin(), text_names_.starts().end(), starts);
    std::copy(text_names_.text().begin(), text_names_.text().end(), text);
  }
  return format_ == GS_METIS ? check_metis(offsets, targets, weights) : static_cast<int>(GS_OK);
}

/// A METIS file must list every edge at both ends.
int Parser::check_metis(const std::uint64_t* offsets, const std::uint32_t* targets, const void* weights) {
  std::uint64_t vertex = 0, other = 0;
  if (gs_graph_check_symmetric(n_, offsets, targets, weights, shape_.weight_type, static_cast<int>(threads_),
                               &vertex, &other) == GS_OK)
    return GS_OK;
  const auto comments =
      std::upper_bound(comment_rows_.begin(), comment_rows_.end(), vertex) - comment_rows_.begin();
  return wrong(
      head_lines_ + vertex + static_cast<std::uint64_t>(comments) + 1,
      "vertex %llu lists neighbour %llu, which does not list it back as often and with the same weights; "
      "a METIS graph is undirected",
      (unsigned long long)vertex + 1, (unsigned long long)other + 1);
}

}  // namespace
}  // namespace gossamer::graph

using gossamer::fail;
using gossamer::graph::Parser;

/// Runs body; what it throws becomes a code and a message.
template <class Body>
static int guarded(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail("not enough memory to read this graph; use a smaller one or a machine with more");
  } catch (const std::exception& error) {
    return fail("reading the graph failed: %s", error.what());
  }
}

extern "C" {

int gs_graph_parser_open(const char* path, int format, unsigned flags, int threads, void** parser) {
  return guarded([&] {
    *parser = new Parser(path, format, flags, gossamer::graph::thread_count(threads));
    return 0;
  });
}

int gs_graph_parser_feed(void* parser, const char* text, size_t length) {
  return guarded([&] { return static_cast<Parser*>(parser)->feed(text, length); });
}

int gs_graph_parser_finish(void* parser, struct gs_graph_shape* shape) {
  return guarded([&] { return static_cast<Parser*>(parser)->finish(shape); });
}

int gs_graph_parser_build(void* parser, uint64_t* offsets, uint32_t* targets, void* weights, int64_t* numbers,
                          uint64_t* starts, char* text) {
  return guarded(
      [&] { return static_cast<Parser*>(parser)->build(offsets, targets, weights, numbers, starts, text); });
}

void gs_graph_parser_close(void* parser) { delete static_cast<Parser*>(parser); }

}  // extern "C"
