// SPDX-License-Identifier: Apache-2.0
/// The functions of gossamer/distributed/transport.h, implemented with any MPI of version 3 or later.
#include "gossamer/distributed/transport.h"

#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gossamer/distributed/waiting.h"

namespace {

gs_ranks table;
std::vector<MPI_Request> requests;
std::vector<uint64_t> unused;  // elements of `requests`
MPI_Message probed;
MPI_Request reduction;
MPI_Op reduce_words;
MPI_Datatype word_type;
std::string problem;

// ---- Messages ----

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

int probe_from(int rank, int tag, int* from, uint64_t* size) {
  int there = 0;
  MPI_Status status;
  MPI_Improbe(rank, tag, MPI_COMM_WORLD, &there, &probed, &status);
  if (!there) return 0;
  MPI_Count bytes = 0;
  MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  *from = status.MPI_SOURCE;
  *size = static_cast<uint64_t>(bytes);
  return 1;
}

int probe(int from, int tag, uint64_t* size) { return probe_from(from, tag, &from, size); }

int probe_any(int tag, int* from, uint64_t* size) { return probe_from(MPI_ANY_SOURCE, tag, from, size); }

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
  // MPI would spin in a blocking broadcast: with more ranks than processors for whole time slices of the scheduler, and
  // in a simulator between the host's requests possibly for minutes.
  MPI_Request request;
  with_type(size,
            [&](int count, MPI_Datatype type) { MPI_Ibcast(bytes, count, type, from, MPI_COMM_WORLD, &request); });
  gossamer::distributed::Waiting().until([&] {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return done;
  });
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

// ---- Start of the job ----

/// The number in an environment variable, 0 without one.
long number(const char* name) {
  const char* text = std::getenv(name);
  return text ? std::strtol(text, nullptr, 10) : 0;
}

std::string version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string all(text, static_cast<size_t>(length));
  all.resize(std::strcspn(all.c_str(), "\n"));
  // MPICH's first line is "MPICH Version:      4.0.2", Open MPI's "Open MPI v4.1.4, package: ..., ident: ...".
  all.resize(std::min(all.size(), all.find(',')));
  std::string line;
  for (const char c : all) {
    const bool space = c == ' ' || c == '\t';
    if (!space || (!line.empty() && line.back() != ' ')) line += space ? ' ' : c;
  }
  if (const size_t at = line.find(" Version:"); at != std::string::npos) line.erase(at, std::strlen(" Version:"));
  return line;
}

/// A launcher of another MPI starts each process as the only rank of a job of its own, or MPI aborts. So environment
/// variables of launchers are compared before MPI starts; empty if they match.
std::string launcher_problem() {
#ifdef OPEN_MPI
  constexpr bool kOpenMpi = true;
#else
  constexpr bool kOpenMpi = false;
#endif
  if (!kOpenMpi && number("OMPI_COMM_WORLD_SIZE")) {
    return "Open MPI's launcher has started this process, but Gossamer is built with " + version() +
           "; use ./gossamer run ... -n RANKS, or set GOSSAMER_MPIEXEC and GOSSAMER_MPICXX to those of one MPI";
  }
  const bool pmi = std::getenv("PMI_RANK") || std::getenv("PMIX_RANK") || std::getenv("OMPI_COMM_WORLD_RANK");
  const long tasks = number("SLURM_STEP_NUM_TASKS");
  if (tasks > 1 && !pmi) {
    return "srun has started " + std::to_string(tasks) + " processes that cannot form one MPI job; use " +
           (kOpenMpi ? "srun --mpi=pmix" : "srun --mpi=pmi2") + ", or ./gossamer run ... -n RANKS";
  }
  // An MPICH without PMIx aborts with several lines (5.0), or runs each process as the only rank (4.0). One with PMIx
  // is linked with its library; Intel MPI loads a library by name when it starts.
  const bool pmix = std::getenv("PMIX_NAMESPACE") && !std::getenv("PMI_RANK");
  if (!kOpenMpi && pmix && !dlsym(RTLD_DEFAULT, "PMIx_Init") && !std::getenv("I_MPI_PMI_LIBRARY")) {
    return (tasks ? "srun --mpi=pmix has" : "a launcher with PMIx has") + std::string(" started this process, but ") +
           version() + " does not support PMIx; use " + (tasks ? "srun --mpi=pmi2" : "a launcher of this MPI") +
           ", or ./gossamer run ... -n RANKS";
  }
  return "";
}

