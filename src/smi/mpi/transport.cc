// SPDX-License-Identifier: Apache-2.0
/// The functions of transport.h, implemented with any MPI.
#include "transport.h"

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace {

constexpr int kTag = 1;

GsTransport table;
std::vector<MPI_Request> requests;  ///< by process: the send in progress
std::vector<std::uint8_t> buffer;

// Messages are shorter than 2^30 bytes: an int counts them (processes.cc).
void send(int to, const void* bytes, std::uint64_t size) {
  MPI_Isend(bytes, static_cast<int>(size), MPI_BYTE, to, kTag, MPI_COMM_WORLD, &requests[static_cast<std::size_t>(to)]);
}

bool sent(int to) {
  int done = 0;
  MPI_Test(&requests[static_cast<std::size_t>(to)], &done, MPI_STATUS_IGNORE);
  return done;
}

bool receive(void* context, void (*take)(void*, int, const std::uint8_t*, std::uint64_t)) {
  int there = 0, size = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &there, &status);
  if (!there) return false;
  MPI_Get_count(&status, MPI_BYTE, &size);
  if (buffer.size() < static_cast<std::size_t>(size)) buffer.resize(static_cast<std::size_t>(size));
  MPI_Recv(buffer.data(), size, MPI_BYTE, status.MPI_SOURCE, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  take(context, status.MPI_SOURCE, buffer.data(), static_cast<std::uint64_t>(size));
  return true;
}

void leave() { MPI_Finalize(); }

}  // namespace

const GsTransport* gs_transport_join() {
  if (MPI_Init(nullptr, nullptr) != MPI_SUCCESS) return nullptr;
  table = {0, 0, send, sent, receive, leave};
  MPI_Comm_rank(MPI_COMM_WORLD, &table.number);
  MPI_Comm_size(MPI_COMM_WORLD, &table.count);
  requests.assign(static_cast<std::size_t>(table.count), MPI_REQUEST_NULL);
  return &table;
}
