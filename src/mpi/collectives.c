// SPDX-License-Identifier: Apache-2.0
/// Collectives, on messages in a context of their own. The tag of each message identifies its collective, so ranks that
/// make different calls detect the mismatch.

#include <stdio.h>
#include <string.h>

#include "internal.h"

SMALL_CODE_BEGIN

// ---------------------------------------------------------------------- signatures

int gsmpi_signature(int kind, int root) { return kind << 16 | (root & 0xFFFF); }

static const char* blocking_name(int kind) {
  static const char* const names[] = {"",
                                      "MPI_Barrier",
                                      "MPI_Bcast",
                                      "MPI_Reduce",
                                      "MPI_Allreduce",
                                      "MPI_Scan",
                                      "MPI_Exscan",
                                      "MPI_Gather",
                                      "MPI_Gatherv",
                                      "MPI_Scatter",
                                      "MPI_Scatterv",
                                      "MPI_Allgather",
                                      "MPI_Allgatherv",
                                      "MPI_Alltoall",
                                      "MPI_Alltoallv",
                                      "MPI_Alltoallw",
                                      "MPI_Reduce_scatter",
                                      "MPI_Reduce_scatter_block",
                                      "MPI_Comm_split",
                                      "MPI_Comm_dup",
                                      "MPI_Comm_create",
                                      "MPI_Comm_create_group",
                                      "MPI_Sendrecv",
                                      "MPI_Sendrecv_replace",
                                      "MPI_Finalize"};
  return names[kind];
}

const char* gsmpi_nonblocking_name(int kind) {
  static RANK_LOCAL char text[32];
  const bool dup = kind == kDup;  // MPI_Comm_idup; others: MPI_Ibcast
  const char* rest = blocking_name(kind) + (dup ? sizeof "MPI_Comm_" : sizeof "MPI_") - 1;
  snprintf(text, sizeof text, "%s%c%s", dup ? "MPI_Comm_i" : "MPI_I", *rest | 0x20, rest + 1);
  return text;
}

const char* gsmpi_name(int kind) {
  return gsmpi.task && gsmpi.task->kind == kind ? gsmpi_nonblocking_name(kind) : blocking_name(kind);
}

static bool rooted(int kind) { return kind == kBcast || kind == kReduce || (kind >= kGather && kind <= kScatterv); }

static const char* describe(int sign, char* text, size_t size) {
  const int kind = gsmpi_kind(sign);
  if (kind < kBarrier || kind > kFinalize) return "no collective call";
  if (!rooted(kind)) return gsmpi_name(kind);
  snprintf(text, size, "%s with root %d", gsmpi_name(kind), sign & 0xFFFF);
  return text;
}

const char* gsmpi_collective_name(int sign) {
  static RANK_LOCAL char text[48];
  return describe(sign, text, sizeof text);
}

// ---------------------------------------------------------------------- messages of collectives

static Request* post(Comm* comm, int peer, void* data, size_t bytes, int sign, bool receives) {
  Request* request = gsmpi_new_request(gsmpi_name(gsmpi_kind(sign)));
  if (!request)
    gsmpi_abort_run(MPI_ERR_OTHER, gsmpi_name(gsmpi_kind(sign)), "%d requests are open, the maximum", kMostRequests);
  request->comm = comm;
  request->peer = comm->peers[peer];
  request->source = peer;
  request->buffer = data;
  request->count = (int)bytes;
  request->bytes = (uint32_t)bytes;
  request->type = MPI_BYTE;
  // Blocking collectives of a communicator have one order, so a receive takes any tag, and a wrong call is detected.
  // Several nonblocking ones may be in progress: each has its own tag.
  const bool own_tag = gsmpi.task != NULL || comm->subset;
  const uint32_t sequence = gsmpi.task ? gsmpi.task->sequence : comm->sequence;
  request->context = comm->context + (own_tag ? 3 : 1);
  request->receives = receives;
  request->tag = own_tag ? (int)((uint32_t)sign | sequence << kSignatureBits) : receives ? MPI_ANY_TAG : sign;
  if (!gsmpi.task) gsmpi.collective = sign;
  if (receives)
    gsmpi_start_receive(request, gsmpi_name(gsmpi_kind(sign)));
  else
    gsmpi_start_send(request, gsmpi_name(gsmpi_kind(sign)));
  return request;
}

