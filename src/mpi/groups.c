// SPDX-License-Identifier: Apache-2.0
/// Groups: lists of ranks of the world; and the communicators that are made from them.

#include <string.h>

#include "internal.h"

SMALL_CODE_BEGIN

struct gsmpi_group {
  int size;
  uint16_t members[];  // ranks in the world
};

static MPI_Group new_group(int size, const char* call) {
  MPI_Group group = gsmpi_allocate(sizeof *group + (size_t)size * sizeof *group->members, call);
  group->size = 0;
  return group;
}

/// The handle of a group that has been filled. Groups without members have one handle.
static int made_group(MPI_Group group, MPI_Group* made) {
  if (group->size == 0) {
    gsmpi_release(group);
    group = MPI_GROUP_EMPTY;
  }
  *made = group;
  return MPI_SUCCESS;
}

/// Checks a handle; `empty` is the group that MPI_GROUP_EMPTY means.
static int check(const char* call, MPI_Group* group) {
  static struct gsmpi_group empty;
  if (*group == MPI_GROUP_NULL) return gsmpi_error(NULL, MPI_ERR_GROUP, call, "the group is MPI_GROUP_NULL");
  if (*group == MPI_GROUP_EMPTY) *group = &empty;
  return MPI_SUCCESS;
}

/// Index of a member, or -1.
static int find(const struct gsmpi_group* group, int member) {
  for (int i = 0; i < group->size; ++i)
    if (group->members[i] == member) return i;
  return -1;
}

int MPI_Comm_group(MPI_Comm handle, MPI_Group* made) {
  static const char call[] = "MPI_Comm_group";
  CALLED();
  const Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  MPI_Group group = new_group(comm->size, call);
  for (int rank = 0; rank < comm->size; ++rank) group->members[group->size++] = comm->peers[rank]->rank;
  return made_group(group, made);
}

int MPI_Group_size(MPI_Group group, int* size) {
  CALLED();
  RETURN_ON_ERROR(check("MPI_Group_size", &group));
  *size = group->size;
  return MPI_SUCCESS;
}

int MPI_Group_rank(MPI_Group group, int* rank) {
  CALLED();
  RETURN_ON_ERROR(check("MPI_Group_rank", &group));
  const int found = find(group, gsmpi.rank);
  *rank = found < 0 ? MPI_UNDEFINED : found;
  return MPI_SUCCESS;
}

static int check_rank(const char* call, const struct gsmpi_group* group, int rank) {
  if ((unsigned)rank < (unsigned)group->size) return MPI_SUCCESS;
  return gsmpi_error(NULL, MPI_ERR_RANK, call, "rank %d is not in the group, which has %d ranks", rank, group->size);
}

int MPI_Group_translate_ranks(MPI_Group one, int count, const int ranks[], MPI_Group other, int others[]) {
  static const char call[] = "MPI_Group_translate_ranks";
  CALLED();
  RETURN_ON_ERROR(check(call, &one));
  RETURN_ON_ERROR(check(call, &other));
  if (count < 0) return gsmpi_error(NULL, MPI_ERR_ARG, call, "the count %d is negative", count);
  for (int i = 0; i < count; ++i) {
    if (ranks[i] == MPI_PROC_NULL) {
      others[i] = MPI_PROC_NULL;
      continue;
    }
    RETURN_ON_ERROR(check_rank(call, one, ranks[i]));
    const int found = find(other, one->members[ranks[i]]);
    others[i] = found < 0 ? MPI_UNDEFINED : found;
  }
  return MPI_SUCCESS;
}

int MPI_Group_compare(MPI_Group one, MPI_Group other, int* result) {
  CALLED();
  RETURN_ON_ERROR(check("MPI_Group_compare", &one));
  RETURN_ON_ERROR(check("MPI_Group_compare", &other));
  *result = one->size == other->size ? MPI_IDENT : MPI_UNEQUAL;
  for (int i = 0; *result != MPI_UNEQUAL && i < one->size; ++i) {
    if (one->members[i] == other->members[i]) continue;
    *result = find(other, one->members[i]) < 0 ? MPI_UNEQUAL : MPI_SIMILAR;
  }
  return MPI_SUCCESS;
}

enum { kUnion, kIntersection, kDifference };

