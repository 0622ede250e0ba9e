// SPDX-License-Identifier: Apache-2.0
/// Nonblocking collectives: the blocking ones, each on a stack of its own.
//
// Where a blocking collective would wait for a message, it returns to its caller instead (gsmpi_wait_for), and
// gsmpi_progress continues it when the message has arrived. So each algorithm exists once.

#include <string.h>

#include "internal.h"

#ifndef __GOSSAMER_DEVICE__
#include <ucontext.h>
enum { kStackBytes = 128 << 10 };
#else
enum { kStackBytes = 8 << 10 };
#endif

SMALL_CODE_BEGIN

/// The arguments of a collective.
typedef struct Call {
  const void* in;
  void* out;
  int in_count, out_count;
  const int *in_counts, *in_displacements, *out_counts, *out_displacements;
  MPI_Datatype in_type, out_type;
  const MPI_Datatype *in_types, *out_types;
  MPI_Op op;
  int root, dest, out_tag, source, in_tag;
  MPI_Comm comm;
  MPI_Comm* made;
} Call;

typedef struct Run {
  Task task;  // the first member: gsmpi.task points to it
  struct Run* next;
  Request* request;
  Call call;
  int (*function)(const Call* call);
  MPI_Status status;  // of the receive of MPI_Isendrecv
  int error;
  bool ended;
#ifdef __GOSSAMER_DEVICE__
  void *own, *resumer;  // stack pointers
#else
  ucontext_t own, resumer;
#endif
  _Alignas(16) char stack[kStackBytes];
} Run;

static RANK_LOCAL Run* free_runs;

static Run* current(void) { return (Run*)gsmpi.task; }

// ---------------------------------------------------------------------- stacks

static void finish(void);

#ifdef __GOSSAMER_DEVICE__
/// Saves the registers that a function preserves on this stack, and continues on another.
void gsmpi_switch_stack(void** from, void* to);
__asm__(
    ".pushsection .text.gsmpi_switch_stack, \"ax\", @progbits\n"
    ".type gsmpi_switch_stack, @function\n"
    "gsmpi_switch_stack:\n"
    "  addi sp, sp, -112\n"
    "  sw ra, 0(sp)\n  sw s0, 4(sp)\n  sw s1, 8(sp)\n  sw s2, 12(sp)\n  sw s3, 16(sp)\n  sw s4, 20(sp)\n"
    "  sw s5, 24(sp)\n  sw s6, 28(sp)\n  sw s7, 32(sp)\n  sw s8, 36(sp)\n  sw s9, 40(sp)\n  sw s10, 44(sp)\n"
    "  sw s11, 48(sp)\n  fsw fs0, 52(sp)\n  fsw fs1, 56(sp)\n  fsw fs2, 60(sp)\n  fsw fs3, 64(sp)\n"
    "  fsw fs4, 68(sp)\n  fsw fs5, 72(sp)\n  fsw fs6, 76(sp)\n  fsw fs7, 80(sp)\n  fsw fs8, 84(sp)\n"
    "  fsw fs9, 88(sp)\n  fsw fs10, 92(sp)\n  fsw fs11, 96(sp)\n"
    "  sw sp, 0(a0)\n"
    "  mv sp, a1\n"
    "  lw ra, 0(sp)\n  lw s0, 4(sp)\n  lw s1, 8(sp)\n  lw s2, 12(sp)\n  lw s3, 16(sp)\n  lw s4, 20(sp)\n"
    "  lw s5, 24(sp)\n  lw s6, 28(sp)\n  lw s7, 32(sp)\n  lw s8, 36(sp)\n  lw s9, 40(sp)\n  lw s10, 44(sp)\n"
    "  lw s11, 48(sp)\n  flw fs0, 52(sp)\n  flw fs1, 56(sp)\n  flw fs2, 60(sp)\n  flw fs3, 64(sp)\n"
    "  flw fs4, 68(sp)\n  flw fs5, 72(sp)\n  flw fs6, 76(sp)\n  flw fs7, 80(sp)\n  flw fs8, 84(sp)\n"
    "  flw fs9, 88(sp)\n  flw fs10, 92(sp)\n  flw fs11, 96(sp)\n"
    "  addi sp, sp, 112\n"
    "  ret\n"
    ".size gsmpi_switch_stack, . - gsmpi_switch_stack\n"
    ".popsection\n");

