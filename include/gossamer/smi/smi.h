/* SPDX-License-Identifier: Apache-2.0 */
/* Streaming messages (SMI), in C. A channel opens at run time to a port of a rank, carries `count` elements one at a
   time, and is closed by the last one. docs/streams.md is the tutorial, docs/streams-reference.md has every call.

   Calls that are wrong (a rank outside of the communicator, one element too many, ends that do not agree) end the run
   with a message that names ranks, port and both source lines. */
#ifndef GOSSAMER_SMI_H_
#define GOSSAMER_SMI_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Types of elements. A half is an IEEE 754 binary16 in two bytes (_Float16, where the compiler has it); a char has a
   sign; a long has eight bytes. */
typedef enum {
  SMI_INT = 1,
  SMI_FLOAT = 2,
  SMI_DOUBLE = 3,
  SMI_CHAR = 4,
  SMI_SHORT = 5,
  SMI_LONG = 6,
  SMI_HALF = 7
} SMI_Datatype;

/* How a reduction combines two elements. Integers wrap. MAX and MIN of floating point take -0 for less than +0, and
   are NaN if one of the elements is. SMI_ADD adds along a tree from the root; SMI_ADD_ORDERED adds in the order of
   ranks, from 0 on: the same bits for any root, tree and engine. */
typedef enum { SMI_ADD = 0, SMI_MAX = 1, SMI_MIN = 2, SMI_ADD_ORDERED = 3 } SMI_Op;

/* A group of ranks, as one of them sees it. */
typedef struct gs_smi_comm* SMI_Comm;

/* Descriptors. Their members are not for programs. A copy is the same channel: `number` tells channels apart. */
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

/* All ranks, as the rank that calls sees them. */
#define SMI_COMM_WORLD (SMI_Comm_world())
SMI_Comm SMI_Comm_world(void);
int SMI_Comm_rank(SMI_Comm comm);
int SMI_Comm_size(SMI_Comm comm);
/* Ranks of `comm` that give the same color form a new communicator, in the order of key, then of rank. All ranks of
   `comm` call it; one with the color SMI_UNDEFINED gets a null pointer. */
#define SMI_UNDEFINED (-32766)
SMI_Comm SMI_Comm_split(SMI_Comm comm, int color, int key);
/* A communicator of these ranks of `comm`, in this order. All of `comm` call it, with the same list; those that are not
   in it get a null pointer. */
SMI_Comm SMI_Comm_create(SMI_Comm comm, int count, const int* ranks);
void SMI_Comm_free(SMI_Comm* comm);

/* ---- Messages from one rank to one rank ---- */

/* Opening costs nothing and tells nobody: a channel that is never used does not exist for the other side. The forms
   with _ad state the asynchronicity degree: how many elements the sender may be ahead of the receiver, 0 and more. The
   greater degree of both ends counts. */
SMI_Channel SMI_Open_send_channel(int count, SMI_Datatype type, int destination, int port, SMI_Comm comm);
SMI_Channel SMI_Open_send_channel_ad(int count, SMI_Datatype type, int destination, int port, SMI_Comm comm,
                                     int asynch_degree);
SMI_Channel SMI_Open_recv_channel(int count, SMI_Datatype type, int source, int port, SMI_Comm comm);
SMI_Channel SMI_Open_recv_channel_ad(int count, SMI_Datatype type, int source, int port, SMI_Comm comm,
                                     int asynch_degree);
SMI_Channel SMI_Open_receive_channel(int count, SMI_Datatype type, int source, int port, SMI_Comm comm);
SMI_Channel SMI_Open_receive_channel_ad(int count, SMI_Datatype type, int source, int port, SMI_Comm comm,
                                        int asynch_degree);
/* Returns when the element is on its way and `data` may change. */
void SMI_Push(SMI_Channel* channel, const void* data);
/* With `immediate`, the element does not wait for others to fill its packet. */
void SMI_Push_flush(SMI_Channel* channel, const void* data, int immediate);
/* Returns with the next element in `data`. */
void SMI_Pop(SMI_Channel* channel, void* data);

/* ---- Collectives: every rank of the communicator opens the channel, in the same order on a port ---- */

/* Each rank calls SMI_Bcast `count` times: the root gives an element, the others get it. */
SMI_BChannel SMI_Open_bcast_channel(int count, SMI_Datatype type, int port, int root, SMI_Comm comm);
SMI_BChannel SMI_Open_bcast_channel_ad(int count, SMI_Datatype type, int port, int root, SMI_Comm comm,
                                       int asynch_degree);
void SMI_Bcast(SMI_BChannel* channel, void* data);

/* Each rank calls SMI_Reduce `count` times with an element; the root gets the result in `received`. */
SMI_RChannel SMI_Open_reduce_channel(int count, SMI_Datatype type, SMI_Op op, int port, int root, SMI_Comm comm);
SMI_RChannel SMI_Open_reduce_channel_ad(int count, SMI_Datatype type, SMI_Op op, int port, int root, SMI_Comm comm,
                                        int asynch_degree);
