// SPDX-License-Identifier: Apache-2.0
/// MPI for Gossamer programs, in C and C++: the same source compiles with any other MPI implementation.
//
// docs/mpi.md lists the supported calls and explains how to run a program. Handles other than requests are numbers.
// Constants may be used in initialisers, as the standard requires.
#pragma once

#include <stddef.h>
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
typedef struct gsmpi_group* MPI_Group;
typedef struct gsmpi_info* MPI_Info;

/// Status of a received message. `gsmpi_bytes` is used by MPI_Get_count.
typedef struct MPI_Status {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int gsmpi_bytes;
  int gsmpi_cancelled;
} MPI_Status;

typedef void MPI_User_function(void* in, void* inout, int* count, MPI_Datatype* type);
typedef void MPI_Comm_errhandler_function(MPI_Comm* comm, int* code, ...);
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef int MPI_Comm_copy_attr_function(MPI_Comm from, int key, void* extra, void* value, void* copy, int* flag);
typedef int MPI_Comm_delete_attr_function(MPI_Comm comm, int key, void* value, void* extra);
typedef int MPI_Type_copy_attr_function(MPI_Datatype from, int key, void* extra, void* value, void* copy, int* flag);
typedef int MPI_Type_delete_attr_function(MPI_Datatype type, int key, void* value, void* extra);

#define MPI_COMM_NULL ((MPI_Comm)0)
#define MPI_COMM_WORLD ((MPI_Comm)1)
#define MPI_COMM_SELF ((MPI_Comm)2)

#define MPI_GROUP_NULL ((MPI_Group)0)
#define MPI_GROUP_EMPTY ((MPI_Group)1)
#define MPI_INFO_NULL ((MPI_Info)0)
#define MPI_INFO_ENV ((MPI_Info)1)

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
#define MPI_KEYVAL_INVALID 0
#define MPI_TAG_UB 1
#define MPI_HOST 2
#define MPI_IO 3
#define MPI_WTIME_IS_GLOBAL 4
#define MPI_UNIVERSE_SIZE 5
#define MPI_LASTUSEDCODE 6
#define MPI_APPNUM 7
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function*)0)
#define MPI_COMM_DUP_FN ((MPI_Comm_copy_attr_function*)1)
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function*)0)
#define MPI_TYPE_NULL_COPY_FN ((MPI_Type_copy_attr_function*)0)
#define MPI_TYPE_DUP_FN ((MPI_Type_copy_attr_function*)1)
#define MPI_TYPE_NULL_DELETE_FN ((MPI_Type_delete_attr_function*)0)
/// Bytes of an attached buffer that a buffered message needs in addition to its packed data.
#define MPI_BSEND_OVERHEAD 48
#define MPI_COMM_TYPE_SHARED 1
#define MPI_ORDER_C 56
#define MPI_ORDER_FORTRAN 57

#define MPI_MAX_PROCESSOR_NAME 128
#define MPI_MAX_OBJECT_NAME 64
#define MPI_MAX_INFO_KEY 256
#define MPI_MAX_INFO_VAL 1024
#define MPI_MAX_PORT_NAME 256
#define MPI_MAX_ERROR_STRING 256
#define MPI_MAX_LIBRARY_VERSION_STRING 64

enum { MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR, MPI_UNEQUAL };
enum { MPI_GRAPH = 1, MPI_CART, MPI_DIST_GRAPH };
enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };

#define MPI_ERRHANDLER_NULL ((MPI_Errhandler)0)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)1)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)2)
#define MPI_ERRORS_ABORT ((MPI_Errhandler)3)

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
#define MPI_REPLACE ((MPI_Op)13)  // of one-sided communication, which is not supported
#define MPI_NO_OP ((MPI_Op)14)

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
  MPI_ERR_NAME,
  MPI_ERR_INFO,
  MPI_ERR_INFO_KEY,
  MPI_ERR_INFO_VALUE,
  MPI_ERR_INFO_NOKEY,
  MPI_ERR_LASTCODE = 63
};