static void prepare(Run* run) {
  char* top = run->stack + kStackBytes - 112;
  memset(top, 0, 112);
  *(void (**)(void))top = finish;
  run->own = top;
}
static void enter(Run* run) { gsmpi_switch_stack(&run->resumer, run->own); }
static void leave(Run* run) { gsmpi_switch_stack(&run->own, run->resumer); }
#else
static void prepare(Run* run) {
  getcontext(&run->own);
  run->own.uc_stack.ss_sp = run->stack;
  run->own.uc_stack.ss_size = kStackBytes;
  run->own.uc_link = NULL;
  makecontext(&run->own, finish, 0);
}
static void enter(Run* run) { swapcontext(&run->resumer, &run->own); }
static void leave(Run* run) { swapcontext(&run->own, &run->resumer); }
#endif

/// The first function on a new stack.
static void finish(void) {
  Run* run = current();
  run->error = run->function(&run->call);
  run->ended = true;
  leave(run);
  __builtin_trap();
}

static void wait_for(const Request* request) {
  if (request->done) return;
  gsmpi.task->awaits = request;
  leave(current());
}

/// Continues a collective until it waits again, or ends.
static void resume(Run* run) {
  gsmpi.task = &run->task;
  enter(run);
  gsmpi.task = NULL;
  if (!run->ended) return;
  Run** at = &gsmpi.tasks;
  while (*at != run) at = &(*at)->next;
  *at = run->next;
  Request* request = run->request;
  request->status = run->status;
  request->status.MPI_ERROR = run->error;
  request->done = true;
  if (request->freed) gsmpi_free_request(request);
  run->next = free_runs;
  free_runs = run;
}

static bool run_tasks(void) {
  if (gsmpi.task) return false;  // a collective that runs receives packets
  bool any = false;
  for (Run *run = gsmpi.tasks, *next; run; run = next) {
    next = run->next;
    if (!run->task.awaits->done) continue;
    resume(run);
    any = true;
  }
  return any;
}

/// Agrees on a context for MPI_Comm_idup. Blocking calls take contexts from the lowest on, so these are taken from the
/// highest on; of several in progress on a rank, one may have taken a context that others still propose.
static int agree_on_context(Comm* comm, bool usable, uint32_t* number) {
  enum { kWindow = 8 };
  *number = kContexts;
  for (int limit = kContexts - 1; limit >= 0;) {
    uint32_t all[kWindow + 1];
    const int first = limit / (32 * kWindow) * kWindow;  // word
    for (int i = 0; i < kWindow; ++i)
      all[i] = (uint32_t)(first + i) < gsmpi.context_words ? gsmpi.contexts[first + i] : 0;
    all[kWindow] = !usable || gsmpi.context_words < kContexts / 32;
    RETURN_ON_ERROR(gsmpi_agree(comm, all, kWindow + 1, kDup));
    if (all[kWindow]) return MPI_SUCCESS;
    int found = limit;
    while (found >= 32 * first && all[found / 32 - first] >> found % 32 & 1) --found;
    if (found < 32 * first) {
      limit = 32 * first - 1;
      continue;
    }
    uint32_t *word = gsmpi.contexts + found / 32, bit = 1u << found % 32, taken = (*word & bit) != 0;
    const bool mine = !taken;
    *word |= bit;
    RETURN_ON_ERROR(gsmpi_agree(comm, &taken, 1, kDup));
    if (!taken) {
      *number = (uint32_t)found;
      return MPI_SUCCESS;
    }
    if (mine) gsmpi.contexts[found / 32] &= ~bit;
    limit = found - 1 - (int)(comm->context / 4 % 7);
  }
  return MPI_SUCCESS;
}

