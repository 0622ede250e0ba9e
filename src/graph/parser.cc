// SPDX-License-Identifier: Apache-2.0
/// Text to graph: reads a stream of text in any format (text_format.h) and builds compressed sparse rows.
///
/// The caller feeds text as the decompressor produces it. The parser cuts it at newlines
/// into blocks of a megabyte, which threads parse directly into buckets of edges
/// (store.h), so that neither the text nor a list of edges is ever complete in
/// memory. Blocks are numbered: the error message is always that of the file's
/// first bad line, with its line number, independent of the threads.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "gossamer/core/error.h"
#include "gossamer/graph/graph.h"
#include "graph/parallel.h"
#include "graph/stop.h"
#include "graph/text_format.h"

namespace gossamer::graph {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;

/// The formats, by their number in the C interface.
struct KnownFormat {
  int number;
  std::unique_ptr<TextFormat> (*make)(Header& header);
};
constexpr KnownFormat kFormats[] = {
    {GS_EDGE_LIST, make_edge_list},
    {GS_MATRIX_MARKET, make_matrix_market},
    {GS_METIS, make_metis},
    {GS_DIMACS, make_dimacs},
};

struct Failure {
  std::uint64_t block;
  std::uint64_t line;
  std::string what;
};

class Parser {
 public:
  Parser(const char* path, const KnownFormat& format, unsigned flags, unsigned threads)
      : path_(path), threads_(threads) {
    header_.undirected = flags & GS_READ_UNDIRECTED;
    header_.certain = flags & GS_READ_CERTAIN;
    header_.part = flags & GS_READ_PART;
    header_.rest = flags & GS_READ_REST;
    header_.threads = threads;
    format_ = format.make(header_);
  }
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

  int choose_columns(const char* columns) {
    try {
      format_->choose_columns(columns);
    } catch (const BadFile& error) {
      return wrong(error.line, error.what);
    }
    return GS_OK;
  }
  int finish(gs_graph_shape* shape);
  int build(std::uint64_t* offsets, std::uint32_t* targets, void* weights, std::int64_t* numbers, std::uint64_t* starts,
            char* text);

 private:
  bool read_header(bool last);

  // Blocks ---------------------------------------------------------------
  int push(const char* text, std::size_t length);
  int enqueue(std::size_t cut);
  /// log2 of the sources per bucket: enough buckets for all threads, and one bucket's rows fit a cache.
  unsigned shift() const {
    const std::uint64_t n = header_.vertices;
    if (!n) return kUsualShift;
    unsigned bits = 4;
    while (bits < kUsualShift && (n >> bits) > 256) ++bits;
    while (bits < 16 && (n >> bits) > 65536) ++bits;
    return bits;
  }
  void work(Worker& worker);
  void parse(Block& block, Worker& worker);
  std::optional<Failure> parsed_with(const Block& block, Worker& worker, std::uint64_t& lines);
  void stop();
  void start();
  void parse_queue();
  bool failed() {
    const std::lock_guard lock(mutex_);
    return failure_.has_value();
  }

  // End ------------------------------------------------------------------
  int report();
  int wrong(std::uint64_t line, const std::string& what);
  std::vector<EdgeStore*> stores();

  const std::string path_;
  const unsigned threads_;
  Header header_;
  std::unique_ptr<TextFormat> format_;

  std::vector<char> head_;
  std::size_t head_at_ = 0;
  bool header_done_ = false;

  std::vector<char> current_;
  std::size_t filled_ = 0;
  std::uint64_t blocks_ = 0;
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

