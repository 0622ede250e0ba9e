// SPDX-License-Identifier: Apache-2.0
// Model of a session of the shell, for Spin: numbered commands, and the configuration of a board with the same images
// again. docs/hardware/shell.md describes the protocol.
//
// The network keeps every frame that was ever sent and delivers any of them, any number of times, in any order: that is
// loss, duplication, reordering and replay by a foreign station at once.
//
// Safety: each command is executed at most once and after the one before it; a command that the host takes for done has
// been executed with that answer; a configuration that the host takes for loaded was loaded after its `begin`, and all
// chunks of it arrived after that `begin`.
//
// Each of these leaves out or changes a part, and the verifier must then find an error:
//   NO_ORDER       the board executes commands after a gap
//   NO_HISTORY     the board does not recognize a repeated command
//   NO_ACKNOWLEDGE `loaded` does not say how many commands the board has executed
//   KEEP_CHUNKS    `begin` keeps chunks that have arrived before
//   WRAP           numbers begin again after the last one
//   NO_ENDED       the board has no mark that an image has ended, and confirms binding 0 (image 0) without it

#define COMMANDS 6
#ifndef WINDOW
#define WINDOW 2
#endif
#define CONFIGURATIONS 3
#define CHUNKS 2
// Numbers of commands on the wire: 1 to NUMBERS - 1
#ifndef NUMBERS
#define NUMBERS 8
#endif

#ifdef WRAP
#define ON_WIRE(c) ((c) % NUMBERS)
#else
#define ON_WIRE(c) (c)
#endif

#if PART == 0
// ---- Commands ----------------------------------------------------------------------------------------------------

bool sent[COMMANDS + 1];          // frames of the host in the network
bool answered[COMMANDS + 1];      // frames of the board: the answer to a command, with the acknowledgement below
byte acknowledge[COMMANDS + 1];   // the newest of each answer; older ones acknowledge less, and are covered by loss
byte executed[COMMANDS + 1];
byte last_executed;
byte next = 1;                    // of the host
byte first = 1;                   // the oldest command that the host still repeats
byte expected = 1;                // of the board

inline execute(c) {
  executed[c]++;
  assert(executed[c] == 1);
#ifndef NO_ORDER
  assert(c == last_executed + 1);
#else
  assert(c > last_executed);
  assert(c == last_executed + 1);
#endif
  last_executed = c
}

active proctype host() {
  byte c;
  do
  :: d_step { next <= COMMANDS && next < first + WINDOW -> sent[next] = true; next++ }
  :: if  // any answer in the network, which acknowledges all commands before its own
     :: answered[1] -> c = 1
     :: answered[2] -> c = 2
     :: answered[3] -> c = 3
     :: answered[4] -> c = 4
     :: answered[5] -> c = 5
     :: answered[6] -> c = 6
     :: first > COMMANDS -> break
     fi;
     atomic {
       do
       :: first < next && first < acknowledge[c] ->
          assert(executed[first] == 1);  // what the host takes for done is done
          first++
       :: else -> break
       od
     }
  od
}

active proctype board() {
  byte c;
  end: do
  :: if
     :: sent[1] -> c = 1
     :: sent[2] -> c = 2
     :: sent[3] -> c = 3
     :: sent[4] -> c = 4
     :: sent[5] -> c = 5
     :: sent[6] -> c = 6
     fi;
     atomic {
       if
#ifdef NO_ORDER
       :: ON_WIRE(c) >= expected -> execute(c); expected = ON_WIRE(c) + 1; answered[c] = true; acknowledge[c] = expected
#else
       :: ON_WIRE(c) == expected ->
          execute(c);
#ifdef WRAP
          expected = (expected + 1) % NUMBERS;
#else
          expected++;
#endif
          answered[c] = true;
          acknowledge[c] = last_executed + 1
#endif
       :: else ->
          if
#ifdef NO_HISTORY
          :: ON_WIRE(c) < expected -> execute(c)
#else
          :: c <= last_executed && c + WINDOW > last_executed ->
             answered[c] = true; acknowledge[c] = last_executed + 1
#endif
          :: else -> skip
          fi
       fi
     }
  od
}

