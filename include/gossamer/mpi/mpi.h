// SPDX-License-Identifier: Apache-2.0
/// MPI for Gossamer programs, in C and C++: the same source compiles with any other MPI implementation.
//
// docs/mpi.md lists the supported calls and explains how to run a program. Handles other than requests are numbers.
// Constants may be used in initialisers, as the standard requires.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION 3
#define MPI_SUBVERSION 1

typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Op;
typedef int MPI_Errhandler;
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Count;
typedef int64_t MPI_Offset;
typedef struct gsmpi_request* MPI_Request;
typedef struct gsmpi_message* MPI_Message;

/// Status of a received message. `gsmpi_bytes` is used by MPI_Get_count.
typedef struct MPI_Status {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int gsmpi_bytes;
  int gsmpi_cancelled;
} MPI_Status;

typedef void MPI_User_function(void* in, void* inout, int* count, MPI_Datatype* type);

#define MPI_COMM_NULL ((MPI_Comm)0)
#define MPI_COMM_WORLD ((MPI_Comm)1)
#define MPI_COMM_SELF ((MPI_Comm)2)

#define MPI_REQUEST_NULL ((MPI_Request)0)
#define MPI_MESSAGE_NULL ((MPI_Message)0)
#define MPI_MESSAGE_NO_PROC ((MPI_Message)1)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
#define MPI_IN_PLACE ((void*)-1)
#define MPI_BOTTOM ((void*)0)

#define MPI_PROC_NULL (-1)
#define MPI_ANY_SOURCE (-2)
#define MPI_ANY_TAG (-1)
#define MPI_ROOT (-3)
#define MPI_UNDEFINED (-32766)
#define MPI_TAG_UB 1
#define MPI_KEYVAL_INVALID 0

#define MPI_MAX_PROCESSOR_NAME 64
#define MPI_MAX_ERROR_STRING 256
#define MPI_MAX_LIBRARY_VERSION_STRING 64

enum { MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR, MPI_UNEQUAL };
enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };

#define MPI_ERRHANDLER_NULL ((MPI_Errhandler)0)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)1)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)2)