/// Waits for a message of a collective, and checks that its sender made the same call.
static int wait_and_check(Request* request, int sign) {
  Comm* comm = request->comm;
  const char* call = gsmpi_name(gsmpi_kind(sign));
  gsmpi_wait_for(request, call);
  const bool receives = request->receives;
  const int from = request->source, sender_sign = request->status.MPI_TAG & ((1 << kSignatureBits) - 1);
  const uint32_t capacity = request->bytes, message_bytes = request->message_bytes;
  gsmpi_free_request(request);
  if (!gsmpi.task) gsmpi.collective = 0;
  if (!receives) return MPI_SUCCESS;
  char name[MPI_MAX_OBJECT_NAME], own_text[48], their_text[48];
  if (unlikely(sender_sign != sign)) {
    const int error = gsmpi_kind(sender_sign) == gsmpi_kind(sign) ? MPI_ERR_ROOT : MPI_ERR_OTHER;
    return gsmpi_error(comm, error, call, "this rank calls %s, but rank %d of %s calls %s: all must call the same",
                       describe(sign, own_text, sizeof own_text), from, gsmpi_comm_name(comm, name, sizeof name),
                       describe(sender_sign, their_text, sizeof their_text));
  }
  if (unlikely(message_bytes != capacity))
    return gsmpi_error(comm, message_bytes > capacity ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT, call,
                       "rank %d of %s has sent %u bytes and this rank expects %u: counts and types must agree", from,
                       gsmpi_comm_name(comm, name, sizeof name), (unsigned)message_bytes, (unsigned)capacity);
  return MPI_SUCCESS;
}

int gsmpi_send(Comm* comm, int to, const void* data, size_t bytes, int sign) {
  return wait_and_check(post(comm, to, (void*)data, bytes, sign, false), sign);
}

int gsmpi_receive(Comm* comm, int from, void* data, size_t bytes, int sign) {
  return wait_and_check(post(comm, from, data, bytes, sign, true), sign);
}

int gsmpi_exchange(Comm* comm, int to, const void* out, size_t out_bytes, int from, void* in, size_t in_bytes,
                   int sign) {
  Request* receiving = post(comm, from, in, in_bytes, sign, true);
  Request* sending = post(comm, to, (void*)out, out_bytes, sign, false);
  const int error = wait_and_check(receiving, sign);
  const int other = wait_and_check(sending, sign);
  return error ? error : other;
}

// ---------------------------------------------------------------------- trees of bytes

int gsmpi_barrier(Comm* comm, int kind) {
  const int sign = gsmpi_signature(kind, 0);
  for (int step = 1; step < comm->size; step *= 2) {
    const int to = (comm->rank + step) % comm->size, from = (comm->rank + comm->size - step) % comm->size;
    const int error = gsmpi_exchange(comm, to, NULL, 0, from, NULL, 0, sign);
    if (error) return error;
  }
  return MPI_SUCCESS;
}

/// Broadcasts from the root in a binomial tree.
static int broadcast_bytes(Comm* comm, void* data, size_t bytes, int root, int sign) {
  const int relative = (comm->rank - root + comm->size) % comm->size;
  int step = 1;
  for (; step < comm->size && !(relative & step); step *= 2) {
  }
  if (relative) {
    const int error = gsmpi_receive(comm, (relative - step + root) % comm->size, data, bytes, sign);
    if (error) return error;
  }
  for (step /= 2; step; step /= 2) {
    if (relative + step >= comm->size) continue;
    const int error = gsmpi_send(comm, (relative + step + root) % comm->size, data, bytes, sign);
    if (error) return error;
  }
  return MPI_SUCCESS;
}

