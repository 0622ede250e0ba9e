// SPDX-License-Identifier: Apache-2.0
/// The host of a program: messages to and from threads, loading, starting, and what threads print. The interface is
/// that of Tinsel 0.8.3; docs/hostlink.md says what each call does here, and when simulated time passes.
///
/// A program that this is misused by, or whose threads trap or wait for ever, ends with one line that says so.
#pragma once

#include <assert.h>
#include <boot.h>
#include <config.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <memory>

#include "DebugLink.h"

namespace gossamer::host {
class Board;
}

/// What a host may ask for.
struct HostLinkParams {
  uint32_t numBoxesX = 1;
  uint32_t numBoxesY = 1;
  bool useExtraSendSlot = false;     ///< changes nothing here: a thread's slots are all its own
  int max_connection_attempts = 5;   ///< changes nothing here
};

class HostLink {
 public:
  /// All boards. HOSTLINK_BOXES_X and HOSTLINK_BOXES_Y, if set, must not ask for more.
  HostLink();
  /// As many boxes; all boards of the simulation are one box.
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

  /// Whether the boards are there and answer.
  bool powerOnSelfTest();

  // ---- Messages ----

  /// If set, messages are held back until flush, until much has been sent, or until the host receives.
  bool useSendBuffer = false;

  /// Sends a message of `numFlits` flits to a thread. If there is no room, waits for it (`block`) or gives false.
  bool send(uint32_t dest, uint32_t numFlits, void* msg, bool block = true);
  /// The same without waiting.
  bool trySend(uint32_t dest, uint32_t numFlits, void* msg);
  /// The same to the multicast router of the board that the host is at.
  bool keySend(uint32_t key, uint32_t numFlits, void* msg, bool block = true);
  bool keyTrySend(uint32_t key, uint32_t numFlits, void* msg);
  /// Sends what is held back.
  void flush();

  /// Waits for a message and stores its bytes, and zeroes up to TinselBytesPerMsg.
  void recv(void* msg);
  /// Whether a message is there; lets a little time pass if not.
  bool canRecv();
  /// Waits for a message and stores its first bytes.
  void recvMsg(void* msg, uint32_t numBytes);
  /// Waits for messages of TinselBytesPerMsg each.
  void recvBulk(int numMsgs, void* msgs);
  /// Waits for messages, and stores the first `msgSize` bytes of each.
  void recvMsgs(int numMsgs, int msgSize, void* msgs);

  // ---- Addresses ----

  /// Address of a thread: board, core of the board, thread of the core.
  uint32_t toAddr(uint32_t meshX, uint32_t meshY, uint32_t coreId, uint32_t threadId);
  void fromAddr(uint32_t addr, uint32_t* meshX, uint32_t* meshY, uint32_t* coreId, uint32_t* threadId);

  // ---- All cores at once ----

  /// Loads a program, for all cores.
  void loadAll(const char* codeFilename, const char* dataFilename);
  /// The same, and makes all threads ready to start.
  void boot(const char* codeFilename, const char* dataFilename);
  /// Starts all threads that are ready.
  void go();
  /// Makes all threads ready to start.
  void startAll();

  // ---- Core by core ----

  /// Where `store` goes next, of a core.
  void setAddr(uint32_t meshX, uint32_t meshY, uint32_t coreId, uint32_t addr);
  /// Writes words to the memory of a core's board.
  void store(uint32_t meshX, uint32_t meshY, uint32_t coreId, uint32_t numWords, uint32_t* data);
  /// Loads instructions for a core, and for those that share its instruction memory.
  void loadInstrsOntoCore(const char* codeFilename, uint32_t meshX, uint32_t meshY, uint32_t coreId);
  /// Loads data into the memory of a core's board.
  void loadDataViaCore(const char* dataFilename, uint32_t meshX, uint32_t meshY, uint32_t coreId);
  /// Makes the first threads of a core ready to start.
  void startOne(uint32_t meshX, uint32_t meshY, uint32_t coreId, uint32_t numThreads);
  /// Starts the threads of a core that are ready.
  void goOne(uint32_t meshX, uint32_t meshY, uint32_t coreId);

  // ---- Routes ----

  /// Gives all boards of a cluster the next of the tables that the run was started with (--next-routes FILE). Tables
  /// that must not meet those in use are loaded when nothing is under way.
  void loadRoutes();

  // ---- What threads print ----

  /// Takes what threads have printed, and writes whole lines, with their thread in front. False if there was nothing.
  bool pollStdOut(FILE* outFile);
  /// The same, and counts the lines.
  bool pollStdOut(FILE* outFile, uint32_t* lineCount);
  bool pollStdOut();
  /// The same until all threads have ended.
  void dumpStdOut(FILE* outFile);
  /// The same until so many lines are written.
  void dumpStdOut(FILE* outFile, uint32_t lines);
  void dumpStdOut();

 private:
  struct Buffers;

  void open();

  std::shared_ptr<gossamer::host::Board> board_;
  std::unique_ptr<DebugLink> debug_;
  std::shared_ptr<Buffers> buffers_;
};
