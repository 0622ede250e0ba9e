// SPDX-License-Identifier: Apache-2.0
// Model of idle detection over boards, for Spin. docs/hardware/idle.md describes the protocol.
//
// Safety: when the root releases, no board is active and no message of the epoch exists anywhere (no false release);
// when a release reaches a board, its thread waits in idle (no message of the next epoch has arrived before).
// Liveness: every run ends with all epochs released: Spin searches for invalid end states and, without any progress
// label, for cycles.
//
// A board is one thread, one cut. Messages overtake each other and take any time; control packets stay in order.
//   TREE=0 board 0 is the root of boards 1 and 2; TREE=1 a chain: root 0, then 1, then 2
//   NO_WAVE, NO_EPOCH, NO_WITHDRAW, NO_LATE_EPOCH, NO_LATE_NEXT, FIRST_COLOUR (copies keep the colour of the message)
//   leave out a part

#ifndef TREE
#define TREE 1
#endif
#ifndef UNICASTS
#define UNICASTS 2
#endif
#ifndef MULTICASTS
#define MULTICASTS 1
#endif
#ifndef HOSTS
#define HOSTS 1
#endif
#ifndef EPOCHS
#define EPOCHS 2
#endif

#define N 3
#define ROUTER 1
#define HOST_BOARD 2

#if TREE == 0
#define PARENT(b) 0
#define IS_CHILD(b, c) ((b) == 0 && (c) != 0)
#else
#define PARENT(b) ((b) - 1)
#define IS_CHILD(b, c) ((c) == (b) + 1)
#endif

// Threads
bool busy[N];
byte epoch[N];
// Messages that remain to be sent
byte unicasts = UNICASTS;
byte multicasts = MULTICASTS;
byte host_messages = HOSTS;

// Messages in flight between boards, and inside their board, by board, epoch, colour, kind (1: to the router)
#define INDEX(b, e, w, k) ((b) * 8 + ((e) & 1) * 4 + (w) * 2 + (k))
byte in_flight[N * 8];
byte inside[N * 8];
// The router: copies that it must still send, and the colour of the original message
bool copies[N];
bool copying;
bit copy_colour;

// A board's cut: sent minus received, since the start
short counts[N];
bit wave[N];
bool flipped[N];
bool late[N];
bool late_next[N];
bool late_epoch[N];
bool hold;

// A node: the reports of its board and its children
bool own[N];
short own_count[N];
bool own_late[N];
bool has[N];
short has_count[N];
bool has_late[N];
bool ack_due[N];
// 0: no report to the parent is outstanding; 1: one is; 2: it is being withdrawn
byte up[N];
short up_count[N];
bool up_late[N];

mtype = {report, withdraw, ack, again, go};
chan to_parent[N] = [2] of {mtype, bit, bit, short, bool};
chan from_parent[N] = [3] of {mtype};

#ifdef NO_WAVE
#define COLOUR(b) 0
#else
#define COLOUR(b) (wave[b] ^ flipped[b])
#endif
#define IDLE(b) (!busy[b] && !((b) == ROUTER && copying) && !((b) == HOST_BOARD && hold))
#define READY(b) (own[b] && (!IS_CHILD(b, 1) || has[1]) && (!IS_CHILD(b, 2) || has[2]))
#define COUNT(b) (own_count[b] + (IS_CHILD(b, 1) -> has_count[1] : 0) + (IS_CHILD(b, 2) -> has_count[2] : 0))
#define LATE(b) (own_late[b] || (IS_CHILD(b, 1) && has_late[1]) || (IS_CHILD(b, 2) && has_late[2]))
#define SPACE(b) ((!IS_CHILD(b, 1) || nfull(from_parent[1])) && (!IS_CHILD(b, 2) || nfull(from_parent[2])))

inline notify(b, what) {
  if
  :: IS_CHILD(b, 1) -> from_parent[1] ! what
  :: else -> skip
  fi;
  if
  :: IS_CHILD(b, 2) -> from_parent[2] ! what
  :: else -> skip
  fi
}

// Effect of an answer of the root on a board and its node
inline begin_wave(b, next_late) {
  flipped[b] = false;
  own[b] = false;
  own_count[b] = 0;
  own_late[b] = false;
  up[b] = 0;
  up_count[b] = 0;
  up_late[b] = false;
  late[b] = next_late;
  late_next[b] = false;
  if
  :: IS_CHILD(b, 1) -> has[1] = false; has_count[1] = 0; has_late[1] = false; ack_due[1] = false
  :: else -> skip
  fi;
  if
  :: IS_CHILD(b, 2) -> has[2] = false; has_count[2] = 0; has_late[2] = false; ack_due[2] = false
  :: else -> skip
  fi
}