static int begin(int kind, const Call* call, int (*function)(const Call* call), MPI_Request* made) {
  *made = MPI_REQUEST_NULL;
  Comm* comm = gsmpi_comm(call->comm);  // the collective reports an invalid one
  Run* run = free_runs;
  if (run)
    free_runs = run->next;
  else
    run = gsmpi_allocate(sizeof *run, gsmpi_name(kind));
  Request* request = gsmpi_new_request(gsmpi_name(kind));
  if (!request) return gsmpi_error(comm, MPI_ERR_OTHER, gsmpi_name(kind), "%d requests are open", kMostRequests);
  request->comm = comm;
  request->collective = (uint8_t)kind;
  request->active = true;
  // The highest number is that of MPI_Comm_create_group.
  const uint32_t sequence = comm ? comm->sequence++ % (kMostSequence - 1) : 0;
  run->task = (Task){NULL, (uint16_t)sequence, (uint8_t)kind, wait_for, agree_on_context};
  run->next = NULL;
  run->request = request;
  run->call = *call;
  run->function = function;
  run->status = (MPI_Status){MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0, 0};
  run->ended = false;
  gsmpi.hooks.run_tasks = run_tasks;
  Run** last = &gsmpi.tasks;  // the oldest is continued first
  while (*last) last = &(*last)->next;
  *last = run;
  prepare(run);
  resume(run);
  if (request->done && request->status.MPI_ERROR) {
    const int error = request->status.MPI_ERROR;
    gsmpi_free_request(request);
    return error;
  }
  *made = request;
  gsmpi_progress();
  return MPI_SUCCESS;
}

// ---------------------------------------------------------------------- the calls

static int barrier(const Call* c) { return MPI_Barrier(c->comm); }

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  CALLED();
  return begin(kBarrier, &(Call){.comm = comm}, barrier, request);
}

static int bcast(const Call* c) { return MPI_Bcast(c->out, c->out_count, c->out_type, c->root, c->comm); }

int MPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  CALLED();
  const Call call = {.out = buffer, .out_count = count, .out_type = type, .root = root, .comm = comm};
  return begin(kBcast, &call, bcast, request);
}

static int reduce(const Call* c) {
  return MPI_Reduce(c->in, c->out, c->out_count, c->out_type, c->op, c->root, c->comm);
}

int MPI_Ireduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request* request) {
  CALLED();
  const Call call = {.in = in, .out = out, .out_count = count, .out_type = type, .op = op, .root = root, .comm = comm};
  return begin(kReduce, &call, reduce, request);
}

/// Reductions without a root.
static int start_reduction(int kind, int (*function)(const Call* call), const void* in, void* out, int count,
                           MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  const Call call = {.in = in, .out = out, .out_count = count, .out_type = type, .op = op, .comm = comm};
  return begin(kind, &call, function, request);
}

static int allreduce(const Call* c) { return MPI_Allreduce(c->in, c->out, c->out_count, c->out_type, c->op, c->comm); }

int MPI_Iallreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  CALLED();
  return start_reduction(kAllreduce, allreduce, in, out, count, type, op, comm, request);
}

static int scan(const Call* c) { return MPI_Scan(c->in, c->out, c->out_count, c->out_type, c->op, c->comm); }

int MPI_Iscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  CALLED();
  return start_reduction(kScan, scan, in, out, count, type, op, comm, request);
}

static int exscan(const Call* c) { return MPI_Exscan(c->in, c->out, c->out_count, c->out_type, c->op, c->comm); }

int MPI_Iexscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request* request) {
  CALLED();
  return start_reduction(kExscan, exscan, in, out, count, type, op, comm, request);
}

static int reduce_scatter_block(const Call* c) {
  return MPI_Reduce_scatter_block(c->in, c->out, c->out_count, c->out_type, c->op, c->comm);
}

int MPI_Ireduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                              MPI_Request* request) {
  CALLED();
  return start_reduction(kReduceScatterBlock, reduce_scatter_block, in, out, count, type, op, comm, request);
}

static int reduce_scatter(const Call* c) {
  return MPI_Reduce_scatter(c->in, c->out, c->out_counts, c->out_type, c->op, c->comm);
}

