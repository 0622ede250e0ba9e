// SPDX-License-Identifier: Apache-2.0
#include "gossamer/mapper/lists.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "gossamer/mapper/pack.h"
#include "graph/parallel.h"
#include "graph/stop.h"

namespace {

using gossamer::graph::in_pieces;
using gossamer::graph::thread_count;

constexpr uint64_t kPiece = 16'384;  // vertices whose edges a processor sorts at a time

/// An edge that a tile receives.
struct Edge {
  uint32_t slot, target;
};

/// Edges of one piece of the senders to one tile, in the order of slots.
struct Bucket {
  std::vector<Edge> edges;
  std::vector<const uint8_t*> values;  // none if no relation has values
};

/// What a tile receives.
struct Tile {
  std::vector<uint32_t> slot, to, place;
  std::vector<uint64_t> mask;
  std::vector<uint64_t> starts;  // of each thread's lists in `data`; one more for the end
  std::vector<uint8_t> data;
  std::vector<uint8_t> own;
  std::vector<uint64_t> received;
  uint64_t longest = 0;
};

/// A list of edges to a thread.
struct List {
  uint64_t first;  // of the sorted edges
  uint32_t slot, thread, count, bytes;
  bool own, named;
};

struct Owner : gs_map_lists {
  std::vector<uint32_t> slots, tos, places, owns;
  std::vector<uint64_t> masks, begins, receiveds;
  std::vector<uint8_t> bytes, owned_edges;
};

template <typename T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
  std::vector<T>().swap(from);
}

class Maker {
 public:
  Maker(const gs_map_mapped& its, uint32_t first, uint32_t count)
      : its_(its), first_(first), tiles_(count / its.tile_threads), firstSlot_(its.begins[first] * its.pins) {
    for (uint32_t i = 0; i < its.relation_count; ++i) valued_ = valued_ || its.relations[i].values;
    valued_ = valued_ && its.copied;
    const uint64_t firstTile = first / its.tile_threads;
    // The tile of the block that holds each vertex: one byte or two keep the scan over all edges in the cache.
    where_.resize(its.vertices);
    for (uint64_t v = 0; v < its.vertices; ++v) {
      const uint64_t tile = its.thread[v] / its.tile_threads - firstTile;
      where_[v] = static_cast<uint16_t>(its.thread[v] >= first && tile < tiles_ ? tile : kElsewhere);
    }
  }

  void make(Owner& found, unsigned threads) {
    const uint64_t pieces = (its_.vertices + kPiece - 1) / kPiece;
    std::vector<Bucket> buckets(pieces * tiles_);
    in_pieces(threads, its_.vertices, kPiece,
              [&](uint64_t begin, uint64_t end) { sort(begin, end, &buckets[begin / kPiece * tiles_]); });
    found.owns.resize((its_.begins[first_ + tiles_ * its_.tile_threads] - its_.begins[first_]) * its_.pins);
    std::vector<Tile> tiles(tiles_);
    in_pieces(threads, tiles_, 1, [&](uint64_t begin, uint64_t) {
      std::vector<Bucket> mine;
      for (uint64_t piece = 0; piece < pieces; ++piece) mine.push_back(std::move(buckets[piece * tiles_ + begin]));
      list(static_cast<uint32_t>(begin), mine, tiles[begin], found.owns.data());
    });
    // The tiles' data are most of the memory: growth by doubling would need up to three times as much.
    uint64_t data = 0, own = 0;
    for (const Tile& tile : tiles) data += tile.data.size(), own += tile.own.size();
    found.bytes.reserve(data);
    found.owned_edges.reserve(own);
    for (Tile& tile : tiles) {
      append(found.slots, tile.slot);
      append(found.tos, tile.to);
      append(found.places, tile.place);
      append(found.masks, tile.mask);
      for (uint32_t t = 0; t < its_.tile_threads; ++t) found.begins.push_back(found.bytes.size() + tile.starts[t]);
      append(found.bytes, tile.data);
      append(found.owned_edges, tile.own);
      append(found.receiveds, tile.received);
      found.longest = std::max(found.longest, tile.longest);
    }
    found.begins.push_back(found.bytes.size());
  }

 private:
  static constexpr uint16_t kElsewhere = 0xFFFF;

  /// Distributes the edges of some vertices among the block's tiles. Buckets are shrunk to what they hold, since all
  /// pieces' are in memory at a time.
  void sort(uint64_t begin, uint64_t end, Bucket* buckets) const {
    for (uint64_t position = begin; position < end; ++position) {
      const uint32_t vertex = its_.order[position];
      for (uint32_t pin = 0; pin < its_.pins; ++pin) {
        const auto slot = static_cast<uint32_t>(position * its_.pins + pin);
        for (uint32_t i = 0; i < its_.relation_count; ++i) {
          const gs_map_relation& one = its_.relations[i];
          if (one.pin != pin) continue;
          for (uint64_t e = one.offsets[vertex]; e < one.offsets[vertex + 1]; ++e) {
            const uint16_t tile = where_[one.targets[e]];
            if (tile == kElsewhere) continue;
            buckets[tile].edges.push_back({slot, one.targets[e]});
            if (valued_) buckets[tile].values.push_back(one.values ? one.values + e * one.value_bytes : its_.none);
          }
        }
      }
    }
    for (uint32_t tile = 0; tile < tiles_; ++tile) {
      buckets[tile].edges.shrink_to_fit();
      buckets[tile].values.shrink_to_fit();
    }
  }

