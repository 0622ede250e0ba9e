// SPDX-License-Identifier: Apache-2.0
/// The host of a program: messages to and from threads, loading, starting, and the threads' text output. The interface
/// is that of Tinsel 0.8.3; docs/hostlink.md explains each call, and when simulated time passes.
///
/// A program ends with a one-line error if it misuses a call, or if its threads trap or wait forever.
#pragma once

// Hosts use more of the C and C++ libraries than this header without including it, as with Tinsel's headers.
#include <assert.h>
#include <boot.h>
#include <config.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "DebugLink.h"

namespace gossamer::host {
class Board;
}

/// Parameters of a host.
struct HostLinkParams {
  uint32_t numBoxesX = 1;
  uint32_t numBoxesY = 1;
  bool useExtraSendSlot = false;     ///< ignored: a thread owns all its slots
  int max_connection_attempts = 5;   ///< ignored
};

class HostLink {
 public:
  /// Uses all boards. HOSTLINK_BOXES_X and HOSTLINK_BOXES_Y, if set, must not request more.
  HostLink();
  /// Requests a number of boxes; all simulated boards are one box.
  HostLink(uint32_t numBoxesX, uint32_t numBoxesY);
  explicit HostLink(HostLinkParams params);
  ~HostLink();
  HostLink(const HostLink&) = delete;
  HostLink& operator=(const HostLink&) = delete;

  /// Boards in a row, and rows.
  int meshXLen;
  int meshYLen;

  /// Bytes to and from threads.
  DebugLink* debugLink;

  /// Whether all boards respond.
  bool powerOnSelfTest();

  // ---- Messages ----

  /// If set, messages are buffered until flush, until the buffer is full, or until the host receives.
  bool useSendBuffer = false;

  /// Sends a message of `numFlits` flits to a thread. If the queue is full, waits (`block`) or returns false.
  bool send(uint32_t dest, uint32_t numFlits, void* msg, bool block = true);
  /// Sends without waiting.
  bool trySend(uint32_t dest, uint32_t numFlits, void* msg);
  /// Sends to the multicast router of the host's board.
  bool keySend(uint32_t key, uint32_t numFlits, void* msg, bool block = true);
  bool keyTrySend(uint32_t key, uint32_t numFlits, void* msg);
  /// Sends the buffered messages.
  void flush();

  /// Waits for a message and stores its bytes, padded with zeroes to TinselBytesPerMsg.
  void recv(void* msg);
  /// Whether a message has arrived; lets a little time pass if not.
  bool canRecv();
  /// Waits for a message and stores its first bytes.
  void recvMsg(void* msg, uint32_t numBytes);
  /// Waits for messages of TinselBytesPerMsg bytes each.
  void recvBulk(int numMsgs, void* msgs);
  /// Waits for messages, and stores the first `msgSize` bytes of each.
  void recvMsgs(int numMsgs, int msgSize, void* msgs);

  // ---- Addresses ----

  /// Address of a thread: board, core of the board, thread of the core.
  uint32_t toAddr(uint32_t meshX, uint32_t meshY, uint32_t coreId, uint32_t threadId);
  void fromAddr(uint32_t addr, uint32_t* meshX, uint32_t* meshY, uint32_t* coreId, uint32_t* threadId);

  // ---- All cores at once ----

  /// Loads a program for all cores.
  void loadAll(const char* codeFilename, const char* dataFilename);
  /// Loads a program, and prepares all threads for their start.
  void boot(const char* codeFilename, const char* dataFilename);
  /// Starts all prepared threads.
  void go();
  /// Prepares all threads for their start.
  void startAll();

  // ---- Core by core ----

  /// Sets the address of a core's next `store`.
  void setAddr(uint32_t meshX, uint32_t meshY, uint32_t coreId, uint32_t addr);
  /// Writes words to the memory of a core's board.
  void store(uint32_t meshX, uint32_t meshY, uint32_t coreId, uint32_t numWords, uint32_t* data);
  /// Loads instructions for a core, and for those that share its instruction memory.
  void loadInstrsOntoCore(const char* codeFilename, uint32_t meshX, uint32_t meshY, uint32_t coreId);
  /// Loads data into the memory of a core's board.
  void loadDataViaCore(const char* dataFilename, uint32_t meshX, uint32_t meshY, uint32_t coreId);
  /// Prepares the first threads of a core for their start.
  void startOne(uint32_t meshX, uint32_t meshY, uint32_t coreId, uint32_t numThreads);
  /// Starts the prepared threads of a core.
  void goOne(uint32_t meshX, uint32_t meshY, uint32_t coreId);

  // ---- Routes ----

  /// Loads the next routing tables of the run (--next-routes FILE) into all boards of a cluster. Tables that must not
  /// be mixed with the current ones are loaded once no packet is in flight.
  void loadRoutes();

  // ---- Text output of threads ----

  /// Writes the complete lines of received text, each with its thread as prefix. False if nothing was received.
  bool pollStdOut(FILE* outFile);
  /// Also counts the lines.
  bool pollStdOut(FILE* outFile, uint32_t* lineCount);
  bool pollStdOut();
  /// Writes lines until all threads have ended.
  void dumpStdOut(FILE* outFile);
  /// Writes that many lines.
  void dumpStdOut(FILE* outFile, uint32_t lines);
  void dumpStdOut();

 private:
  struct Buffers;

  void open();

  std::shared_ptr<gossamer::host::Board> board_;
  std::unique_ptr<DebugLink> debug_;
  std::shared_ptr<Buffers> buffers_;
};