int MPI_Ireduce_scatter(const void* in, void* out, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                        MPI_Request* request) {
  CALLED();
  const Call call = {.in = in, .out = out, .out_counts = counts, .out_type = type, .op = op, .comm = comm};
  return begin(kReduceScatter, &call, reduce_scatter, request);
}

static int gather(const Call* c) {
  return MPI_Gather(c->in, c->in_count, c->in_type, c->out, c->out_count, c->out_type, c->root, c->comm);
}

static int scatter(const Call* c) {
  return MPI_Scatter(c->in, c->in_count, c->in_type, c->out, c->out_count, c->out_type, c->root, c->comm);
}

static int allgather(const Call* c) {
  return MPI_Allgather(c->in, c->in_count, c->in_type, c->out, c->out_count, c->out_type, c->comm);
}

static int alltoall(const Call* c) {
  return MPI_Alltoall(c->in, c->in_count, c->in_type, c->out, c->out_count, c->out_type, c->comm);
}

/// Collectives whose blocks have one size.
static int start_equal(int kind, int (*function)(const Call* call), const void* in, int in_count, MPI_Datatype in_type,
                       void* out, int out_count, MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request* request) {
  const Call call = {.in = in,
                     .out = out,
                     .in_count = in_count,
                     .out_count = out_count,
                     .in_type = in_type,
                     .out_type = out_type,
                     .root = root,
                     .comm = comm};
  return begin(kind, &call, function, request);
}

int MPI_Igather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                int root, MPI_Comm comm, MPI_Request* request) {
  CALLED();
  return start_equal(kGather, gather, in, in_count, in_type, out, out_count, out_type, root, comm, request);
}

int MPI_Iscatter(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                 int root, MPI_Comm comm, MPI_Request* request) {
  CALLED();
  return start_equal(kScatter, scatter, in, in_count, in_type, out, out_count, out_type, root, comm, request);
}

int MPI_Iallgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                   MPI_Comm comm, MPI_Request* request) {
  CALLED();
  return start_equal(kAllgather, allgather, in, in_count, in_type, out, out_count, out_type, 0, comm, request);
}

int MPI_Ialltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                  MPI_Comm comm, MPI_Request* request) {
  CALLED();
  return start_equal(kAlltoall, alltoall, in, in_count, in_type, out, out_count, out_type, 0, comm, request);
}

static int gatherv(const Call* c) {
  return MPI_Gatherv(c->in, c->in_count, c->in_type, c->out, c->out_counts, c->out_displacements, c->out_type, c->root,
                     c->comm);
}

int MPI_Igatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int out_counts[],
                 const int displacements[], MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request* request) {
  CALLED();
  const Call call = {.in = in,
                     .out = out,
                     .in_count = in_count,
                     .in_type = in_type,
                     .out_counts = out_counts,
                     .out_displacements = displacements,
                     .out_type = out_type,
                     .root = root,
                     .comm = comm};
  return begin(kGatherv, &call, gatherv, request);
}

static int scatterv(const Call* c) {
  return MPI_Scatterv(c->in, c->in_counts, c->in_displacements, c->in_type, c->out, c->out_count, c->out_type, c->root,
                      c->comm);
}

int MPI_Iscatterv(const void* in, const int in_counts[], const int displacements[], MPI_Datatype in_type, void* out,
                  int out_count, MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request* request) {
  CALLED();
  const Call call = {.in = in,
                     .out = out,
                     .in_counts = in_counts,
                     .in_displacements = displacements,
                     .in_type = in_type,
                     .out_count = out_count,
                     .out_type = out_type,
                     .root = root,
                     .comm = comm};
  return begin(kScatterv, &call, scatterv, request);
}

static int allgatherv(const Call* c) {
  return MPI_Allgatherv(c->in, c->in_count, c->in_type, c->out, c->out_counts, c->out_displacements, c->out_type,
                        c->comm);
}

int MPI_Iallgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int out_counts[],
                    const int displacements[], MPI_Datatype out_type, MPI_Comm comm, MPI_Request* request) {
  CALLED();
  const Call call = {.in = in,
                     .out = out,
                     .in_count = in_count,
                     .in_type = in_type,
                     .out_counts = out_counts,
                     .out_displacements = displacements,
                     .out_type = out_type,
                     .comm = comm};
  return begin(kAllgatherv, &call, allgatherv, request);
}