  void list(uint32_t number, std::vector<Bucket>& buckets, Tile& tile, uint32_t* owns) const {
    const uint32_t threads = its_.tile_threads, base = first_ + number * threads;
    uint64_t total = 0;
    for (const Bucket& bucket : buckets) total += bucket.edges.size();
    std::vector<uint32_t> local;
    std::vector<const uint8_t*> values;
    local.reserve(total);
    if (valued_) values.reserve(total);
    std::vector<List> lists;
    std::vector<uint64_t> first;  // list of each message
    tile.received.assign(threads, 0);
    struct Key {
      uint32_t thread, local, index;
      bool operator<(const Key& other) const {
        if (thread != other.thread) return thread < other.thread;
        return local != other.local ? local < other.local : index < other.index;
      }
    };
    std::vector<Key> run;
    for (Bucket& bucket : buckets) {
      const std::vector<Edge>& edges = bucket.edges;
      for (uint64_t i = 0; i < edges.size();) {
        const uint32_t slot = edges[i].slot;
        const uint64_t begin = i;
        run.clear();
        for (; i < edges.size() && edges[i].slot == slot; ++i) {
          const uint32_t target = edges[i].target;
          run.push_back({its_.thread[target] - base, its_.local[target], static_cast<uint32_t>(i - begin)});
        }
        std::sort(run.begin(), run.end());
        const uint32_t sender = its_.thread[its_.order[slot / its_.pins]];
        bool away = false;
        for (uint64_t j = 0; j < run.size();) {
          const uint32_t thread = run[j].thread;
          const uint64_t from = local.size();
          for (; j < run.size() && run[j].thread == thread; ++j) {
            local.push_back(run[j].local);
            if (valued_) values.push_back(bucket.values[begin + run[j].index]);
          }
          const auto count = static_cast<uint32_t>(local.size() - from);
          tile.received[thread] += count;
          tile.longest = std::max(tile.longest, uint64_t{its_.edge} * count);
          const bool own = sender == base + thread;
          const bool named = !own && !its_.multicast && its_.names && count == 1;
          const uint64_t bytes =
              (uint64_t{its_.list} + uint64_t{its_.edge} * count + its_.unit - 1) & ~uint64_t{its_.unit - 1};
          if (bytes >> 32) throw std::runtime_error("a vertex has too many edges to the vertices of one thread");
          if (own) {
            owns[slot - firstSlot_] = its_.edge * count;
          } else if (!its_.multicast || !away) {
            first.push_back(lists.size());
            away = true;
          }
          lists.push_back({from, slot, thread, count, named ? 0 : static_cast<uint32_t>(bytes), own, named});
        }
      }
      bucket = Bucket();
    }
    place(base, lists, tile);
    for (uint32_t t = 0; t < threads; ++t) tile.starts[t + 1] += tile.starts[t];
    tile.data.resize(tile.starts[threads]);
    uint64_t message = 0, owned = 0;
    for (const List& one : lists) owned += one.own ? uint64_t{its_.edge} * one.count : 0;
    tile.own.resize(owned);
    owned = 0;
    bool any = false;
    for (const List& one : lists) {
      if (one.own) {
        write(&tile.own[owned], one, local, values);
        owned += uint64_t{its_.edge} * one.count;
        continue;
      }
      if (any && (!its_.multicast || tile.slot[message] != one.slot)) ++message;
      any = true;
      if (one.named) {
        tile.place[message] = its_.state * local[one.first] + 1;
        continue;
      }
      uint8_t* const to = &tile.data[tile.starts[one.thread] + tile.place[message]];
      const uint32_t bytes = its_.edge * one.count;
      std::memcpy(to, &bytes, its_.offset);
      write(to + its_.list, one, local, values);
    }
  }