/// Reduces the `data` of all ranks in rank order from `first` on; `first` has the result.
int gsmpi_reduce_to_first(Comm* comm, char* data, int count, MPI_Datatype type, MPI_Op op, int first, int sign) {
  const int relative = (comm->rank - first + comm->size) % comm->size;
  const size_t bytes = (size_t)count * gsmpi_type_size(type);
  char* other = gsmpi_allocate(bytes, gsmpi_name(gsmpi_kind(sign)));
  int error = MPI_SUCCESS;
  for (int step = 1; step < comm->size && !error; step *= 2) {
    if (relative & step) {
      error = gsmpi_send(comm, (relative - step + first) % comm->size, data, bytes, sign);
      break;
    }
    if (relative + step >= comm->size) continue;
    error = gsmpi_receive(comm, (relative + step + first) % comm->size, other, bytes, sign);
    if (error) break;
    // The other subtree's ranks follow ours: data = data OP other.
    gsmpi_operate(op, data, other, count, type);
    memcpy(data, other, bytes);
  }
  gsmpi_release(other);
  return error;
}

int gsmpi_allgather_bytes(Comm* comm, const void* mine, void* all, uint32_t bytes, int kind) {
  const int sign = gsmpi_signature(kind, 0), size = comm->size;
  char* to = all;
  if (mine != to + (size_t)comm->rank * bytes) memmove(to + (size_t)comm->rank * bytes, mine, bytes);
  for (int step = 1; step < size; ++step) {  // in a ring
    const int out = (comm->rank - step + 1 + size) % size, in = (comm->rank - step + size) % size;
    const int error = gsmpi_exchange(comm, (comm->rank + 1) % size, to + (size_t)out * bytes, bytes,
                                     (comm->rank + size - 1) % size, to + (size_t)in * bytes, bytes, sign);
    if (error) return error;
  }
  return MPI_SUCCESS;
}

int gsmpi_agree(Comm* comm, uint32_t* words, int count, int kind) {
  const int sign = gsmpi_signature(kind, 0);
  const int error = gsmpi_reduce_to_first(comm, (char*)words, count, MPI_UINT32_T, MPI_BOR, 0, sign);
  return error ? error : broadcast_bytes(comm, words, (size_t)count * 4, 0, sign);
}

// ---------------------------------------------------------------------- checks and packed buffers

int gsmpi_check_buffer(const Comm* comm, const char* call, const void* buffer, int count, MPI_Datatype type) {
  if (count < 0) return gsmpi_error(comm, MPI_ERR_COUNT, call, "the count %d is negative", count);
  if (!gsmpi_valid_type(type))
    return gsmpi_error(comm, MPI_ERR_TYPE, call, "0x%x is not a datatype, or was not committed", (unsigned)type);
  if ((uint64_t)gsmpi_type_size(type) * (uint64_t)count > INT32_MAX)
    return gsmpi_error(comm, MPI_ERR_COUNT, call, "%d elements are more than 2 GB", count);
  if (buffer == NULL && count > 0 && gsmpi_type_size(type) && gsmpi_lower(type) == 0)
    return gsmpi_error(comm, MPI_ERR_BUFFER, call, "the buffer is null and the count is %d", count);
  return MPI_SUCCESS;
}

/// Checks the size of all ranks' blocks together: the buffer of a gather or scatter tree's root holds them.
static int check_all(const Comm* comm, const char* call, int count, MPI_Datatype type) {
  if ((uint64_t)gsmpi_type_size(type) * (uint64_t)count * (uint64_t)comm->size <= INT32_MAX) return MPI_SUCCESS;
  return gsmpi_error(comm, MPI_ERR_COUNT, call, "%d elements for each of %d ranks are more than 2 GB", count,
                     comm->size);
}

int gsmpi_check_own(const Comm* comm, const char* call, size_t sent, size_t expected) {
  if (sent == expected) return MPI_SUCCESS;
  return gsmpi_error(comm, sent > expected ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT, call,
                     "this rank sends %u bytes to itself and expects %u", (unsigned)sent, (unsigned)expected);
}