inline do_again(b) {
  notify(b, again);
  wave[b] = 1 - wave[b];
  begin_wave(b, late_next[b])
}

inline do_release(b) {
  assert(!busy[b]);  // the thread waits for this release
  notify(b, go);
  wave[b] = 0;
  epoch[b]++;
  begin_wave(b, late_epoch[b]);
  late_epoch[b] = false;
  busy[b] = (epoch[b] < EPOCHS)
}

inline assert_quiescent() {
  x = 0;
  do
  :: x < N * 8 -> assert(in_flight[x] == 0 && inside[x] == 0); x++
  :: else -> break
  od;
  assert(!busy[0] && !busy[1] && !busy[2] && !copying);
  x = 0
}

// One message, e and w known, enters the board from the links; its colour is evaluated
inline enter(b, e, w, k) {
  in_flight[INDEX(b, e, w, k)]--;
  inside[INDEX(b, e, 0, k)]++;
  if
  :: k == 1 -> copy_colour = w
  :: else -> skip
  fi;
#ifndef NO_WAVE
  if
#ifdef NO_LATE_EPOCH
  :: (e) != (epoch[b] & 1) -> skip
#else
  :: (e) != (epoch[b] & 1) -> late_epoch[b] = late_epoch[b] || (w == 1)
#endif
  :: else ->
    if
    :: w != wave[b] -> late[b] = true
#ifdef NO_LATE_NEXT
    :: else -> skip
#else
    :: w == wave[b] && flipped[b] -> late_next[b] = true
    :: else -> skip
#endif
    fi
  fi
#endif
}

#ifdef NO_EPOCH
#define MAY_RECEIVE(b, e) 1
#else
#define MAY_RECEIVE(b, e) ((e) == (epoch[b] & 1))
#endif

inline receive(b, e, k) {
  inside[INDEX(b, e, 0, k)]--;
  counts[b]--;
  if
  :: k == 0 -> busy[b] = true
  :: else -> copying = true; copies[(b + 1) % N] = true; copies[(b + 2) % N] = true
  fi
}

#define TRY_ENTER(e, w, k) atomic { in_flight[INDEX(b, e, w, k)] > 0 -> enter(b, e, w, k) }
#define TRY_RECEIVE(e, k)                                                                        \
  atomic {                                                                                       \
    inside[INDEX(b, e, 0, k)] > 0 && MAY_RECEIVE(b, e) && !(k == 1 && copying) -> receive(b, e, k) \
  }
#define FROM_CHILD(c)                                                                            \
  atomic {                                                                                       \
    IS_CHILD(b, c) && nempty(to_parent[c]) && nfull(from_parent[c]) && (b == 0 || nfull(to_parent[b])) ->             \
    to_parent[c] ? kind, e, w, n, l;                                                             \
    if                                                                                           \
    :: e != (epoch[b] & 1) || w != wave[b] -> skip                                               \
    :: else ->                                                                                   \
      if                                                                                         \
      :: kind == report -> has[c] = true; has_count[c] = n; has_late[c] = l                      \
      :: else ->                                                                                 \
        has[c] = false;                                                                          \
        has_count[c] = 0;                                                                        \
        has_late[c] = false;                                                                     \
        if                                                                                       \
        :: b == 0 || up[b] == 0 -> from_parent[c] ! ack                                          \
        :: else ->                                                                               \
          ack_due[c] = true;                                                                        \
          if                                                                                     \
          :: up[b] == 1 -> up[b] = 2; to_parent[b] ! withdraw, (epoch[b] & 1), wave[b], 0, false \
          :: else -> skip                                                                        \
          fi                                                                                     \
        fi                                                                                       \
      fi                                                                                         \
    fi;                                                                                          \
    kind = report; e = 0; w = 0; n = 0; l = false                                                \
  }