// Handle of a basic type: six bits of number, and above them 1 for one byte, 2 for two, up to 6 for thirty-two.
#define MPI_DATATYPE_NULL ((MPI_Datatype)0)
#define MPI_CHAR ((MPI_Datatype)0x101)
#define MPI_SIGNED_CHAR ((MPI_Datatype)0x102)
#define MPI_UNSIGNED_CHAR ((MPI_Datatype)0x103)
#define MPI_BYTE ((MPI_Datatype)0x104)
#define MPI_PACKED ((MPI_Datatype)0x105)
#define MPI_SHORT ((MPI_Datatype)0x206)
#define MPI_UNSIGNED_SHORT ((MPI_Datatype)0x207)
#define MPI_INT ((MPI_Datatype)0x308)
#define MPI_UNSIGNED ((MPI_Datatype)0x309)
#if __SIZEOF_LONG__ == 4
#define MPI_LONG ((MPI_Datatype)0x30A)
#define MPI_UNSIGNED_LONG ((MPI_Datatype)0x30B)
#else
#define MPI_LONG ((MPI_Datatype)0x40A)
#define MPI_UNSIGNED_LONG ((MPI_Datatype)0x40B)
#endif
#define MPI_LONG_LONG_INT ((MPI_Datatype)0x40C)
#define MPI_LONG_LONG MPI_LONG_LONG_INT
#define MPI_UNSIGNED_LONG_LONG ((MPI_Datatype)0x40D)
#define MPI_FLOAT ((MPI_Datatype)0x30E)
#define MPI_DOUBLE ((MPI_Datatype)0x40F)
#define MPI_INT8_T ((MPI_Datatype)0x110)
#define MPI_INT16_T ((MPI_Datatype)0x211)
#define MPI_INT32_T ((MPI_Datatype)0x312)
#define MPI_INT64_T ((MPI_Datatype)0x413)
#define MPI_UINT8_T ((MPI_Datatype)0x114)
#define MPI_UINT16_T ((MPI_Datatype)0x215)
#define MPI_UINT32_T ((MPI_Datatype)0x316)
#define MPI_UINT64_T ((MPI_Datatype)0x417)
#define MPI_C_BOOL ((MPI_Datatype)0x118)
#if __SIZEOF_POINTER__ == 4
#define MPI_AINT ((MPI_Datatype)0x319)
#else
#define MPI_AINT ((MPI_Datatype)0x419)
#endif
#define MPI_2INT ((MPI_Datatype)0x41A)
#define MPI_FLOAT_INT ((MPI_Datatype)0x41B)
#define MPI_DOUBLE_INT ((MPI_Datatype)0x51C)
#define MPI_WCHAR ((MPI_Datatype)0x31D)
#define MPI_C_FLOAT_COMPLEX ((MPI_Datatype)0x41E)
#define MPI_C_COMPLEX MPI_C_FLOAT_COMPLEX
#define MPI_C_DOUBLE_COMPLEX ((MPI_Datatype)0x51F)
#if __SIZEOF_LONG_DOUBLE__ == 16
#define MPI_LONG_DOUBLE ((MPI_Datatype)0x520)
#define MPI_C_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x621)
#define MPI_LONG_DOUBLE_INT ((MPI_Datatype)0x627)
#else
#define MPI_LONG_DOUBLE ((MPI_Datatype)0x420)
#define MPI_C_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x521)
#define MPI_LONG_DOUBLE_INT ((MPI_Datatype)0x527)
#endif
#define MPI_COUNT ((MPI_Datatype)0x422)
#define MPI_OFFSET ((MPI_Datatype)0x423)
#define MPI_CXX_BOOL ((MPI_Datatype)0x124)
#define MPI_CXX_FLOAT_COMPLEX MPI_C_FLOAT_COMPLEX
#define MPI_CXX_DOUBLE_COMPLEX MPI_C_DOUBLE_COMPLEX
#define MPI_CXX_LONG_DOUBLE_COMPLEX MPI_C_LONG_DOUBLE_COMPLEX
#if __SIZEOF_LONG__ == 4
#define MPI_LONG_INT ((MPI_Datatype)0x425)
#else
#define MPI_LONG_INT ((MPI_Datatype)0x525)
#endif
#define MPI_SHORT_INT ((MPI_Datatype)0x426)

#define MPI_OP_NULL ((MPI_Op)0)
#define MPI_MAX ((MPI_Op)1)
#define MPI_MIN ((MPI_Op)2)
#define MPI_SUM ((MPI_Op)3)
#define MPI_PROD ((MPI_Op)4)
#define MPI_LAND ((MPI_Op)5)
#define MPI_BAND ((MPI_Op)6)
#define MPI_LOR ((MPI_Op)7)
#define MPI_BOR ((MPI_Op)8)
#define MPI_LXOR ((MPI_Op)9)
#define MPI_BXOR ((MPI_Op)10)
#define MPI_MAXLOC ((MPI_Op)11)
#define MPI_MINLOC ((MPI_Op)12)

/// MPI's error classes. Error codes and classes are the same.
enum {
  MPI_SUCCESS,
  MPI_ERR_BUFFER,
  MPI_ERR_COUNT,
  MPI_ERR_TYPE,
  MPI_ERR_TAG,
  MPI_ERR_COMM,
  MPI_ERR_RANK,
  MPI_ERR_REQUEST,
  MPI_ERR_ROOT,
  MPI_ERR_GROUP,
  MPI_ERR_OP,
  MPI_ERR_TOPOLOGY,
  MPI_ERR_DIMS,
  MPI_ERR_ARG,
  MPI_ERR_UNKNOWN,
  MPI_ERR_TRUNCATE,
  MPI_ERR_OTHER,
  MPI_ERR_INTERN,
  MPI_ERR_IN_STATUS,
  MPI_ERR_PENDING,
  MPI_ERR_NO_MEM,
  MPI_ERR_KEYVAL,
  MPI_ERR_LASTCODE = 63
};

