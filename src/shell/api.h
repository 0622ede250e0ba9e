// SPDX-License-Identifier: Apache-2.0
/// The C interface of the shell's host library, for Python and other languages. Addresses are 48-bit numbers. A call
/// returns a number of the enumeration shell_status, or -1 after an error of the port, whose text gs_shell_error has.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

struct gs_shell_host;

/// A board that has announced itself.
struct gs_shell_board {
  uint64_t mac, mac1, owner, serial, memory_bytes, age_ms;
  uint32_t board_type, sink_rate, image_max_kib, boot;
  uint16_t vendor, product, mtu, credits, streams;
  uint8_t state, reserved[5];
  uint8_t role[16];
};

/// The fields of layout shell_status_report.
struct gs_shell_status {
  uint64_t uptime_ms, frames_received, frames_sent;
  uint32_t bad_frames, bad_tags, replays, rejected, role_resets, memory_frames, messages, overruns;
  uint16_t temperature, power;
  uint8_t state, reserved[3];
};

struct gs_shell_run {
  uint64_t cycles, result_address, result_bytes;
};

/// Sent and total chunks, and boards that are done. A result other than 0 ends nothing: configuring is not interrupted.
typedef void (*gs_shell_progress)(uint64_t sent, uint64_t total, uint32_t done);

struct gs_shell_traffic {
  uint64_t sent, received;
};

/// Frames of a station that were dropped; the reason of the last one: 1 another version, 2 damaged.
struct gs_shell_unreadable {
  uint64_t mac, frames;
  uint32_t reason, version;
};

/// Why the last call of this thread returned null or -1.
const char* gs_shell_error(void);
/// Opens a port (an interface, or the path of a switch); `ethertypes` is nine numbers, or null for
/// those of the site (GOSSAMER_ETHERTYPES). Null on failure.
gs_shell_host* gs_shell_open(const char* port, uint64_t mac, const uint16_t* ethertypes);
void gs_shell_free(gs_shell_host* host);
uint64_t gs_shell_mac(gs_shell_host* host);
uint32_t gs_shell_mtu(gs_shell_host* host);
uint64_t gs_shell_bytes_sent(gs_shell_host* host);
/// Requests announcements and waits; writes at most `most` boards and returns how many there are.
int gs_shell_discover(gs_shell_host* host, uint32_t wait_ms, gs_shell_board* boards, int most);
/// Handles frames for `ms` milliseconds.
int gs_shell_pump(gs_shell_host* host, uint32_t ms);
int gs_shell_session(gs_shell_host* host, uint64_t board, const uint8_t* key, uint32_t lease_ms, int take_over,
                     uint32_t timeout_ms, uint64_t* owner);
/// Milliseconds since the last valid frame of a session; -1 without one.
int64_t gs_shell_age(gs_shell_host* host, uint64_t board);
/// Forgets a session; the board ends it by its lease.
void gs_shell_drop(gs_shell_host* host, uint64_t board);
int gs_shell_close(gs_shell_host* host, uint64_t board);
/// `salt` has the 32 bytes that the board derives its next key from.
int gs_shell_rekey(gs_shell_host* host, uint64_t board, const uint8_t* salt);
/// The root of a role file: BLAKE2s-256 of its manifest.
void gs_shell_root(const uint8_t* role, size_t bytes, uint8_t* root);
/// Configures `count` boards; writes a status and the seconds of each. Flags: 1 load when verified, 2 unicast.
int gs_shell_configure(gs_shell_host* host, const uint64_t* boards, int count, const uint8_t* role, size_t bytes,
                       uint32_t board_type, uint32_t flags, uint64_t group, uint32_t drop_ms, double bytes_per_s,
                       gs_shell_progress progress, int* statuses, double* seconds);
int gs_shell_write(gs_shell_host* host, uint64_t board, uint64_t address, const uint8_t* bytes, size_t count);
int gs_shell_read(gs_shell_host* host, uint64_t board, uint64_t address, uint8_t* bytes, size_t count);
/// `entries` has pairs of address and value.
int gs_shell_write_registers(gs_shell_host* host, uint64_t board, const uint32_t* entries, size_t pairs);
int gs_shell_read_register(gs_shell_host* host, uint64_t board, uint32_t address, uint32_t* value);
int gs_shell_start(gs_shell_host* host, uint64_t board, uint32_t kernel, uint64_t run);
int gs_shell_start_all(gs_shell_host* host, const uint64_t* boards, int count, uint32_t kernel, uint64_t run,
                       int* statuses);
int gs_shell_wait(gs_shell_host* host, uint64_t board, uint64_t run, uint32_t timeout_ms, gs_shell_run* end);
int gs_shell_result(gs_shell_host* host, uint64_t board, uint64_t run, uint64_t offset, uint8_t* bytes, size_t count);
int gs_shell_finish(gs_shell_host* host, uint64_t board, uint64_t run);
int gs_shell_send(gs_shell_host* host, uint64_t board, uint32_t stream, const uint8_t* packet, size_t bytes,
                  uint32_t timeout_ms);
/// Bytes of the next packet, of which at most `most` are written; -2 if none arrives in time.
long gs_shell_receive(gs_shell_host* host, uint64_t board, uint32_t stream, uint8_t* packet, size_t most,
                      uint32_t timeout_ms);
/// 1 and the last status of a board, or 0 before the first.
int gs_shell_last_status(gs_shell_host* host, uint64_t board, gs_shell_status* status);
/// Chunks that a board misses of the image that it is configured with; -1 before it has reported any.
int64_t gs_shell_missing(gs_shell_host* host, uint64_t board);
/// Bytes of frames to one station (ff:ff:ff:ff:ff:ff: to all) and from it.
void gs_shell_count_bytes(gs_shell_host* host, uint64_t station, gs_shell_traffic* traffic);
/// Stations whose frames were dropped; writes at most `most` and returns how many there are.
int gs_shell_list_unreadable(gs_shell_host* host, gs_shell_unreadable* stations, int most);
}