  std::optional<Numbering> numbering_;
  gs_graph_shape shape_{};
  bool built_ = false;
};

/// Reads header lines out of head_. True when the data begins at head_at_.
bool Parser::read_header(bool last) {
  try {
    if (last && !head_.empty() && head_.back() != '\n') head_.push_back('\n');
    while (head_at_ < head_.size() && !header_done_) {
      const char* begin = head_.data() + head_at_;
      const auto* newline = static_cast<const char*>(std::memchr(begin, '\n', head_.size() - head_at_));
      if (!newline) {
        if (head_.size() - head_at_ > kBlock)
          bad(0, "no end of line within a megabyte: this is not a graph in text form; see ./gossamer graph --help");
        break;
      }
      const std::string_view line(begin, static_cast<std::size_t>(newline - begin));
      if (line.find('\0') != std::string_view::npos)
        bad(0, "a NUL byte: this is not a graph in text form; see ./gossamer graph --help for the formats");
      const HeaderLine found = format_->header_line(line);
      header_done_ = found != HeaderLine::kMore;
      if (found == HeaderLine::kData && !header_.rest) return true;
      head_at_ += line.size() + 1;
      ++header_.lines;
    }
    if (!header_done_ && head_at_ > kBlock) {
      head_.erase(head_.begin(), head_.begin() + static_cast<std::ptrdiff_t>(head_at_));
      head_at_ = 0;
    }
  } catch (const BadLine& error) {
    report_ = path_ + ":" + std::to_string(header_.lines + 1) + ": " + error.what;
  }
  return header_done_;
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
    } else if (format_->long_lines()) {
      current_.resize(current_.size() * 2);
    } else {
      const std::lock_guard lock(mutex_);
      // The buffer is larger than a block, so the line is not just a long comment or blanks.
      if (!failure_) failure_ = Failure{blocks_, 0, "no end of line within a megabyte: this is not a line of a graph"};
      return GS_FAILED;
    }
  }
  return GS_OK;
}

/// Passes the first `cut` bytes to the workers, and retains the rest.
int Parser::enqueue(std::size_t cut) {
  Block block;
  block.size = cut;
  block.number = blocks_++;
  block.row = format_->rows_before(current_.data(), cut);
  std::vector<char> next;
  std::unique_lock lock(mutex_);
  const std::size_t most = threads_ + 2;
  if (workers_.empty() && !queue_.empty()) {
    lock.unlock();
    if (states_.empty()) start();
    // If the system allows no threads, the caller's thread is the worker.
    if (workers_.empty()) parse_queue();
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

/// Starts as many threads as the system allows, perhaps none.
void Parser::start() {
  while (states_.size() < threads_) states_.emplace_back(shift());
  for (unsigned i = 0; i < threads_; ++i) {
    try {
      workers_.emplace_back([this, i] { work(states_[i]); });
    } catch (const std::system_error&) {
      return;
    }
  }
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
  count_work(block.size);
  std::uint64_t lines = 0;
  std::optional<Failure> failure = parsed_with(block, worker, lines);
  format_->parsed(block);
  const std::lock_guard lock(mutex_);
  if (lines_.size() <= block.number) lines_.resize(block.number + 1, 0);
  lines_[block.number] = lines;
  if (failure && (!failure_ || failure->block < failure_->block)) {
    failure_ = std::move(failure);
    wake_feeder_.notify_all();
  }
  if (block.text.size() == kBlock) spare_.push_back(std::move(block.text));
}

std::optional<Failure> Parser::parsed_with(const Block& block, Worker& worker, std::uint64_t& lines) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_ && failure_->block < block.number) return {};
  }
  try {
    if (const void* nul = std::memchr(block.begin(), 0, block.size))
      bad(static_cast<std::uint64_t>(std::count(block.begin(), static_cast<const char*>(nul), '\n')),
          "a NUL byte; the file is damaged or not text");
    lines = format_->parse(block, worker);
    return {};
  } catch (const BadLine& error) {
    return Failure{block.number, error.line, error.what};
  } catch (const std::bad_alloc&) {
    return Failure{block.number, 0, "not enough memory for this graph from here on"};
  } catch (const std::exception& error) {
    return Failure{block.number, 0, error.what()};
  }
}

/// Lets the workers finish the queue, and joins them.
void Parser::stop() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_worker_.notify_all();
  for (auto& worker : workers_) worker.join();
  workers_.clear();
}

/// Parses the queue in this thread; no worker may be running.
void Parser::parse_queue() {
  if (states_.empty()) states_.emplace_back(shift());
  for (; !queue_.empty(); queue_.pop_front()) parse(queue_.front(), states_[0]);
}

// End --------------------------------------------------------------------

int Parser::report() {
  if (report_.empty()) {
    stop();
    // With one block there are no workers yet, and it may hold an earlier error.
    parse_queue();
    std::uint64_t line = header_.lines + failure_->line + 1;
    for (std::uint64_t block = 0; block < failure_->block && block < lines_.size(); ++block) line += lines_[block];
    report_ = path_ + ":" + std::to_string(line) + ": " + failure_->what;
  }
  return fail("%s", report_.c_str());
}