int gsmpi_check_root(const Comm* comm, const char* call, int root) {
  char name[MPI_MAX_OBJECT_NAME];
  if ((unsigned)root < (unsigned)comm->size) return MPI_SUCCESS;
  return gsmpi_error(comm, MPI_ERR_ROOT, call, "root %d is not in %s, which has ranks 0 to %d", root,
                     gsmpi_comm_name(comm, name, sizeof name), comm->size - 1);
}

int gsmpi_check_op(const Comm* comm, const char* call, MPI_Op op, MPI_Datatype type) {
  char name[MPI_MAX_OBJECT_NAME];
  if (gsmpi_operates(op, type)) return MPI_SUCCESS;
  return gsmpi_error(comm, MPI_ERR_OP, call, "%s does not support %s", gsmpi_op_name(op),
                     gsmpi_type_name(type, name, sizeof name));
}

/// The elements of a buffer, packed: the buffer itself or a copy, which `release_copy` frees.
static char* contiguous_copy(const void* buffer, int count, MPI_Datatype type, bool fill, const char* call) {
  if (gsmpi_contiguous(type)) return (char*)buffer + gsmpi_lower(type);
  char* copy = gsmpi_allocate((size_t)count * gsmpi_type_size(type), call);
  if (fill) gsmpi_pack(buffer, count, type, copy);
  return copy;
}

static void release_copy(char* copy, void* buffer, int count, MPI_Datatype type, bool empty) {
  if (gsmpi_contiguous(type)) return;
  if (empty) gsmpi_unpack(copy, (size_t)count * gsmpi_type_size(type), count, type, buffer);
  gsmpi_release(copy);
}

Comm* gsmpi_enter(MPI_Comm handle, int kind) { return gsmpi_check_comm(handle, gsmpi_name(kind)); }

// ---------------------------------------------------------------------- the calls

int MPI_Barrier(MPI_Comm handle) {
  CALLED_UNLESS_TASK();
  Comm* comm = gsmpi_enter(handle, kBarrier);
  return comm ? gsmpi_barrier(comm, kBarrier) : MPI_ERR_COMM;
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm handle) {
  CALLED_UNLESS_TASK();
  Comm* comm = gsmpi_enter(handle, kBcast);
  if (!comm) return MPI_ERR_COMM;
  const char* call = gsmpi_name(kBcast);
  RETURN_ON_ERROR(gsmpi_check_buffer(comm, call, buffer, count, type));
  RETURN_ON_ERROR(gsmpi_check_root(comm, call, root));
  const bool mine = comm->rank == root;
  char* data = contiguous_copy(buffer, count, type, mine, call);
  const int error =
      broadcast_bytes(comm, data, (size_t)count * gsmpi_type_size(type), root, gsmpi_signature(kBcast, root));
  release_copy(data, buffer, count, type, !mine && !error);
  return error;
}

static int reduce(int kind, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm handle) {
  Comm* comm = gsmpi_enter(handle, kind);
  if (!comm) return MPI_ERR_COMM;
  const char* call = gsmpi_name(kind);
  const bool all = kind == kAllreduce, mine = all || comm->rank == root;
  RETURN_ON_ERROR(gsmpi_check_buffer(comm, call, in, count, type));
  if (mine || in == MPI_IN_PLACE) RETURN_ON_ERROR(gsmpi_check_buffer(comm, call, out, count, type));
  RETURN_ON_ERROR(gsmpi_check_root(comm, call, root));
  RETURN_ON_ERROR(gsmpi_check_op(comm, call, op, type));
  const int sign = gsmpi_signature(kind, root);
  const size_t bytes = (size_t)count * gsmpi_type_size(type);
  char* data = gsmpi_allocate(bytes, call);
  gsmpi_pack(in == MPI_IN_PLACE ? out : in, count, type, data);
  // A non-commutative operation must reduce in rank order from rank 0.
  const int first = gsmpi_commutes(op) ? root : 0;
  int error = gsmpi_reduce_to_first(comm, data, count, type, op, first, sign);
  if (!error && first != root && comm->rank == 0) error = gsmpi_send(comm, root, data, bytes, sign);
  if (!error && first != root && comm->rank == root) error = gsmpi_receive(comm, 0, data, bytes, sign);
  if (!error && all) error = broadcast_bytes(comm, data, bytes, root, sign);
  if (!error && mine) gsmpi_unpack(data, bytes, count, type, out);
  gsmpi_release(data);
  return error;
}