// ---- Initialization and finalization ----
int MPI_Init(int* argc, char*** argv);
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int MPI_Initialized(int* flag);
int MPI_Finalize(void);
int MPI_Finalized(int* flag);
int MPI_Query_thread(int* provided);
int MPI_Is_thread_main(int* flag);
int MPI_Pcontrol(int level, ...);
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
int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* copy);
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* copy, MPI_Request* request);
int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made);
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made);
int MPI_Comm_split_type(MPI_Comm comm, int kind, int key, MPI_Info info, MPI_Comm* part);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part);
int MPI_Comm_compare(MPI_Comm one, MPI_Comm other, int* result);
int MPI_Comm_free(MPI_Comm* comm);
int MPI_Comm_test_inter(MPI_Comm comm, int* flag);
int MPI_Comm_set_name(MPI_Comm comm, const char* name);
int MPI_Comm_get_name(MPI_Comm comm, char* name, int* length);
int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info);
int MPI_Comm_get_info(MPI_Comm comm, MPI_Info* info);
int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* erases, int* key,
                           void* extra);
int MPI_Comm_free_keyval(int* key);
int MPI_Comm_set_attr(MPI_Comm comm, int key, void* value);
int MPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* flag);
int MPI_Comm_delete_attr(MPI_Comm comm, int key);
int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler);
int MPI_Comm_call_errhandler(MPI_Comm comm, int code);
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);
int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* handler);
int MPI_Errhandler_free(MPI_Errhandler* handler);
int MPI_Error_class(int code, int* error_class);
int MPI_Error_string(int code, char* text, int* length);

// ---- Groups ----
int MPI_Comm_group(MPI_Comm comm, MPI_Group* group);
int MPI_Group_size(MPI_Group group, int* size);
int MPI_Group_rank(MPI_Group group, int* rank);
int MPI_Group_translate_ranks(MPI_Group one, int count, const int ranks[], MPI_Group other, int others[]);
int MPI_Group_compare(MPI_Group one, MPI_Group other, int* result);
int MPI_Group_union(MPI_Group one, MPI_Group other, MPI_Group* made);
int MPI_Group_intersection(MPI_Group one, MPI_Group other, MPI_Group* made);
int MPI_Group_difference(MPI_Group one, MPI_Group other, MPI_Group* made);
int MPI_Group_incl(MPI_Group from, int count, const int ranks[], MPI_Group* made);
int MPI_Group_excl(MPI_Group from, int count, const int ranks[], MPI_Group* made);
int MPI_Group_range_incl(MPI_Group from, int count, int ranges[][3], MPI_Group* made);
int MPI_Group_range_excl(MPI_Group from, int count, int ranges[][3], MPI_Group* made);
int MPI_Group_free(MPI_Group* group);

// ---- Cartesian grids ----
int MPI_Dims_create(int ranks, int dimensions, int sizes[]);
int MPI_Cart_create(MPI_Comm comm, int dimensions, const int sizes[], const int periods[], int reorder, MPI_Comm* made);
int MPI_Cart_get(MPI_Comm comm, int most, int sizes[], int periods[], int position[]);
int MPI_Cart_rank(MPI_Comm comm, const int position[], int* rank);
int MPI_Cart_coords(MPI_Comm comm, int rank, int most, int position[]);
int MPI_Cart_shift(MPI_Comm comm, int dimension, int distance, int* source, int* dest);
int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm* made);
int MPI_Cart_map(MPI_Comm comm, int dimensions, const int sizes[], const int periods[], int* rank);
int MPI_Cartdim_get(MPI_Comm comm, int* dimensions);
int MPI_Topo_test(MPI_Comm comm, int* kind);

