/* SPDX-License-Identifier: Apache-2.0 */
/* Streaming messages (SMI), in C. A program opens a channel to a port of a rank at run time. The channel carries
   `count` elements one at a time, and the last one closes it. docs/streams.md is the tutorial,
   docs/streams-reference.md lists all calls.

   An erroneous call (a rank outside of the communicator, one element too many, ends that disagree) ends the run with a
   message that names ranks, port and both source lines. */
#ifndef GOSSAMER_SMI_H_
#define GOSSAMER_SMI_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Element types. A half is an IEEE 754 binary16 in two bytes (_Float16, if the compiler supports it); a char is signed;
   a long has eight bytes. */
typedef enum {
  SMI_INT = 1,
  SMI_FLOAT = 2,
  SMI_DOUBLE = 3,
  SMI_CHAR = 4,
  SMI_SHORT = 5,
  SMI_LONG = 6,
  SMI_HALF = 7
} SMI_Datatype;

/* Reduction operations. Integers wrap. MAX and MIN of floating-point types order -0 before +0, and return NaN if an
   element is NaN. SMI_ADD adds along a tree from the root; SMI_ADD_ORDERED adds in rank order from 0, so the result has
   the same bits for any root, tree and engine. */
typedef enum { SMI_ADD = 0, SMI_MAX = 1, SMI_MIN = 2, SMI_ADD_ORDERED = 3 } SMI_Op;

/* A group of ranks, as seen by one of them. */
typedef struct gs_smi_comm* SMI_Comm;

/* Descriptors; programs do not use their members. A copy denotes the same channel: `number` identifies the channel. */
typedef struct {
  struct gs_smi_stream* stream;
  unsigned long long end, number;
  SMI_Comm comm;
  int count, peer, port, degree;
  unsigned char type, receives, bound;
} SMI_Channel;
typedef struct {
  struct gs_smi_port* used;
  unsigned long long number;
  int rank, port;
} SMI_Collective_channel;
typedef struct {
  SMI_Collective_channel channel;
} SMI_BChannel;
typedef struct {
  SMI_Collective_channel channel;
} SMI_RChannel;
typedef struct {
  SMI_Collective_channel channel;
} SMI_ScatterChannel;
typedef struct {
  SMI_Collective_channel channel;
} SMI_GatherChannel;
typedef struct {
  SMI_Collective_channel channel;
} SMI_AllreduceChannel;
typedef struct {
  SMI_Collective_channel channel;
} SMI_AllgatherChannel;

/* ---- Communicators ---- */

/* All ranks, as seen by the calling rank. */
#define SMI_COMM_WORLD (SMI_Comm_world())
SMI_Comm SMI_Comm_world(void);
int SMI_Comm_rank(SMI_Comm comm);
int SMI_Comm_size(SMI_Comm comm);
/* Ranks of `comm` with the same color form a new communicator, ordered by key, then by rank. All ranks of `comm` call
   this; a rank with the color SMI_UNDEFINED receives a null pointer. */
#define SMI_UNDEFINED (-32766)
SMI_Comm SMI_Comm_split(SMI_Comm comm, int color, int key);
/* Creates a communicator of these ranks of `comm`, in this order. All ranks of `comm` call this with the same list;
   ranks outside of the list receive a null pointer. */
SMI_Comm SMI_Comm_create(SMI_Comm comm, int count, const int* ranks);
void SMI_Comm_free(SMI_Comm* comm);

/* ---- Point-to-point messages ---- */

/* Opening is free and sends nothing: an unused channel does not exist for the peer. The forms with _ad specify the
   asynchronicity degree: how many elements the sender may be ahead of the receiver, at least 0. The larger degree of
   both ends applies. */
SMI_Channel SMI_Open_send_channel(int count, SMI_Datatype type, int destination, int port, SMI_Comm comm);
SMI_Channel SMI_Open_send_channel_ad(int count, SMI_Datatype type, int destination, int port, SMI_Comm comm,
                                     int asynch_degree);
SMI_Channel SMI_Open_recv_channel(int count, SMI_Datatype type, int source, int port, SMI_Comm comm);
SMI_Channel SMI_Open_recv_channel_ad(int count, SMI_Datatype type, int source, int port, SMI_Comm comm,
                                     int asynch_degree);
SMI_Channel SMI_Open_receive_channel(int count, SMI_Datatype type, int source, int port, SMI_Comm comm);
SMI_Channel SMI_Open_receive_channel_ad(int count, SMI_Datatype type, int source, int port, SMI_Comm comm,
                                        int asynch_degree);
/* Returns when the element has been accepted and `data` may change. */
void SMI_Push(SMI_Channel* channel, const void* data);
/* With `immediate`, the packet is sent at once, even if it is not full. */
void SMI_Push_flush(SMI_Channel* channel, const void* data, int immediate);
/* Returns with the next element in `data`. */
void SMI_Pop(SMI_Channel* channel, void* data);

/* ---- Collectives: every rank of the communicator opens the channel, in the same order on a port ---- */

/* Each rank calls SMI_Bcast `count` times: the root passes an element, the others receive it. */
SMI_BChannel SMI_Open_bcast_channel(int count, SMI_Datatype type, int port, int root, SMI_Comm comm);
SMI_BChannel SMI_Open_bcast_channel_ad(int count, SMI_Datatype type, int port, int root, SMI_Comm comm,
                                       int asynch_degree);
void SMI_Bcast(SMI_BChannel* channel, void* data);