  /// The messages of a tile, and the place of each one's lists. `starts` receives each thread's bytes, one later.
  void place(uint32_t base, const std::vector<List>& lists, Tile& tile) const {
    tile.starts.assign(its_.tile_threads + 1, 0);
    if (!its_.multicast) {
      for (const List& one : lists) {
        if (one.own) continue;
        tile.slot.push_back(one.slot);
        tile.to.push_back(base + one.thread);
        tile.mask.push_back(one.named);
        tile.place.push_back(static_cast<uint32_t>(tile.starts[one.thread + 1]));
        tile.starts[one.thread + 1] += one.bytes;
      }
      return;
    }
    std::vector<uint64_t> first;
    std::vector<uint32_t> senders, units;
    std::vector<uint8_t> threads;
    for (const List& one : lists) {
      if (one.own) continue;
      if (tile.slot.empty() || tile.slot.back() != one.slot) {
        first.push_back(threads.size());
        tile.slot.push_back(one.slot);
        tile.to.push_back(base / its_.tile_threads);
        tile.mask.push_back(0);
        senders.push_back(its_.thread[its_.order[one.slot / its_.pins]]);
      }
      tile.mask.back() |= uint64_t{1} << one.thread;
      threads.push_back(static_cast<uint8_t>(one.thread));
      units.push_back(one.bytes / its_.unit);
    }
    first.push_back(threads.size());
    tile.place.resize(tile.slot.size());
    gs_pack_keys(tile.slot.size(), first.data(), senders.data(), threads.data(), units.data(), tile.place.data());
    for (uint64_t message = 0; message < tile.slot.size(); ++message) {
      tile.place[message] *= its_.unit;
      for (uint64_t i = first[message]; i < first[message + 1]; ++i) {
        uint64_t& end = tile.starts[threads[i] + 1];
        end = std::max(end, uint64_t{tile.place[message]} + uint64_t{units[i]} * its_.unit);
      }
    }
  }

  void write(uint8_t* to, const List& one, const std::vector<uint32_t>& local,
             const std::vector<const uint8_t*>& values) const {
    for (uint32_t i = 0; i < one.count; ++i, to += its_.edge) {
      const uint32_t offset = its_.state * local[one.first + i];
      std::memcpy(to, &offset, its_.offset);
      if (its_.copied) std::memcpy(to + its_.value, valued_ ? values[one.first + i] : its_.none, its_.copied);
    }
  }

  const gs_map_mapped& its_;
  const uint32_t first_, tiles_;
  const uint64_t firstSlot_;
  bool valued_ = false;
  std::vector<uint16_t> where_;
};

}  // namespace

extern "C" {

int gs_map_lists_make(const gs_map_mapped* mapped, uint32_t first, uint32_t count, int threads, gs_map_lists** made) {
  return gossamer::graph::run_stoppable("making tables", "use a smaller graph, or a machine with more", [&] {
    auto found = std::make_unique<Owner>();
    Maker(*mapped, first, count).make(*found, thread_count(threads));
    found->messages = found->slots.size();
    found->slot = found->slots.data();
    found->to = found->tos.data();
    found->place = found->places.data();
    found->mask = found->masks.data();
    found->starts = found->begins.data();
    found->data = found->bytes.data();
    found->own = found->owns.data();
    found->edges = found->owned_edges.data();
    found->owned = found->owned_edges.size();
    found->received = found->receiveds.data();
    *made = found.release();
    return 0;
  });
}

void gs_map_lists_free(gs_map_lists* lists) { delete static_cast<Owner*>(lists); }

void gs_map_put(uint8_t* data, uint64_t count, uint64_t width, const int64_t* at, const uint8_t* rows) {
  for (uint64_t i = 0; i < count; ++i) std::memcpy(data + at[i], rows + i * width, width);
}

int gs_map_cut(const gs_map_mapped* mapped, uint32_t boards, int threads, uint64_t* between, uint64_t* tiles,
               uint64_t* others, uint64_t* work) {
  return gossamer::graph::run_stoppable("counting edges", "use a smaller graph", [&] {
    const gs_map_mapped& its = *mapped;
    const uint32_t each = its.threads / boards;
    std::mutex mutex;
    in_pieces(thread_count(threads), its.vertices, kPiece, [&](uint64_t begin, uint64_t end) {
      std::vector<uint64_t> pairs(uint64_t{boards} * boards), ends(its.threads);
      uint64_t tile = 0, other = 0;
      for (uint64_t v = begin; v < end; ++v) {
        const uint32_t a = its.thread[v];
        for (uint32_t i = 0; i < its.relation_count; ++i) {
          const gs_map_relation& one = its.relations[i];
          ends[a] += one.offsets[v + 1] - one.offsets[v];
          for (uint64_t e = one.offsets[v]; e < one.offsets[v + 1]; ++e) {
            const uint32_t b = its.thread[one.targets[e]];
            ++ends[b];
            if (a == b) continue;
            if (a / each != b / each) {
              ++pairs[uint64_t{a / each} * boards + b / each];
            } else if (a / its.tile_threads != b / its.tile_threads) {
              ++tile;
            } else {
              ++other;
            }
          }
        }
      }
      const std::lock_guard lock(mutex);
      for (uint64_t i = 0; i < pairs.size(); ++i) between[i] += pairs[i];
      for (uint64_t i = 0; i < ends.size(); ++i) work[i] += ends[i];
      *tiles += tile;
      *others += other;
    });
    return 0;
  });
}

}  // extern "C"