int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  CALLED_UNLESS_TASK();
  return reduce(kReduce, in, out, count, type, op, root, comm);
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  CALLED_UNLESS_TASK();
  return reduce(kAllreduce, in, out, count, type, op, 0, comm);
}

/// Prefix reduction by recursive doubling.
static int scan(int kind, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm handle) {
  Comm* comm = gsmpi_enter(handle, kind);
  if (!comm) return MPI_ERR_COMM;
  const char* call = gsmpi_name(kind);
  RETURN_ON_ERROR(gsmpi_check_buffer(comm, call, in, count, type));
  if (kind == kScan || comm->rank || in == MPI_IN_PLACE)
    RETURN_ON_ERROR(gsmpi_check_buffer(comm, call, out, count, type));
  RETURN_ON_ERROR(gsmpi_check_op(comm, call, op, type));
  const int sign = gsmpi_signature(kind, 0);
  const size_t bytes = (size_t)count * gsmpi_type_size(type);
  // block: reduction over this rank's block of 2, 4, 8, … ranks; before: over the block's ranks below this one.
  char* block = gsmpi_allocate(3 * bytes, call);
  char *before = block + bytes, *other = before + bytes;
  gsmpi_pack(in == MPI_IN_PLACE ? out : in, count, type, block);
  char* whole = block;
  bool has_prefix = false;
  int error = MPI_SUCCESS;
  for (int step = 1; step < comm->size && !error; step *= 2) {
    const int partner = comm->rank ^ step;
    if (partner >= comm->size) continue;
    error = gsmpi_exchange(comm, partner, block, bytes, partner, other, bytes, sign);
    if (error) break;
    if (partner < comm->rank) {
      if (has_prefix) {  // before = other OP before; block = other OP block
        gsmpi_operate(op, other, before, count, type);
      } else {
        memcpy(before, other, bytes);
        has_prefix = true;
      }
      gsmpi_operate(op, other, block, count, type);
    } else {  // block = block OP other
      gsmpi_operate(op, block, other, count, type);
      memcpy(block, other, bytes);
    }
  }
  if (!error && kind == kExscan) {
    if (has_prefix) gsmpi_unpack(before, bytes, count, type, out);
  } else if (!error) {
    gsmpi_pack(in == MPI_IN_PLACE ? out : in, count, type, whole);  // then this rank's own elements
    if (has_prefix) gsmpi_operate(op, before, whole, count, type);
    gsmpi_unpack(whole, bytes, count, type, out);
  }
  gsmpi_release(block);
  return error;
}

int MPI_Scan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  CALLED_UNLESS_TASK();
  return scan(kScan, in, out, count, type, op, comm);
}

int MPI_Exscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  CALLED_UNLESS_TASK();
  return scan(kExscan, in, out, count, type, op, comm);
}

/// Number of ranks in the subtree of a binomial tree whose root has this relative rank.
static int subtree_ranks(int relative, int size) {
  if (relative == 0) return size;
  const int step = relative & -relative;
  return relative + step <= size ? step : size - relative;
}