/* Each rank calls SMI_Reduce `count` times with an element; the root receives the result in `received`. */
SMI_RChannel SMI_Open_reduce_channel(int count, SMI_Datatype type, SMI_Op op, int port, int root, SMI_Comm comm);
SMI_RChannel SMI_Open_reduce_channel_ad(int count, SMI_Datatype type, SMI_Op op, int port, int root, SMI_Comm comm,
                                        int asynch_degree);
void SMI_Reduce(SMI_RChannel* channel, const void* sent, void* received);

/* The root calls SMI_Scatter count x ranks times, with the elements for rank 0 first; the others call it `count` times.
   The calls with the root's own elements also store them in its `received`. Both counts must be equal. */
SMI_ScatterChannel SMI_Open_scatter_channel(int send_count, int recv_count, SMI_Datatype type, int port, int root,
                                            SMI_Comm comm);
SMI_ScatterChannel SMI_Open_scatter_channel_ad(int send_count, int recv_count, SMI_Datatype type, int port, int root,
                                               SMI_Comm comm, int asynch_degree);
void SMI_Scatter(SMI_ScatterChannel* channel, const void* sent, void* received);

/* The root calls SMI_Gather count x ranks times and receives rank 0's elements first; the others call it `count` times.
   In the calls for its own elements, the root passes them in `sent`. */
SMI_GatherChannel SMI_Open_gather_channel(int send_count, int recv_count, SMI_Datatype type, int port, int root,
                                          SMI_Comm comm);
SMI_GatherChannel SMI_Open_gather_channel_ad(int send_count, int recv_count, SMI_Datatype type, int port, int root,
                                             SMI_Comm comm, int asynch_degree);
void SMI_Gather(SMI_GatherChannel* channel, const void* sent, void* received);

/* As SMI_Reduce, with the result at every rank. */
SMI_AllreduceChannel SMI_Open_allreduce_channel(int count, SMI_Datatype type, SMI_Op op, int port, SMI_Comm comm);
void SMI_Allreduce(SMI_AllreduceChannel* channel, const void* sent, void* received);

/* Each rank calls SMI_Allgather count x ranks times and receives rank 0's elements first; in the calls for its own
   elements, it passes them in `sent`. */
SMI_AllgatherChannel SMI_Open_allgather_channel(int count, SMI_Datatype type, int port, SMI_Comm comm);
SMI_AllgatherChannel SMI_Open_allgather_channel_ad(int count, SMI_Datatype type, int port, SMI_Comm comm,
                                                   int asynch_degree);
void SMI_Allgather(SMI_AllgatherChannel* channel, const void* sent, void* received);

/* Returns when all ranks of the communicator have called it on this port. */
void SMI_Barrier(int port, SMI_Comm comm);

/* ---- Kernels ---- */

/* A rank starts in its program's main(), or in the kernels of a .cl file. Further kernels of the rank run concurrently;
   `name` appears in messages. A rank is done when its main and all its kernels have returned. */
typedef struct gs_smi_kernel* SMI_Kernel;
SMI_Kernel SMI_Start_kernel(const char* name, void (*function)(void*), void* argument);
void SMI_Wait_kernel(SMI_Kernel started);
/* Starts a kernel that may run forever: the run does not wait for it. */
SMI_Kernel gs_smi_start_daemon(const char* name, void (*function)(void*), void* argument);
/* Returns when no kernel can continue, and all kernels but daemons have ended or wait in this call. */
void gs_smi_settle(void);
/* Calls a function when all ranks have ended, if the run has not failed. */
void gs_smi_at_end(void (*function)(void));
/* Writes a file, complete or not at all; returns 0 on success. */
int gs_smi_write_file(const char* path, const void* data, unsigned long long size);

/* Channels between the kernels of one rank, with a given depth: the emulator's form of an OpenCL `channel`. A
   zero-initialized channel is ready for use. */
typedef struct {
  struct gs_smi_fifo* fifo;
} SMI_Fifo;
void SMI_Fifo_write(SMI_Fifo* fifo, const void* data, int size, int depth, const char* name);
void SMI_Fifo_read(SMI_Fifo* fifo, void* data, int size, int depth, const char* name);
/* Non-blocking: return 0 if the channel is full, or empty. */
int SMI_Fifo_write_nb(SMI_Fifo* fifo, const void* data, int size, int depth, const char* name);
int SMI_Fifo_read_nb(SMI_Fifo* fifo, void* data, int size, int depth, const char* name);

/* ---- DRAM banks ---- */

/* Allocates zeroed memory in one of the DRAM banks of the rank's board; only main may call it. Accesses to other
   memory, and to this memory through its pointer, take no time. */
void* SMI_Bank_alloc(int bank, unsigned long long bytes);
/* Streams of consecutive addresses in such memory. A stream moves up to 64 bytes once a cycle. A read stream prefetches
   from its opening on. After the last byte of a write stream, SMI_Bank_flush waits until all data are in the bank: open
   a read stream of the same memory only after that. */
typedef struct {
  struct gs_smi_bank_stream* stream;
} SMI_Bank_stream;
SMI_Bank_stream SMI_Open_bank_read(const void* from, unsigned long long bytes);
SMI_Bank_stream SMI_Open_bank_write(void* to, unsigned long long bytes);
void SMI_Bank_read(SMI_Bank_stream* stream, void* data, int bytes);
void SMI_Bank_write(SMI_Bank_stream* stream, const void* data, int bytes);
void SMI_Bank_flush(SMI_Bank_stream* stream);

/* ---- Halves, for compilers without such a type ---- */

float SMI_Half_to_float(unsigned short bits);
unsigned short SMI_Float_to_half(float value);

#ifdef __cplusplus
}
#endif

#endif