/// After the start of MPI: the launcher has started more processes than this job has ranks.
std::string singleton_problem(int count) {
  long tasks = 0;
  for (const char* name : {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if ((tasks = number(name))) break;
  }
  if (count > 1 || tasks <= 1) return "";
  return "a launcher has started " + std::to_string(tasks) +
         " processes, but each is the only rank of its own MPI job; use the launcher of " + version() +
         ": ./gossamer run ... -n RANKS, or set GOSSAMER_MPIEXEC and GOSSAMER_MPICXX to those of one MPI";
}

/// Compares the versions of MPI of all ranks; empty if they are equal, else the same line on all ranks.
std::string version_problem() {
  constexpr int kText = 256;
  char mine[kText] = {}, first[kText] = {}, other[kText] = {};
  char host[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  MPI_Get_processor_name(host, &length);
  std::snprintf(mine, kText, "%s", version().c_str());
  std::memcpy(first, mine, kText);
  MPI_Bcast(first, kText, MPI_BYTE, 0, MPI_COMM_WORLD);
  int differs = std::strcmp(mine, first) ? table.rank : INT_MAX, which = 0;
  MPI_Allreduce(&differs, &which, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (which == INT_MAX) return "";
  std::snprintf(other, kText, "rank %d on %.100s has %.90s", table.rank, host, mine);
  MPI_Bcast(other, kText, MPI_BYTE, which, MPI_COMM_WORLD);
  return std::string(other) + ", but rank 0 has " + first + "; install one MPI on all machines";
}

/// Ends the process if MPI does not start in time: ranks that a host or another MPI has kept from the job would let the
/// others wait for ever.
class Deadline {
 public:
  Deadline() {
    const long asked = number("GOSSAMER_MPI_TIMEOUT");
    const std::chrono::seconds limit(asked > 0 ? asked : 120);
    thread_ = std::thread([this, limit] {
      std::unique_lock lock(mutex_);
      if (ended_.wait_for(lock, limit, [this] { return over_; })) return;
      const std::string line =
          "gossamer: error: the ranks have not met within " + std::to_string(limit.count()) + " s (this one has " +
          version() + "); check that all machines are reachable and have the same MPI, or set GOSSAMER_MPI_TIMEOUT\n";
      [[maybe_unused]] const auto written = ::write(2, line.data(), line.size());
      std::_Exit(2);
    });
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    ended_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace

extern "C" const char* gs_ranks_problem(void) { return problem.c_str(); }

extern "C" const char* gs_ranks_mpi(void) {
  static const std::string line = version();
  return line.c_str();
}

extern "C" const gs_ranks* gs_ranks_join(void) {
  problem = launcher_problem();
  const char* wanted = std::getenv("GOSSAMER_MPI");
  if (problem.empty() && wanted && version() != wanted) {
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    problem = std::string("a rank on ") + host + " has " + version() + ", but the command has " + wanted +
              "; install one MPI on all machines";
  }
  if (!problem.empty()) return nullptr;
  const Deadline deadline;
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    problem = version() + " does not start; start the ranks with its launcher";
    return nullptr;
  }
  table = {0, 0, send, sent, probe, probe_any, receive, reduce, reduced, broadcast, abort_all, leave, send_matched};
  MPI_Comm_rank(MPI_COMM_WORLD, &table.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &table.count);
  problem = singleton_problem(table.count);
  if (problem.empty()) problem = version_problem();
  if (!problem.empty()) {
    MPI_Finalize();
    return nullptr;
  }
  read_most_bytes();
  MPI_Type_contiguous(static_cast<int>(sizeof(gs_reduced_word)), MPI_BYTE, &word_type);
  MPI_Type_commit(&word_type);
  MPI_Op_create(reduce_pairs, 1, &reduce_words);
  return &table;
}
