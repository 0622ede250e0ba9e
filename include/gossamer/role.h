/* SPDX-License-Identifier: Apache-2.0 */
/* A role for simulated boards: what a bitstream is for a real one. A role file is a shared object that exports
 * gs_role_entry; the shell loads it when all of its bytes have arrived and their hashes agree (docs/hardware/shell.md).
 */
#ifndef GOSSAMER_ROLE_H_
#define GOSSAMER_ROLE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Roles of version 1 have no links. */
#define GS_ROLE_VERSION 2u
#define GS_ROLE_REGISTERS 64u

/* What the shell offers a running kernel. All functions may be called from the kernel's thread only. */
struct gs_role_shell {
  void* shell;
  /* The role's memory, `memory_bytes` bytes, shared with the host's reads and writes. */
  uint8_t* memory;
  uint64_t memory_bytes;
  /* The registers that the host has written. */
  volatile uint32_t* registers;
  /* Whether the run shall end early: the session has ended or a new role is loaded. Long kernels ask often. */
  int (*stopped)(void* shell);
  /* Sends a packet to the host on a stream; waits for credit. Returns 0, or -1 if the run shall end. */
  int (*send)(void* shell, uint32_t stream, const void* packet, size_t bytes);
  /* Receives the next packet of the host on a stream, waiting at most `timeout_ms` (-1: no limit). Returns its bytes,
   * of which at most `most` are stored; -1 if none came or the run shall end. */
  long (*receive)(void* shell, uint32_t stream, void* packet, size_t most, int timeout_ms);
  /* Sends a frame on a link to another board; never waits. A frame is lost on a link without a peer, or when too many
   * wait. Returns 0, or -1 if the frame is longer than a frame of the network carries. */
  int (*link_send)(void* shell, uint32_t link, const void* frame, size_t bytes);
  /* Receives the next frame of any link, whose number is stored, as `receive` does. Frames of a link keep their order,
   * and some may be missing. */
  long (*link_receive)(void* shell, uint32_t* link, void* frame, size_t most, int timeout_ms);
};

/* The result of a run: bytes of memory that the host may fetch, and the clock cycles that it took. */
struct gs_role_result {
  uint64_t address, bytes, cycles;
};

struct gs_role {
  uint32_t version; /* GS_ROLE_VERSION */
  uint32_t board_type;
  const char* name;
  uint32_t streams;
  /* Runs kernel number `kernel` to its end. Returns 0, or another number if the kernel failed. */
  int (*run)(const struct gs_role_shell* shell, uint32_t kernel, struct gs_role_result* result);
  /* Links to other boards, since version 2. */
  uint32_t links;
};

/* The one symbol that a role file exports. */
extern const struct gs_role gs_role_entry;

#ifdef __cplusplus
}
#endif

#endif /* GOSSAMER_ROLE_H_ */
