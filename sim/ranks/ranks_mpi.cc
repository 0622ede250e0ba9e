// SPDX-License-Identifier: Apache-2.0
/// The functions of ranks_mpi.h, implemented with any MPI.
#include "ranks_mpi.h"

#include <mpi.h>
#include <sched.h>
#include <time.h>

#include <cstdlib>
#include <vector>

namespace {

constexpr int kTag = 1;
constexpr uint64_t kPart = uint64_t{1} << 30;  ///< bytes of one message; MPI counts them in an int

GsRanks table;

/// Waits without spinning for long. MPI itself would spin: with more processes than processors for a whole time slice
/// of the scheduler, and between the host's requests possibly for minutes.
void wait(MPI_Request* requests, int count, MPI_Status* statuses = MPI_STATUSES_IGNORE) {
  constexpr int kSpins = 200, kYields = 20'000;
  int done = 0;
  for (int spins = 0; MPI_Testall(count, requests, &done, statuses), !done; ++spins) {
    const timespec nap{0, 50'000};
    if (spins > kYields) {
      ::nanosleep(&nap, nullptr);
    } else if (spins > kSpins) {
      ::sched_yield();
    }
  }
}

void reduce(uint64_t* values, int count, int operation) {
  const MPI_Op how = operation == kGsSum ? MPI_SUM : operation == kGsMax ? MPI_MAX : MPI_BOR;
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_UINT64_T, how, MPI_COMM_WORLD, &request);
  wait(&request, 1);
}

void share(void* bytes, uint64_t count) {
  auto* at = static_cast<char*>(bytes);
  while (count) {
    const uint64_t part = count < kPart ? count : kPart;
    MPI_Request request;
    MPI_Ibcast(at, static_cast<int>(part), MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    wait(&request, 1);
    at += part;
    count -= part;
  }
}

void gather(const void* bytes, uint64_t count, void* context,
            void (*take)(void* context, int rank, const uint8_t* bytes, uint64_t count)) {
  if (table.number) {
    MPI_Send(&count, 1, MPI_UINT64_T, 0, kTag, MPI_COMM_WORLD);
    const auto* at = static_cast<const char*>(bytes);
    for (uint64_t sent = 0; sent < count; sent += kPart) {
      const uint64_t part = count - sent < kPart ? count - sent : kPart;
      MPI_Send(at + sent, static_cast<int>(part), MPI_BYTE, 0, kTag, MPI_COMM_WORLD);
    }
    return;
  }
  for (int rank = 1; rank < table.count; ++rank) {
    uint64_t its = 0;
    MPI_Recv(&its, 1, MPI_UINT64_T, rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    auto* data = static_cast<uint8_t*>(std::malloc(its ? its : 1));
    if (!data) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    for (uint64_t got = 0; got < its; got += kPart) {
      const uint64_t part = its - got < kPart ? its - got : kPart;
      MPI_Recv(data + got, static_cast<int>(part), MPI_BYTE, rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    take(context, rank, data, its);
    std::free(data);
  }
}

void swap(const uint8_t* const* out, uint8_t* const* in, uint64_t* sizes, const uint64_t* most) {
  std::vector<MPI_Request> requests;
  std::vector<MPI_Status> statuses;
  std::vector<int> partners;
  requests.reserve(2 * static_cast<size_t>(table.count));
  for (int rank = 0; rank < table.count; ++rank) {
    if (rank == table.number || !most[rank]) continue;
    MPI_Irecv(in[rank], static_cast<int>(most[rank]), MPI_BYTE, rank, kTag, MPI_COMM_WORLD, &requests.emplace_back());
    MPI_Isend(out[rank], static_cast<int>(sizes[rank]), MPI_BYTE, rank, kTag, MPI_COMM_WORLD,
              &requests.emplace_back());
    partners.push_back(rank);
  }
  statuses.resize(requests.size());
  wait(requests.data(), static_cast<int>(requests.size()), statuses.data());
  for (size_t i = 0; i < partners.size(); ++i) {
    int got = 0;
    MPI_Get_count(&statuses[2 * i], MPI_BYTE, &got);
    sizes[partners[i]] = static_cast<uint64_t>(got);
  }
}

void leave() { MPI_Finalize(); }

}  // namespace

const GsRanks* gs_ranks_join() {
  if (MPI_Init(nullptr, nullptr) != MPI_SUCCESS) return nullptr;
  table = {0, 0, reduce, share, gather, swap, leave};
  MPI_Comm_rank(MPI_COMM_WORLD, &table.number);
  MPI_Comm_size(MPI_COMM_WORLD, &table.count);
  return &table;
}