static int alltoallv(const Call* c) {
  return MPI_Alltoallv(c->in, c->in_counts, c->in_displacements, c->in_type, c->out, c->out_counts,
                       c->out_displacements, c->out_type, c->comm);
}

int MPI_Ialltoallv(const void* in, const int in_counts[], const int in_displacements[], MPI_Datatype in_type, void* out,
                   const int out_counts[], const int out_displacements[], MPI_Datatype out_type, MPI_Comm comm,
                   MPI_Request* request) {
  CALLED();
  const Call call = {.in = in,
                     .out = out,
                     .in_counts = in_counts,
                     .in_displacements = in_displacements,
                     .in_type = in_type,
                     .out_counts = out_counts,
                     .out_displacements = out_displacements,
                     .out_type = out_type,
                     .comm = comm};
  return begin(kAlltoallv, &call, alltoallv, request);
}

static int alltoallw(const Call* c) {
  return MPI_Alltoallw(c->in, c->in_counts, c->in_displacements, c->in_types, c->out, c->out_counts,
                       c->out_displacements, c->out_types, c->comm);
}

int MPI_Ialltoallw(const void* in, const int in_counts[], const int in_displacements[], const MPI_Datatype in_types[],
                   void* out, const int out_counts[], const int out_displacements[], const MPI_Datatype out_types[],
                   MPI_Comm comm, MPI_Request* request) {
  CALLED();
  const Call call = {.in = in,
                     .out = out,
                     .in_counts = in_counts,
                     .in_displacements = in_displacements,
                     .in_types = in_types,
                     .out_counts = out_counts,
                     .out_displacements = out_displacements,
                     .out_types = out_types,
                     .comm = comm};
  return begin(kAlltoallw, &call, alltoallw, request);
}

static int idup(const Call* c) {
  static const char call[] = "MPI_Comm_idup";
  Comm* comm = gsmpi_check_comm(c->comm, call);
  return comm ? gsmpi_duplicate(call, comm, c->made) : MPI_ERR_COMM;
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* copy, MPI_Request* request) {
  CALLED();
  *copy = MPI_COMM_NULL;
  return begin(kDup, &(Call){.comm = comm, .made = copy}, idup, request);
}

static int isendrecv(const Call* c) {
  return gsmpi_sendrecv("MPI_Isendrecv", c->in, c->in_count, c->in_type, c->dest, c->out_tag, c->out, c->out_count,
                        c->out_type, c->source, c->in_tag, c->comm, &current()->status);
}

int MPI_Isendrecv(const void* out, int out_count, MPI_Datatype out_type, int dest, int out_tag, void* in, int in_count,
                  MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm, MPI_Request* request) {
  CALLED();
  const Call call = {.in = out,
                     .in_count = out_count,
                     .in_type = out_type,
                     .dest = dest,
                     .out_tag = out_tag,
                     .out = in,
                     .out_count = in_count,
                     .out_type = in_type,
                     .source = source,
                     .in_tag = in_tag,
                     .comm = comm};
  return begin(kSendrecv, &call, isendrecv, request);
}

static int isendrecv_replace(const Call* c) {
  return gsmpi_sendrecv_replace("MPI_Isendrecv_replace", c->out, c->out_count, c->out_type, c->dest, c->out_tag,
                                c->source, c->in_tag, c->comm, &current()->status);
}

int MPI_Isendrecv_replace(void* buffer, int count, MPI_Datatype type, int dest, int out_tag, int source, int in_tag,
                          MPI_Comm comm, MPI_Request* request) {
  CALLED();
  const Call call = {.out = buffer,
                     .out_count = count,
                     .out_type = type,
                     .dest = dest,
                     .out_tag = out_tag,
                     .source = source,
                     .in_tag = in_tag,
                     .comm = comm};
  return begin(kSendrecvReplace, &call, isendrecv_replace, request);
}

SMALL_CODE_END