#else
// ---- Configuration -----------------------------------------------------------------------------------------------
// The host configures the board with image `image[n]`, for n from 1 on; the commands of the session are its `begin`s,
// with numbers of their own. Frames of data name the image only. A foreign station asks `query` for any image.

#define IMAGES 2

byte image[CONFIGURATIONS + 1];     // the images that the host configures, in any order, also one again
bool begin_sent[CONFIGURATIONS + 1];
bool begun[CONFIGURATIONS + 1];     // answers to them
bool data_sent[IMAGES * CHUNKS];
bool loaded_sent[IMAGES * (CONFIGURATIONS + 2)];  // by image, and the commands that it acknowledges

byte expected = 1, receiving, reception;  // the begin that is received; 0: none
byte have, arrived;                       // chunks that the board has; and those that arrived after its begin
byte ended;                               // 1 + the image of the last confirmation; 0: none
bool really[CONFIGURATIONS + 1];           // loaded after this begin
bool ever[IMAGES];                         // loaded

#define BIT(k) (1 << (k))
#ifdef NO_ACKNOWLEDGE
#define CONFIRMS 0
#else
#define CONFIRMS expected
#endif

active proctype host() {
  byte n = 1, k;
  do
  :: n <= CONFIGURATIONS ->
     atomic {
       if
       :: image[n] = 0
       :: image[n] = 1
       fi;
       begin_sent[n] = true
     }
     begun[n];
     k = 0;
     do
     :: k < CHUNKS -> data_sent[image[n] * CHUNKS + k] = true; k++
     :: else -> break
     od;
     // Any confirmation of this image that acknowledges its begin
     atomic {
       if
#ifdef NO_ACKNOWLEDGE
       :: loaded_sent[image[n] * (CONFIGURATIONS + 2)]
#else
       :: n + 1 <= CONFIGURATIONS + 1 && loaded_sent[image[n] * (CONFIGURATIONS + 2) + n + 1]
#endif
       fi;
       assert(really[n]);  // no false success
       n++
     }
  :: else -> break
  od
}

active proctype board() {
  byte c, k, i;
  end: do
  :: atomic {  // a begin, of which any may come again
       if
       :: begin_sent[1] -> c = 1
       :: begin_sent[2] -> c = 2
       :: begin_sent[3] -> c = 3
       fi;
       if
       :: c == expected ->
          expected++; receiving = image[c]; reception = c;
          arrived = 0;
#ifndef KEEP_CHUNKS
          have = 0;
#endif
          begun[c] = true
       :: else -> skip
       fi
     }
  :: atomic {  // a chunk
       if
       :: data_sent[0] -> i = 0; k = 0
       :: data_sent[1] -> i = 0; k = 1
       :: data_sent[2] -> i = 1; k = 0
       :: data_sent[3] -> i = 1; k = 1
       fi;
       if
       :: reception && receiving == i ->
          have = have | BIT(k); arrived = arrived | BIT(k);
          if
          :: have == BIT(CHUNKS) - 1 ->
#ifdef KEEP_CHUNKS
             assert(arrived == have);
#endif
             really[reception] = true; ever[i] = true; reception = 0; ended = 1 + i;
             loaded_sent[i * (CONFIGURATIONS + 2) + CONFIRMS] = true
          :: else -> skip
          fi
       :: else -> skip
       fi
     }
  :: atomic {  // a query of anyone, for any image
       if
       :: i = 0
       :: i = 1
       fi;
       if
       :: reception && receiving == i -> skip
#ifdef NO_ENDED
       :: !(reception && receiving == i) && (ended == 1 + i || (ended == 0 && i == 0)) ->
#else
       :: !(reception && receiving == i) && ended == 1 + i ->
#endif
          assert(ever[i]);
          loaded_sent[i * (CONFIGURATIONS + 2) + CONFIRMS] = true
       :: else -> skip
       fi
     }
  od
}
#endif