// ---- Info ----
int MPI_Info_create(MPI_Info* info);
int MPI_Info_set(MPI_Info info, const char* key, const char* value);
int MPI_Info_delete(MPI_Info info, const char* key);
int MPI_Info_get(MPI_Info info, const char* key, int length, char* value, int* flag);
int MPI_Info_get_string(MPI_Info info, const char* key, int* length, char* value, int* flag);
int MPI_Info_get_valuelen(MPI_Info info, const char* key, int* length, int* flag);
int MPI_Info_get_nkeys(MPI_Info info, int* count);
int MPI_Info_get_nthkey(MPI_Info info, int number, char* key);
int MPI_Info_dup(MPI_Info info, MPI_Info* made);
int MPI_Info_free(MPI_Info* info);

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
int MPI_Isendrecv(const void* out, int out_count, MPI_Datatype out_type, int dest, int out_tag, void* in, int in_count,
                  MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm, MPI_Request* request);
int MPI_Isendrecv_replace(void* buffer, int count, MPI_Datatype type, int dest, int out_tag, int source, int in_tag,
                          MPI_Comm comm, MPI_Request* request);
int MPI_Buffer_attach(void* buffer, int bytes);
int MPI_Buffer_detach(void* buffer, int* bytes);
int MPI_Bsend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
int MPI_Ibsend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               MPI_Request* request);
int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status);
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status);
int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status);
int MPI_Mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status);
int MPI_Imrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request);
int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count);
int MPI_Get_elements(const MPI_Status* status, MPI_Datatype type, int* count);
int MPI_Get_elements_x(const MPI_Status* status, MPI_Datatype type, MPI_Count* count);
int MPI_Status_set_elements(MPI_Status* status, MPI_Datatype type, int count);
int MPI_Status_set_cancelled(MPI_Status* status, int flag);
int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                  MPI_Request* request);
int MPI_Ssend_init(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                   MPI_Request* request);
int MPI_Rsend_init(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                   MPI_Request* request);
int MPI_Bsend_init(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
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
int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status);

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
int MPI_Alltoallw(const void* in, const int in_counts[], const int in_displacements[], const MPI_Datatype in_types[],
                  void* out, const int out_counts[], const int out_displacements[], const MPI_Datatype out_types[],
                  MPI_Comm comm);
int MPI_Reduce_scatter(const void* in, void* out, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Reduce_local(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op);
int MPI_Op_create(MPI_User_function* function, int commutes, MPI_Op* op);
int MPI_Op_free(MPI_Op* op);
int MPI_Op_commutative(MPI_Op op, int* commutes);

// ---- Nonblocking collectives ----
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request);
int MPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request);
int MPI_Ireduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request* request);
int MPI_Iallreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request);
int MPI_Iscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request);
int MPI_Iexscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request* request);
int MPI_Ireduce_scatter(const void* in, void* out, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                        MPI_Request* request);
int MPI_Ireduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                              MPI_Request* request);
int MPI_Igather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                int root, MPI_Comm comm, MPI_Request* request);
int MPI_Igatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int out_counts[],
                 const int displacements[], MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request* request);
int MPI_Iscatter(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                 int root, MPI_Comm comm, MPI_Request* request);
int MPI_Iscatterv(const void* in, const int in_counts[], const int displacements[], MPI_Datatype in_type, void* out,
                  int out_count, MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request* request);
int MPI_Iallgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                   MPI_Comm comm, MPI_Request* request);
int MPI_Iallgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int out_counts[],
                    const int displacements[], MPI_Datatype out_type, MPI_Comm comm, MPI_Request* request);
int MPI_Ialltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                  MPI_Comm comm, MPI_Request* request);
int MPI_Ialltoallv(const void* in, const int in_counts[], const int in_displacements[], MPI_Datatype in_type, void* out,
                   const int out_counts[], const int out_displacements[], MPI_Datatype out_type, MPI_Comm comm,
                   MPI_Request* request);
int MPI_Ialltoallw(const void* in, const int in_counts[], const int in_displacements[], const MPI_Datatype in_types[],
                   void* out, const int out_counts[], const int out_displacements[], const MPI_Datatype out_types[],
                   MPI_Comm comm, MPI_Request* request);

