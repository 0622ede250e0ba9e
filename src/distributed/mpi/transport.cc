// SPDX-License-Identifier: Apache-2.0
/// The functions of gossamer/distributed/transport.h, implemented with any MPI of version 3 or later.
#include "gossamer/distributed/transport.h"

#include <mpi.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

gs_ranks table;
std::vector<MPI_Request> requests;
std::vector<uint64_t> unused;  // elements of `requests`
MPI_Message probed;
MPI_Request reduction;
MPI_Op reduce_words;
MPI_Datatype word_type;

/// The largest size of a message that is counted in bytes. GOSSAMER_MPI_COUNT lowers it: for tests.
uint64_t most_bytes = INT_MAX;

void read_most_bytes() {
  const char* const text = std::getenv("GOSSAMER_MPI_COUNT");
  uint64_t value = 0;
  if (!text) return;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  if (error == std::errc() && !*end && value > 0 && value < most_bytes) most_bytes = value;
}

/// A type of `size` bytes for larger messages. The caller frees it.
MPI_Datatype large_type(uint64_t size) {
  const uint64_t block = std::min(uint64_t{1} << 20, most_bytes);
  MPI_Datatype blocks, whole;
  MPI_Type_contiguous(static_cast<int>(block), MPI_BYTE, &blocks);
  int lengths[] = {static_cast<int>(size / block), static_cast<int>(size % block)};
  MPI_Aint places[] = {0, static_cast<MPI_Aint>(size / block * block)};
  MPI_Datatype types[] = {blocks, MPI_BYTE};
  MPI_Type_create_struct(2, lengths, places, types, &whole);
  MPI_Type_commit(&whole);
  MPI_Type_free(&blocks);
  return whole;
}

/// Calls f(count, type) for a buffer of `size` bytes.
template <typename F>
void with_type(uint64_t size, F&& f) {
  if (size <= most_bytes) return f(static_cast<int>(size), MPI_BYTE);
  MPI_Datatype type = large_type(size);
  f(1, type);
  MPI_Type_free(&type);  // takes effect when the communication has completed
}

template <typename Send>
uint64_t start(Send&& isend, int to, int tag, const void* bytes, uint64_t size) {
  if (unused.empty()) {
    unused.push_back(requests.size());
    requests.push_back(MPI_REQUEST_NULL);
  }
  const uint64_t request = unused.back();
  unused.pop_back();
  with_type(size, [&](int count, MPI_Datatype type) {
    isend(bytes, count, type, to, tag, MPI_COMM_WORLD, &requests[request]);
  });
  return request;
}

uint64_t send(int to, int tag, const void* bytes, uint64_t size) { return start(MPI_Isend, to, tag, bytes, size); }

uint64_t send_matched(int to, int tag, const void* bytes, uint64_t size) {
  return start(MPI_Issend, to, tag, bytes, size);
}

int sent(uint64_t request) {
  int done = 0;
  MPI_Test(&requests[request], &done, MPI_STATUS_IGNORE);
  if (done) unused.push_back(request);
  return done;
}

int probe(int from, int tag, uint64_t* size) {
  int there = 0;
  MPI_Status status;
  MPI_Improbe(from, tag, MPI_COMM_WORLD, &there, &probed, &status);
  if (!there) return 0;
  MPI_Count bytes = 0;
  MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  *size = static_cast<uint64_t>(bytes);
  return 1;
}

void receive(void* bytes, uint64_t size) {
  with_type(size, [&](int count, MPI_Datatype type) { MPI_Mrecv(bytes, count, type, &probed, MPI_STATUS_IGNORE); });
}

/// The MPI operation of `reduce`; the kinds of words are those of gossamer::Reduce.
void reduce_pairs(void* in, void* into, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const gs_reduced_word*>(in);
  auto* to = static_cast<gs_reduced_word*>(into);
  for (int i = 0; i < *count; ++i) {
    const int64_t a = to[i].word;
    const int64_t b = from[i].word;
    switch (to[i].how) {
      case 0: to[i].word = static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); break;
      case 1: to[i].word = std::min(a, b); break;
      case 2: to[i].word = std::max(a, b); break;
      case 3: to[i].word = a | b; break;
      default: {
        double x, y;
        std::memcpy(&x, &a, sizeof x);
        std::memcpy(&y, &b, sizeof y);
        x += y;
        std::memcpy(&to[i].word, &x, sizeof x);
      }
    }
  }
}

void reduce(gs_reduced_word* words, uint64_t count) {
  MPI_Iallreduce(MPI_IN_PLACE, words, static_cast<int>(count), word_type, reduce_words, MPI_COMM_WORLD, &reduction);
}

int reduced() {
  int done = 0;
  MPI_Test(&reduction, &done, MPI_STATUS_IGNORE);
  return done;
}

void broadcast(int from, void* bytes, uint64_t size) {
  with_type(size, [&](int count, MPI_Datatype type) { MPI_Bcast(bytes, count, type, from, MPI_COMM_WORLD); });
}

void abort_all(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

void leave() {
  MPI_Op_free(&reduce_words);
  MPI_Type_free(&word_type);
  MPI_Finalize();
}

}  // namespace

extern "C" const gs_ranks* gs_ranks_join(void) {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return nullptr;
  read_most_bytes();
  MPI_Type_contiguous(static_cast<int>(sizeof(gs_reduced_word)), MPI_BYTE, &word_type);
  MPI_Type_commit(&word_type);
  MPI_Op_create(reduce_pairs, 1, &reduce_words);
  table = {0, 0, send, sent, probe, receive, reduce, reduced, broadcast, abort_all, leave, send_matched};
  MPI_Comm_rank(MPI_COMM_WORLD, &table.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &table.count);
  return &table;
}