proctype board(byte b) {
  mtype kind = report;
  bit e, w;
  short n;
  bool l;
  byte x, d;
end:
  do
  // The thread
  :: atomic { busy[b] -> busy[b] = false }
  :: atomic {
      busy[b] && unicasts > 0 ->
      unicasts--;
      counts[b]++;
      if
      :: d = (b + 1) % N
      :: d = (b + 2) % N
      fi;
      in_flight[INDEX(d, epoch[b], COLOUR(b), 0)]++;
      d = 0
    }
  :: atomic {
      busy[b] && multicasts > 0 ->
      multicasts--;
      counts[b]++;
      if
      :: b == ROUTER -> inside[INDEX(ROUTER, epoch[b], 0, 1)]++; copy_colour = COLOUR(b)
      :: else -> in_flight[INDEX(ROUTER, epoch[b], COLOUR(b), 1)]++
      fi
    }
  // The router: one copy at a time
  :: atomic {
      b == ROUTER && copying ->
      if
      :: copies[(b + 1) % N] -> d = (b + 1) % N
      :: copies[(b + 2) % N] -> d = (b + 2) % N
      fi;
      copies[d] = false;
      counts[b]++;
#ifdef FIRST_COLOUR
      in_flight[INDEX(d, epoch[b], copy_colour, 0)]++;
#else
      in_flight[INDEX(d, epoch[b], COLOUR(b), 0)]++;
#endif
      copying = copies[(b + 1) % N] || copies[(b + 2) % N];
      d = 0
    }
  // The host sends at any time
  :: atomic { b == HOST_BOARD && host_messages > 0 && !hold && epoch[b] < EPOCHS -> hold = true }
  :: atomic {
#ifdef NO_WITHDRAW
      b == HOST_BOARD && hold ->
#else
      b == HOST_BOARD && hold && !own[b] && (b == 0 || up[b] == 0) ->
#endif
      hold = false;
      host_messages--;
      if
      :: epoch[b] < EPOCHS ->
        counts[b]++;
        if
        :: d = (b + 1) % N
        :: d = (b + 2) % N
        fi;
        in_flight[INDEX(d, epoch[b], COLOUR(b), 0)]++
      :: else -> skip
      fi;
      d = 0
    }
#ifndef NO_WITHDRAW
  :: atomic {
      b == HOST_BOARD && hold && own[b] && up[b] != 2 && nfull(to_parent[b]) ->
      own[b] = false;
      own_count[b] = 0;
      own_late[b] = false;
      if
      :: b != 0 && up[b] == 1 -> up[b] = 2; to_parent[b] ! withdraw, (epoch[b] & 1), wave[b], 0, false
      :: else -> skip
      fi
    }
#endif
  // Messages arrive
  :: TRY_ENTER(0, 0, 0)
  :: TRY_ENTER(0, 1, 0)
  :: TRY_ENTER(1, 0, 0)
  :: TRY_ENTER(1, 1, 0)
  :: TRY_ENTER(0, 0, 1)
  :: TRY_ENTER(0, 1, 1)
  :: TRY_ENTER(1, 0, 1)
  :: TRY_ENTER(1, 1, 1)
  :: TRY_RECEIVE(0, 0)
  :: TRY_RECEIVE(1, 0)
  :: TRY_RECEIVE(0, 1)
  :: TRY_RECEIVE(1, 1)
  // The board's cut: the colour changes first, then the state after that is reported
  :: atomic { IDLE(b) && !flipped[b] && epoch[b] < EPOCHS -> flipped[b] = true }
  :: atomic {
      IDLE(b) && flipped[b] && (!own[b] || own_count[b] != counts[b] || own_late[b] != late[b]) ->
      own[b] = true;
      own_count[b] = counts[b];
      own_late[b] = late[b]
    }
  // The node
  :: FROM_CHILD(1)
  :: FROM_CHILD(2)
  :: atomic {
      b != 0 && READY(b) && nfull(to_parent[b]) &&
      (up[b] == 0 || (up[b] == 1 && (up_count[b] != COUNT(b) || up_late[b] != LATE(b)))) ->
      up[b] = 1;
      up_count[b] = COUNT(b);
      up_late[b] = LATE(b);
      to_parent[b] ! report, (epoch[b] & 1), wave[b], COUNT(b), LATE(b)
    }
  :: atomic {
      (b != 0 && SPACE(b) && from_parent[b] ? [ack]) ->
      from_parent[b] ? ack;
      if
      :: up[b] == 2 -> up[b] = 0
      :: else -> assert(false)
      fi;
      if
      :: IS_CHILD(b, 1) && ack_due[1] -> ack_due[1] = false; from_parent[1] ! ack
      :: else -> skip
      fi;
      if
      :: IS_CHILD(b, 2) && ack_due[2] -> ack_due[2] = false; from_parent[2] ! ack
      :: else -> skip
      fi
    }
  :: atomic { (b != 0 && SPACE(b) && from_parent[b] ? [again]) -> from_parent[b] ? again; do_again(b) }
  :: atomic { (b != 0 && SPACE(b) && from_parent[b] ? [go]) -> from_parent[b] ? go; do_release(b) }
  // The root decides
  :: atomic { b == 0 && READY(b) && SPACE(b) && LATE(b) -> do_again(b) }
  :: atomic {
      b == 0 && READY(b) && SPACE(b) && !LATE(b) && COUNT(b) == 0 ->
      assert_quiescent();
      do_release(b)
    }
  od
}

init {
  atomic {
    busy[0] = true;
    busy[1] = true;
    busy[2] = true;
    run board(0);
    run board(1);
    run board(2)
  }
end:
  // All epochs are released at the end of every run.
  atomic { timeout -> assert(epoch[0] == EPOCHS && epoch[1] == EPOCHS && epoch[2] == EPOCHS) }
}