// ---- Datatypes ----
int MPI_Type_contiguous(int count, MPI_Datatype old, MPI_Datatype* type);
int MPI_Type_vector(int count, int length, int stride, MPI_Datatype old, MPI_Datatype* type);
int MPI_Type_create_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype* type);
int MPI_Type_indexed(int count, const int lengths[], const int displacements[], MPI_Datatype old, MPI_Datatype* type);
int MPI_Type_create_hindexed(int count, const int lengths[], const MPI_Aint displacements[], MPI_Datatype old,
                             MPI_Datatype* type);
int MPI_Type_create_indexed_block(int count, int length, const int displacements[], MPI_Datatype old,
                                  MPI_Datatype* type);
int MPI_Type_create_hindexed_block(int count, int length, const MPI_Aint displacements[], MPI_Datatype old,
                                   MPI_Datatype* type);
int MPI_Type_create_struct(int count, const int lengths[], const MPI_Aint displacements[], const MPI_Datatype types[],
                           MPI_Datatype* type);
int MPI_Type_create_subarray(int dimensions, const int sizes[], const int subsizes[], const int starts[], int order,
                             MPI_Datatype old, MPI_Datatype* type);
int MPI_Type_create_resized(MPI_Datatype old, MPI_Aint lower, MPI_Aint extent, MPI_Datatype* type);
int MPI_Type_dup(MPI_Datatype old, MPI_Datatype* type);
int MPI_Type_commit(MPI_Datatype* type);
int MPI_Type_free(MPI_Datatype* type);
int MPI_Type_size(MPI_Datatype type, int* size);
int MPI_Type_size_x(MPI_Datatype type, MPI_Count* size);
int MPI_Type_get_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent);
int MPI_Type_get_extent_x(MPI_Datatype type, MPI_Count* lower, MPI_Count* extent);
int MPI_Type_get_true_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent);
int MPI_Type_set_name(MPI_Datatype type, const char* name);
int MPI_Type_get_name(MPI_Datatype type, char* name, int* length);
int MPI_Type_create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* erases, int* key,
                           void* extra);
int MPI_Type_free_keyval(int* key);
int MPI_Type_set_attr(MPI_Datatype type, int key, void* value);
int MPI_Type_get_attr(MPI_Datatype type, int key, void* value, int* flag);
int MPI_Type_delete_attr(MPI_Datatype type, int key);
int MPI_Get_address(const void* location, MPI_Aint* address);
MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint distance);
MPI_Aint MPI_Aint_diff(MPI_Aint one, MPI_Aint other);
int MPI_Pack(const void* from, int count, MPI_Datatype type, void* packed, int bytes, int* position, MPI_Comm comm);
int MPI_Unpack(const void* packed, int bytes, int* position, void* to, int count, MPI_Datatype type, MPI_Comm comm);
int MPI_Pack_size(int count, MPI_Datatype type, MPI_Comm comm, int* bytes);
int MPI_Alloc_mem(MPI_Aint bytes, MPI_Info info, void* made);
int MPI_Free_mem(void* memory);

// ---- Names of MPI 1 for calls above ----
#define MPI_Attr_get MPI_Comm_get_attr
#define MPI_Attr_put MPI_Comm_set_attr
#define MPI_Attr_delete MPI_Comm_delete_attr
#define MPI_Keyval_create MPI_Comm_create_keyval
#define MPI_Keyval_free MPI_Comm_free_keyval
#define MPI_NULL_COPY_FN MPI_COMM_NULL_COPY_FN
#define MPI_DUP_FN MPI_COMM_DUP_FN
#define MPI_NULL_DELETE_FN MPI_COMM_NULL_DELETE_FN
typedef MPI_Comm_copy_attr_function MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Delete_function;

// ---- Not supported: a call stops the compiler ----
#ifdef __cplusplus
#define GSMPI_ANY ...
#else
#define GSMPI_ANY
#endif
#if __has_attribute(unavailable)
#define GSMPI_MISSING(text) __attribute__((unavailable(text)))
#else
#define GSMPI_MISSING(text) __attribute__((error(text)))
#endif
#define GSMPI_UNSUPPORTED(name, what) \
  int name(GSMPI_ANY) GSMPI_MISSING("Gossamer's MPI has no " what "; see docs/mpi.md")