// ---- Initialization and finalization ----
int MPI_Init(int* argc, char*** argv);
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int MPI_Initialized(int* flag);
int MPI_Finalize(void);
int MPI_Finalized(int* flag);
int MPI_Abort(MPI_Comm comm, int code);
double MPI_Wtime(void);
double MPI_Wtick(void);
int MPI_Get_processor_name(char* name, int* length);
int MPI_Get_version(int* version, int* subversion);
int MPI_Get_library_version(char* version, int* length);

// ---- Communicators ----
int MPI_Comm_rank(MPI_Comm comm, int* rank);
int MPI_Comm_size(MPI_Comm comm, int* size);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part);
int MPI_Comm_compare(MPI_Comm one, MPI_Comm other, int* result);
int MPI_Comm_free(MPI_Comm* comm);
int MPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* flag);
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);
int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* handler);
int MPI_Errhandler_free(MPI_Errhandler* handler);
int MPI_Error_class(int code, int* error_class);
int MPI_Error_string(int code, char* text, int* length);

// ---- Messages ----
int MPI_Send(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
int MPI_Ssend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
int MPI_Rsend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request);
int MPI_Issend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               MPI_Request* request);
int MPI_Irsend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               MPI_Request* request);
int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status);
int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request);
int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int dest, int out_tag, void* in, int in_count,
                 MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm, MPI_Status* status);
int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int dest, int out_tag, int source, int in_tag,
                         MPI_Comm comm, MPI_Status* status);
int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status);
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status);
int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status);
int MPI_Mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status);
int MPI_Imrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request);
int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count);
int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                  MPI_Request* request);
int MPI_Ssend_init(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                   MPI_Request* request);
int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request);
int MPI_Start(MPI_Request* request);
int MPI_Startall(int count, MPI_Request requests[]);

// ---- Requests ----
int MPI_Wait(MPI_Request* request, MPI_Status* status);
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]);
int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status);
int MPI_Waitsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]);
int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status);
int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]);
int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status);
int MPI_Testsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]);
int MPI_Cancel(MPI_Request* request);
int MPI_Test_cancelled(const MPI_Status* status, int* flag);
int MPI_Request_free(MPI_Request* request);

// ---- Collectives ----
int MPI_Barrier(MPI_Comm comm);
int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Scan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Exscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Gather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
               int root, MPI_Comm comm);
int MPI_Gatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int out_counts[],
                const int displacements[], MPI_Datatype out_type, int root, MPI_Comm comm);
int MPI_Scatter(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                int root, MPI_Comm comm);
int MPI_Scatterv(const void* in, const int in_counts[], const int displacements[], MPI_Datatype in_type, void* out,
                 int out_count, MPI_Datatype out_type, int root, MPI_Comm comm);
int MPI_Allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                  MPI_Comm comm);
int MPI_Allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int out_counts[],
                   const int displacements[], MPI_Datatype out_type, MPI_Comm comm);
int MPI_Alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                 MPI_Comm comm);
int MPI_Alltoallv(const void* in, const int in_counts[], const int in_displacements[], MPI_Datatype in_type, void* out,
                  const int out_counts[], const int out_displacements[], MPI_Datatype out_type, MPI_Comm comm);
int MPI_Op_create(MPI_User_function* function, int commutes, MPI_Op* op);
int MPI_Op_free(MPI_Op* op);

// ---- Datatypes ----
int MPI_Type_contiguous(int count, MPI_Datatype old, MPI_Datatype* type);
int MPI_Type_vector(int count, int length, int stride, MPI_Datatype old, MPI_Datatype* type);
int MPI_Type_create_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype* type);
int MPI_Type_commit(MPI_Datatype* type);
int MPI_Type_free(MPI_Datatype* type);
int MPI_Type_size(MPI_Datatype type, int* size);
int MPI_Type_get_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent);

#ifdef __cplusplus
}  // extern "C"
#endif