static int combine(const char* call, int what, MPI_Group one, MPI_Group other, MPI_Group* made) {
  RETURN_ON_ERROR(check(call, &one));
  RETURN_ON_ERROR(check(call, &other));
  MPI_Group group = new_group(one->size + other->size, call);
  for (int i = 0; i < one->size; ++i)
    if (what == kUnion || (find(other, one->members[i]) >= 0) == (what == kIntersection))
      group->members[group->size++] = one->members[i];
  for (int i = 0; what == kUnion && i < other->size; ++i)
    if (find(one, other->members[i]) < 0) group->members[group->size++] = other->members[i];
  return made_group(group, made);
}

int MPI_Group_union(MPI_Group one, MPI_Group other, MPI_Group* made) {
  CALLED();
  return combine("MPI_Group_union", kUnion, one, other, made);
}

int MPI_Group_intersection(MPI_Group one, MPI_Group other, MPI_Group* made) {
  CALLED();
  return combine("MPI_Group_intersection", kIntersection, one, other, made);
}

int MPI_Group_difference(MPI_Group one, MPI_Group other, MPI_Group* made) {
  CALLED();
  return combine("MPI_Group_difference", kDifference, one, other, made);
}

/// A group of the listed ranks of another, in their order; or, for `excludes`, of all others.
static int select(const char* call, bool excludes, MPI_Group from, int count, const int ranks[], MPI_Group* made) {
  MPI_Group listed = new_group(from->size, call);
  for (int i = 0; i < count; ++i) {
    int error = check_rank(call, from, ranks[i]);
    if (!error && find(listed, from->members[ranks[i]]) >= 0)
      error = gsmpi_error(NULL, MPI_ERR_RANK, call, "rank %d is listed twice", ranks[i]);
    if (error) {
      gsmpi_release(listed);
      return error;
    }
    listed->members[listed->size++] = from->members[ranks[i]];
  }
  if (!excludes) return made_group(listed, made);
  MPI_Group others = new_group(from->size, call);
  for (int i = 0; i < from->size; ++i)
    if (find(listed, from->members[i]) < 0) others->members[others->size++] = from->members[i];
  gsmpi_release(listed);
  return made_group(others, made);
}

static int list(const char* call, bool excludes, MPI_Group from, int count, const int ranks[], MPI_Group* made) {
  RETURN_ON_ERROR(check(call, &from));
  if (count < 0) return gsmpi_error(NULL, MPI_ERR_ARG, call, "the count %d is negative", count);
  return select(call, excludes, from, count, ranks, made);
}

int MPI_Group_incl(MPI_Group from, int count, const int ranks[], MPI_Group* made) {
  CALLED();
  return list("MPI_Group_incl", false, from, count, ranks, made);
}

int MPI_Group_excl(MPI_Group from, int count, const int ranks[], MPI_Group* made) {
  CALLED();
  return list("MPI_Group_excl", true, from, count, ranks, made);
}

/// The same for ranges: first rank, last rank, stride.
static int ranges(const char* call, bool excludes, MPI_Group from, int count, int of[][3], MPI_Group* made) {
  RETURN_ON_ERROR(check(call, &from));
  if (count < 0) return gsmpi_error(NULL, MPI_ERR_ARG, call, "the count %d is negative", count);
  int* ranks = gsmpi_allocate((size_t)from->size * sizeof *ranks, call);
  int used = 0, error = MPI_SUCCESS;
  for (int i = 0; i < count && !error; ++i) {
    const int first = of[i][0], last = of[i][1], stride = of[i][2];
    if (stride == 0) error = gsmpi_error(NULL, MPI_ERR_ARG, call, "range %d has the stride 0", i);
    for (int rank = first; !error && (stride > 0 ? rank <= last : rank >= last); rank += stride) {
      error = check_rank(call, from, rank);
      if (!error && used == from->size) error = gsmpi_error(NULL, MPI_ERR_RANK, call, "rank %d is listed twice", rank);
      if (!error) ranks[used++] = rank;
    }
  }
  if (!error) error = select(call, excludes, from, used, ranks, made);
  gsmpi_release(ranks);
  return error;
}

int MPI_Group_range_incl(MPI_Group from, int count, int of[][3], MPI_Group* made) {
  CALLED();
  return ranges("MPI_Group_range_incl", false, from, count, of, made);
}

int MPI_Group_range_excl(MPI_Group from, int count, int of[][3], MPI_Group* made) {
  CALLED();
  return ranges("MPI_Group_range_excl", true, from, count, of, made);
}