#define GSMPI_NO_WINDOWS "one-sided communication: use messages or collectives"
#define GSMPI_NO_FILES "files: send the data to rank 0"
#define GSMPI_ONE_SIDED(name) GSMPI_UNSUPPORTED(name, GSMPI_NO_WINDOWS)
#define GSMPI_FILES(name) GSMPI_UNSUPPORTED(name, GSMPI_NO_FILES)
#define GSMPI_INTER(name) GSMPI_UNSUPPORTED(name, "inter-communicators: all ranks are in MPI_COMM_WORLD")
#define GSMPI_GRAPHS(name) GSMPI_UNSUPPORTED(name, "graph topologies or neighbourhood collectives: use Cartesian grids")
#if __has_attribute(unavailable)
typedef struct gsmpi_unsupported* MPI_Win GSMPI_MISSING("Gossamer's MPI has no " GSMPI_NO_WINDOWS "; see docs/mpi.md");
typedef struct gsmpi_unsupported* MPI_File GSMPI_MISSING("Gossamer's MPI has no " GSMPI_NO_FILES "; see docs/mpi.md");
#else
typedef struct gsmpi_unsupported *MPI_Win, *MPI_File;
#endif
GSMPI_ONE_SIDED(MPI_Win_create);
GSMPI_ONE_SIDED(MPI_Win_allocate);
GSMPI_ONE_SIDED(MPI_Win_allocate_shared);
GSMPI_ONE_SIDED(MPI_Win_create_dynamic);
GSMPI_ONE_SIDED(MPI_Win_shared_query);
GSMPI_ONE_SIDED(MPI_Win_attach);
GSMPI_ONE_SIDED(MPI_Win_detach);
GSMPI_ONE_SIDED(MPI_Win_free);
GSMPI_ONE_SIDED(MPI_Win_fence);
GSMPI_ONE_SIDED(MPI_Win_start);
GSMPI_ONE_SIDED(MPI_Win_complete);
GSMPI_ONE_SIDED(MPI_Win_post);
GSMPI_ONE_SIDED(MPI_Win_wait);
GSMPI_ONE_SIDED(MPI_Win_test);
GSMPI_ONE_SIDED(MPI_Win_lock);
GSMPI_ONE_SIDED(MPI_Win_lock_all);
GSMPI_ONE_SIDED(MPI_Win_unlock);
GSMPI_ONE_SIDED(MPI_Win_unlock_all);
GSMPI_ONE_SIDED(MPI_Win_flush);
GSMPI_ONE_SIDED(MPI_Win_flush_all);
GSMPI_ONE_SIDED(MPI_Win_flush_local);
GSMPI_ONE_SIDED(MPI_Win_flush_local_all);
GSMPI_ONE_SIDED(MPI_Win_sync);
GSMPI_ONE_SIDED(MPI_Win_get_attr);
GSMPI_ONE_SIDED(MPI_Win_set_attr);
GSMPI_ONE_SIDED(MPI_Win_get_group);
GSMPI_ONE_SIDED(MPI_Win_set_name);
GSMPI_ONE_SIDED(MPI_Win_get_name);
GSMPI_ONE_SIDED(MPI_Win_set_errhandler);
GSMPI_ONE_SIDED(MPI_Win_create_errhandler);
GSMPI_ONE_SIDED(MPI_Win_create_keyval);
GSMPI_ONE_SIDED(MPI_Put);
GSMPI_ONE_SIDED(MPI_Get);
GSMPI_ONE_SIDED(MPI_Accumulate);
GSMPI_ONE_SIDED(MPI_Get_accumulate);
GSMPI_ONE_SIDED(MPI_Fetch_and_op);
GSMPI_ONE_SIDED(MPI_Compare_and_swap);
GSMPI_ONE_SIDED(MPI_Rput);
GSMPI_ONE_SIDED(MPI_Rget);
GSMPI_ONE_SIDED(MPI_Raccumulate);
GSMPI_ONE_SIDED(MPI_Rget_accumulate);
GSMPI_FILES(MPI_File_open);
GSMPI_FILES(MPI_File_close);
GSMPI_FILES(MPI_File_delete);
GSMPI_FILES(MPI_File_set_view);
GSMPI_FILES(MPI_File_get_size);
GSMPI_FILES(MPI_File_set_size);
GSMPI_FILES(MPI_File_seek);
GSMPI_FILES(MPI_File_read);
GSMPI_FILES(MPI_File_read_all);
GSMPI_FILES(MPI_File_read_at);
GSMPI_FILES(MPI_File_read_at_all);
GSMPI_FILES(MPI_File_write);
GSMPI_FILES(MPI_File_write_all);
GSMPI_FILES(MPI_File_write_at);
GSMPI_FILES(MPI_File_write_at_all);
GSMPI_FILES(MPI_File_write_ordered);
GSMPI_FILES(MPI_File_write_shared);
GSMPI_FILES(MPI_File_set_errhandler);
GSMPI_INTER(MPI_Intercomm_create);
GSMPI_INTER(MPI_Intercomm_merge);
GSMPI_INTER(MPI_Comm_remote_size);
GSMPI_INTER(MPI_Comm_remote_group);
GSMPI_INTER(MPI_Comm_spawn);
GSMPI_INTER(MPI_Comm_spawn_multiple);
GSMPI_INTER(MPI_Comm_get_parent);
GSMPI_INTER(MPI_Comm_accept);
GSMPI_INTER(MPI_Comm_connect);
GSMPI_INTER(MPI_Comm_disconnect);
GSMPI_INTER(MPI_Comm_join);
GSMPI_INTER(MPI_Open_port);
GSMPI_INTER(MPI_Close_port);
GSMPI_GRAPHS(MPI_Graph_create);
GSMPI_GRAPHS(MPI_Graph_neighbors);
GSMPI_GRAPHS(MPI_Graph_neighbors_count);
GSMPI_GRAPHS(MPI_Graphdims_get);
GSMPI_GRAPHS(MPI_Graph_get);
GSMPI_GRAPHS(MPI_Dist_graph_create);
GSMPI_GRAPHS(MPI_Dist_graph_create_adjacent);
GSMPI_GRAPHS(MPI_Dist_graph_neighbors);
GSMPI_GRAPHS(MPI_Neighbor_allgather);
GSMPI_GRAPHS(MPI_Neighbor_allgatherv);
GSMPI_GRAPHS(MPI_Neighbor_alltoall);
GSMPI_GRAPHS(MPI_Neighbor_alltoallv);
GSMPI_GRAPHS(MPI_Neighbor_alltoallw);
GSMPI_UNSUPPORTED(MPI_Grequest_start, "generalized requests");
GSMPI_UNSUPPORTED(MPI_Grequest_complete, "generalized requests");
GSMPI_UNSUPPORTED(MPI_Type_create_darray, "distributed arrays: use MPI_Type_create_subarray");
GSMPI_UNSUPPORTED(MPI_Type_get_envelope, "access to the arguments of a datatype's constructor");
GSMPI_UNSUPPORTED(MPI_Type_get_contents, "access to the arguments of a datatype's constructor");
GSMPI_UNSUPPORTED(MPI_Pack_external, "external32 data: use MPI_Pack");
GSMPI_UNSUPPORTED(MPI_Unpack_external, "external32 data: use MPI_Unpack");
GSMPI_UNSUPPORTED(MPI_Add_error_class, "error classes of programs");
GSMPI_UNSUPPORTED(MPI_Add_error_code, "error codes of programs");
GSMPI_UNSUPPORTED(MPI_Add_error_string, "error codes of programs");

#ifdef __cplusplus
}  // extern "C"
#endif