int MPI_Gather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
               int root, MPI_Comm handle) {
  CALLED_UNLESS_TASK();
  Comm* comm = gsmpi_enter(handle, kGather);
  if (!comm) return MPI_ERR_COMM;
  const char* call = gsmpi_name(kGather);
  RETURN_ON_ERROR(gsmpi_check_root(comm, call, root));
  const bool mine = comm->rank == root, in_place = mine && in == MPI_IN_PLACE;
  const int count = in_place ? out_count : in_count;
  const MPI_Datatype type = in_place ? out_type : in_type;
  RETURN_ON_ERROR(gsmpi_check_buffer(comm, call, in, count, type));
  RETURN_ON_ERROR(check_all(comm, call, count, type));
  if (mine) RETURN_ON_ERROR(gsmpi_check_buffer(comm, call, out, out_count, out_type));
  const int size = comm->size, relative = (comm->rank - root + size) % size, ranks = subtree_ranks(relative, size);
  const int sign = gsmpi_signature(kGather, root);
  const size_t each = (size_t)count * gsmpi_type_size(type);
  if (mine) RETURN_ON_ERROR(gsmpi_check_own(comm, call, each, (size_t)out_count * gsmpi_type_size(out_type)));
  char* all = gsmpi_allocate(each * (size_t)ranks, call);  // blocks of this rank's subtree
  gsmpi_pack(in_place ? (char*)out + gsmpi_extent(out_type) * out_count * root : in, count, type, all);
  int error = MPI_SUCCESS;
  for (int step = 1; step < size && !error; step *= 2) {
    if (relative & step) {
      error = gsmpi_send(comm, (relative - step + root) % size, all, each * (size_t)ranks, sign);
      break;
    }
    const int child = relative + step;
    if (child < size)
      error = gsmpi_receive(comm, (child + root) % size, all + each * (size_t)step,
                            each * (size_t)subtree_ranks(child, size), sign);
  }
  for (int from = 0; !error && mine && from < size; ++from) {
    const int rank = (from + root) % size;
    if (in_place && rank == root) continue;
    gsmpi_unpack(all + each * (size_t)from, each, out_count, out_type,
                 (char*)out + gsmpi_extent(out_type) * out_count * rank);
  }
  gsmpi_release(all);
  return error;
}

int MPI_Scatter(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                int root, MPI_Comm handle) {
  CALLED_UNLESS_TASK();
  Comm* comm = gsmpi_enter(handle, kScatter);
  if (!comm) return MPI_ERR_COMM;
  const char* call = gsmpi_name(kScatter);
  RETURN_ON_ERROR(gsmpi_check_root(comm, call, root));
  const bool mine = comm->rank == root, in_place = mine && out == MPI_IN_PLACE;
  const int count = mine ? in_count : out_count;
  const MPI_Datatype type = mine ? in_type : out_type;
  RETURN_ON_ERROR(gsmpi_check_buffer(comm, call, mine ? in : out, count, type));
  RETURN_ON_ERROR(check_all(comm, call, count, type));
  if (!in_place) RETURN_ON_ERROR(gsmpi_check_buffer(comm, call, out, out_count, out_type));
  const int size = comm->size, relative = (comm->rank - root + size) % size, ranks = subtree_ranks(relative, size);
  const int sign = gsmpi_signature(kScatter, root);
  const size_t each = (size_t)count * gsmpi_type_size(type);
  if (mine && !in_place)
    RETURN_ON_ERROR(gsmpi_check_own(comm, call, each, (size_t)out_count * gsmpi_type_size(out_type)));
  char* all = gsmpi_allocate(each * (size_t)ranks, call);
  for (int to = 0; mine && to < size; ++to)
    gsmpi_pack((const char*)in + gsmpi_extent(in_type) * in_count * ((to + root) % size), in_count, in_type,
               all + each * (size_t)to);
  int step = 1, error = MPI_SUCCESS;
  for (; step < size && !(relative & step); step *= 2) {
  }
  if (relative) error = gsmpi_receive(comm, (relative - step + root) % size, all, each * (size_t)ranks, sign);
  for (step /= 2; step && !error; step /= 2) {
    const int child = relative + step;
    if (child < size)
      error = gsmpi_send(comm, (child + root) % size, all + each * (size_t)step,
                         each * (size_t)subtree_ranks(child, size), sign);
  }
  if (!error && !in_place) gsmpi_unpack(all, each, out_count, out_type, out);
  gsmpi_release(all);
  return error;
}

SMALL_CODE_END