int Parser::wrong(std::uint64_t line, const std::string& what) {
  report_ = path_;
  if (line) report_.append(":").append(std::to_string(line));
  report_.append(": ").append(what);
  return report();
}

std::vector<EdgeStore*> Parser::stores() {
  std::vector<EdgeStore*> all;
  for (auto& state : states_) state.sink.collect(all);
  format_->collect(all);
  return all;
}

int Parser::finish(gs_graph_shape* shape) {
  if (!report_.empty()) return report();
  if (!header_done_) {
    const bool any = !head_.empty() || head_at_;
    if (!read_header(true)) {
      if (!report_.empty()) return report();
      if (!any && header_.lines == 0) return wrong(0, "the file is empty; there is no graph in it");
      return wrong(header_.lines ? header_.lines : 1, format_->ends_early());
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
  if (workers_.empty()) parse_queue();
  stop();
  if (failure_) return report();
  {
    const std::lock_guard lock(mutex_);
    std::vector<std::vector<char>>().swap(spare_);
  }
  shape_ = {};
  for (const auto& state : states_) shape_.entries += state.entries;
  try {
    numbering_.emplace(format_->finish(states_, shape_));
  } catch (const BadFile& error) {
    return wrong(error.line, error.what);
  }
  for (auto* store : stores()) {
    // GS_I32 < GS_I64 < GS_F64: the widest type that occurred.
    shape_.weight_type = std::max(shape_.weight_type, store->weight_type());
    for (std::size_t b = 0; b < store->buckets(); ++b) shape_.edges += store->bucket_edges(b);
  }
  *shape = shape_;
  return GS_OK;
}

int Parser::build(std::uint64_t* offsets, std::uint32_t* targets, void* weights, std::int64_t* numbers,
                  std::uint64_t* starts, char* text) {
  if (!numbering_ || built_) return fail("gs_graph_parser_build must follow gs_graph_parser_finish, once");
  built_ = true;
  build_rows(stores(), *numbering_, threads_, offsets, targets, weights, shape_.weight_type);
  if (shape_.label_kind != GS_LABELS_NONE) format_->labels(*numbering_, numbers, starts, text);
  try {
    format_->judge(offsets, targets, weights, shape_.weight_type);
  } catch (const BadFile& error) {
    return wrong(error.line, error.what);
  }
  return GS_OK;
}

}  // namespace
}  // namespace gossamer::graph

using gossamer::fail;
using gossamer::graph::Parser;

/// Runs the body of a C function of this file.
template <class Body>
static int guarded(Body&& body) {
  return gossamer::graph::run_stoppable("reading the graph", "use a smaller one, or a machine with more", body);
}

extern "C" {

int gs_graph_parser_open(const char* path, int format, unsigned flags, int threads, void** parser) {
  return guarded([&] {
    for (const auto& known : gossamer::graph::kFormats) {
      if (known.number != format) continue;
      *parser = new Parser(path, known, flags, gossamer::graph::thread_count(threads));
      return 0;
    }
    return fail("%s: no text format has the number %d (enum gs_graph_format)", path, format);
  });
}

int gs_graph_parser_columns(void* parser, const char* columns) {
  return guarded([&] { return static_cast<Parser*>(parser)->choose_columns(columns); });
}

int gs_graph_parser_feed(void* parser, const char* text, size_t length) {
  return guarded([&] { return static_cast<Parser*>(parser)->feed(text, length); });
}

int gs_graph_parser_finish(void* parser, struct gs_graph_shape* shape) {
  return guarded([&] { return static_cast<Parser*>(parser)->finish(shape); });
}

int gs_graph_parser_build(void* parser, uint64_t* offsets, uint32_t* targets, void* weights, int64_t* numbers,
                          uint64_t* starts, char* text) {
  return guarded([&] { return static_cast<Parser*>(parser)->build(offsets, targets, weights, numbers, starts, text); });
}

void gs_graph_parser_close(void* parser) { delete static_cast<Parser*>(parser); }

}  // extern "C"