int MPI_Group_free(MPI_Group* group) {
  CALLED();
  if (*group == MPI_GROUP_NULL)
    return gsmpi_error(NULL, MPI_ERR_GROUP, "MPI_Group_free", "the group is MPI_GROUP_NULL");
  if (*group != MPI_GROUP_EMPTY) gsmpi_release(*group);
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

// ---------------------------------------------------------------------- communicators

/// Makes a communicator of a group's ranks; all of them must be in `comm`.
static int create(const char* call, Comm* comm, MPI_Group group, int kind, int mark, MPI_Comm* made) {
  *made = MPI_COMM_NULL;
  RETURN_ON_ERROR(check(call, &group));
  int* ranks = gsmpi_allocate((size_t)comm->size * sizeof *ranks, call);
  for (int i = 0; i < group->size; ++i) {
    int rank = 0;
    while (rank < comm->size && comm->peers[rank]->rank != group->members[i]) ++rank;
    if (rank == comm->size) {
      gsmpi_release(ranks);
      return gsmpi_error(comm, MPI_ERR_GROUP, call, "rank %d of the group is not in the communicator", i);
    }
    ranks[i] = rank;
  }
  const bool member = find(group, gsmpi.rank) >= 0;
  int error = MPI_SUCCESS;
  if (member || kind != kCreateGroup)
    error = gsmpi_derive(call, comm, member ? ranks : NULL, group->size, kind, mark, made);
  gsmpi_release(ranks);
  return error;
}

int MPI_Comm_create(MPI_Comm handle, MPI_Group group, MPI_Comm* made) {
  CALLED();
  Comm* comm = gsmpi_check_comm(handle, "MPI_Comm_create");
  if (!comm) return MPI_ERR_COMM;
  return create("MPI_Comm_create", comm, group, kCreate, 0, made);
}

int MPI_Comm_create_group(MPI_Comm handle, MPI_Group group, int tag, MPI_Comm* made) {
  static const char call[] = "MPI_Comm_create_group";
  CALLED();
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  if ((unsigned)tag > kMostTag)
    return gsmpi_error(comm, MPI_ERR_TAG, call, "tag %d is out of range, 0 to %d", tag, kMostTag);
  return create(call, comm, group, kCreateGroup, tag % kMostSequence, made);
}

int MPI_Comm_split_type(MPI_Comm handle, int kind, int key, MPI_Info info, MPI_Comm* part) {
  static const char call[] = "MPI_Comm_split_type";
  (void)info;
  CALLED();
  *part = MPI_COMM_NULL;
  Comm* comm = gsmpi_check_comm(handle, call);
  if (!comm) return MPI_ERR_COMM;
  if (kind != MPI_COMM_TYPE_SHARED && kind != MPI_UNDEFINED)
    return gsmpi_error(comm, MPI_ERR_ARG, call, "%d is not a type of communicator", kind);
  // All ranks are on one machine; on the overlay they share no memory, and no MPI call uses it.
  return gsmpi_split(call, comm, kind == MPI_UNDEFINED ? kind : 0, key, part);
}

int MPI_Comm_compare(MPI_Comm one, MPI_Comm other, int* result) {
  CALLED();
  const Comm* a = gsmpi_check_comm(one, "MPI_Comm_compare");
  const Comm* b = gsmpi_check_comm(other, "MPI_Comm_compare");
  if (!a || !b) return MPI_ERR_COMM;
  bool congruent = a->size == b->size, similar = congruent;
  for (int i = 0; congruent && i < a->size; ++i) congruent = a->peers[i] == b->peers[i];
  for (int i = 0; similar && !congruent && i < a->size; ++i) {
    int j = 0;
    while (j < b->size && a->peers[i] != b->peers[j]) ++j;
    similar = j < b->size;
  }
  *result = one == other ? MPI_IDENT : congruent ? MPI_CONGRUENT : similar ? MPI_SIMILAR : MPI_UNEQUAL;
  return MPI_SUCCESS;
}

int MPI_Comm_test_inter(MPI_Comm handle, int* flag) {
  CALLED();
  if (!gsmpi_check_comm(handle, "MPI_Comm_test_inter")) return MPI_ERR_COMM;
  *flag = 0;
  return MPI_SUCCESS;
}

SMALL_CODE_END