void SMI_Reduce(SMI_RChannel* channel, const void* sent, void* received);

/* The root calls SMI_Scatter count x ranks times, with the elements for rank 0 first; the others call it `count` times.
   The root's own elements reach its `received` in the calls that give them. Both counts are the same number. */
SMI_ScatterChannel SMI_Open_scatter_channel(int send_count, int recv_count, SMI_Datatype type, int port, int root,
                                            SMI_Comm comm);
SMI_ScatterChannel SMI_Open_scatter_channel_ad(int send_count, int recv_count, SMI_Datatype type, int port, int root,
                                               SMI_Comm comm, int asynch_degree);
void SMI_Scatter(SMI_ScatterChannel* channel, const void* sent, void* received);

/* The root calls SMI_Gather count x ranks times and gets rank 0's elements first; the others call it `count` times. In
   the calls for its own elements the root gives them in `sent`. */
SMI_GatherChannel SMI_Open_gather_channel(int send_count, int recv_count, SMI_Datatype type, int port, int root,
                                          SMI_Comm comm);
SMI_GatherChannel SMI_Open_gather_channel_ad(int send_count, int recv_count, SMI_Datatype type, int port, int root,
                                             SMI_Comm comm, int asynch_degree);
void SMI_Gather(SMI_GatherChannel* channel, const void* sent, void* received);

/* As SMI_Reduce, with the result at every rank. */
SMI_AllreduceChannel SMI_Open_allreduce_channel(int count, SMI_Datatype type, SMI_Op op, int port, SMI_Comm comm);
void SMI_Allreduce(SMI_AllreduceChannel* channel, const void* sent, void* received);

/* Each rank calls SMI_Allgather count x ranks times and gets rank 0's elements first; in the calls for its own elements
   it gives them in `sent`. */
SMI_AllgatherChannel SMI_Open_allgather_channel(int count, SMI_Datatype type, int port, SMI_Comm comm);
SMI_AllgatherChannel SMI_Open_allgather_channel_ad(int count, SMI_Datatype type, int port, SMI_Comm comm,
                                                   int asynch_degree);
void SMI_Allgather(SMI_AllgatherChannel* channel, const void* sent, void* received);

/* Returns when all ranks of the communicator have called it on this port. */
void SMI_Barrier(int port, SMI_Comm comm);

/* ---- Kernels ---- */

/* A rank starts in its program's main(), or in the kernels of a .cl file. Further kernels of the same rank run beside
   it; `name` is for messages. A rank is done when its main and all its kernels have returned. */
typedef struct gs_smi_kernel* SMI_Kernel;
SMI_Kernel SMI_Start_kernel(const char* name, void (*kernel)(void*), void* argument);
void SMI_Wait_kernel(SMI_Kernel kernel);
/* A kernel that may run for ever: the run does not wait for it. */
SMI_Kernel gs_smi_start_daemon(const char* name, void (*kernel)(void*), void* argument);
/* Returns when no kernel can go on, and all that the run waits for have ended, or wait here. */
void gs_smi_settle(void);

/* Channels between the kernels of one rank, of a stated depth: what `channel` of an OpenCL kernel becomes. Filled with
   zeros, one is ready for use. */
typedef struct {
  struct gs_smi_fifo* fifo;
} SMI_Fifo;
void SMI_Fifo_write(SMI_Fifo* fifo, const void* data, int size, int depth, const char* name);
void SMI_Fifo_read(SMI_Fifo* fifo, void* data, int size, int depth, const char* name);
/* Without waiting: 0 if the channel is full, or empty. */
int SMI_Fifo_write_nb(SMI_Fifo* fifo, const void* data, int size, int depth, const char* name);
int SMI_Fifo_read_nb(SMI_Fifo* fifo, void* data, int size, int depth, const char* name);

/* ---- DRAM banks ---- */

/* Memory of the rank in one of its board's DRAM banks, filled with zeros; main calls it. Any other memory takes no
   time, and so does what is done with this one through its pointer. */
void* SMI_Bank_alloc(int bank, unsigned long long bytes);
/* Streams of consecutive addresses, of such memory. Each is usable once a cycle, for up to 64 bytes; a read is fetched
   ahead from the opening on. What a stream has written is in the bank when SMI_Bank_flush returns, behind the stream's
   last byte: open it to read after that. */
typedef struct {
  struct gs_smi_bank_stream* stream;
} SMI_Bank_stream;
SMI_Bank_stream SMI_Open_bank_read(const void* from, unsigned long long bytes);
SMI_Bank_stream SMI_Open_bank_write(void* to, unsigned long long bytes);
void SMI_Bank_read(SMI_Bank_stream* stream, void* data, int bytes);
void SMI_Bank_write(SMI_Bank_stream* stream, const void* data, int bytes);
void SMI_Bank_flush(SMI_Bank_stream* stream);

/* ---- Halves, for compilers without a type for them ---- */

float SMI_Half_to_float(unsigned short half);
unsigned short SMI_Float_to_half(float value);

#ifdef __cplusplus
}
#endif

#endif
