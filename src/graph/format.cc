// SPDX-License-Identifier: Apache-2.0
/// Graph to text: fills buffers that the caller writes out (and compresses).
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "gossamer/core/error.h"
#include "gossamer/graph/graph.h"

namespace {

/// The caller's buffer; the caller of `put` first checks fits().
class Out {
 public:
  Out(char* buffer, std::size_t capacity) : begin_(buffer), at_(buffer), end_(buffer + capacity) {}
  bool fits(std::size_t bytes) const { return static_cast<std::size_t>(end_ - at_) >= bytes; }
  void put(char c) { *at_++ = c; }
  void put(const char* text, std::size_t size) {
    std::memcpy(at_, text, size);
    at_ += size;
  }
  template <class Integer>
  void number(Integer value) {
    at_ = std::to_chars(at_, end_, value).ptr;
  }
  template <class Real>
  void real(Real value, int digits) {
#if defined(__cpp_lib_to_chars)
    (void)digits;
    char* const first = at_;
    at_ = std::to_chars(at_, end_, value).ptr;
    // "3" would be read back as an integer.
    if (!std::memchr(first, '.', static_cast<std::size_t>(at_ - first)) &&
        !std::memchr(first, 'e', static_cast<std::size_t>(at_ - first)) &&
        !std::memchr(first, 'n', static_cast<std::size_t>(at_ - first)))
      put(".0", 2);
#else
    at_ += std::snprintf(at_, static_cast<std::size_t>(end_ - at_), "%#.*g", digits, static_cast<double>(value));
#endif
  }
  std::size_t used() const { return static_cast<std::size_t>(at_ - begin_); }

 private:
  char *begin_, *at_, *end_;
};

template <class Value>
Value at(const void* array, std::uint64_t index) {
  return static_cast<const Value*>(array)[index];
}

void put_weight(Out& out, const void* weights, int type, std::uint64_t edge) {
  switch (type) {
    case GS_I32: return out.number(at<std::int32_t>(weights, edge));
    case GS_U32: return out.number(at<std::uint32_t>(weights, edge));
    case GS_I64: return out.number(at<std::int64_t>(weights, edge));
    case GS_U64: return out.number(at<std::uint64_t>(weights, edge));
    case GS_F32: return out.real(at<float>(weights, edge), 9);
    default: return out.real(at<double>(weights, edge), 17);
  }
}

}  // namespace

extern "C" int gs_graph_format(const struct gs_graph_text* graph, uint64_t* row, uint64_t* edge, char* buffer,
                               size_t capacity, size_t* used) {
  Out out(buffer, capacity);
  constexpr std::size_t kNumber = 40;  // an integer or a shortest double, and a blank
  auto name_size = [&](uint64_t v) -> std::size_t {
    return graph->starts ? graph->starts[v + 1] - graph->starts[v] : kNumber;
  };
  auto put_name = [&](uint64_t v) {
    if (graph->starts)
      out.put(graph->text + graph->starts[v], graph->starts[v + 1] - graph->starts[v] - 1);
    else if (graph->numbers)
      out.number(graph->numbers[v]);
    else
      out.number(v + static_cast<uint64_t>(graph->base));
  };
  const bool rows = graph->flags & GS_TEXT_ROWS;
  for (; *row < graph->vertices; ++*row) {
    const uint64_t v = *row;
    if (*edge < graph->offsets[v]) *edge = graph->offsets[v];
    for (; *edge < graph->offsets[v + 1]; ++*edge) {
      const uint64_t t = graph->targets[*edge];
      if ((graph->flags & GS_TEXT_LOWER) && t > v) continue;
      if (!out.fits(name_size(v) + name_size(t) + 2 * kNumber)) {
        *used = out.used();
        if (*used == 0) return gossamer::fail("a vertex label is too long to be written");
        return 0;
      }
      if (rows) {
        if (*edge != graph->offsets[v]) out.put(' ');
      } else {
        if (graph->flags & GS_TEXT_ARC) out.put("a ", 2);
        put_name(v);
        out.put(' ');
      }
      put_name(t);
      if (graph->weights) {
        out.put(' ');
        put_weight(out, graph->weights, graph->weight_type, *edge);
      } else if (graph->flags & GS_TEXT_ARC) {
        out.put(" 1", 2);
      }
      if (!rows) out.put('\n');
    }
    if (rows) {
      if (!out.fits(1)) {
        *used = out.used();
        return 0;
      }
      out.put('\n');
    }
  }
  *used = out.used();
  return 0;
}
