// SPDX-License-Identifier: Apache-2.0
/// Messages from one rank to one rank.
///
/// A stream carries all messages from one rank to one port of another, in order. It has a ring of its own, so a port
/// that nobody pops from slows no other. A message is matched with the receive that has the same number; the sender
/// may be ahead of the receiver by the degree of the message, whether the receiver has opened its channel or not.
#include <algorithm>
#include <memory>

#include "hardware.h"
#include "processes.h"
#include "runtime.h"

namespace gossamer::smi {

namespace {

struct Message {
  int type, count;
  Place place;
};

}  // namespace

struct Stream : Waitable {
  Ring ring;
  std::uint64_t room = 0;  ///< elements that may be in the ring now
  std::uint64_t limit = 1;
  bool rendezvous = false;  ///< degree 0: a push ends when its element is popped
  Fiber* pusher = nullptr;
  Fiber* popper = nullptr;
  int source = 0, destination = 0, port = 0;
  int sendDegree = -1, receiveDegree = -1;
  std::deque<Message> sends, receives;  ///< that the other end has not matched yet
  /// Where one end is in another process: elements that the receiver's process has been told at the sender's, or that
  /// the sender's has been told are taken at the receiver's. Messages are matched there.
  std::uint64_t told = 0;

  void setDegree() {
    const int stated = std::max(sendDegree, receiveDegree);
    const int degree = stated >= 0 ? stated : options.slack;
    rendezvous = degree == 0;
    limit = static_cast<std::uint64_t>(std::max(degree, 1));
    room = std::min(limit, ring.capacity());
  }

  Wait wait(const Fiber& fiber) const override {
    if (&fiber == pusher) {
      return {rendezvous && ring.held()
                  ? format("in a push to rank %d, port %d, until it is popped ({})", destination, port)
                  : format("to push to rank %d, port %d: full, %llu elements are ahead ({})", destination, port,
                           static_cast<unsigned long long>(ring.held())),
              {destination}};
    }
    return {format("to pop from rank %d, port %d: empty ({})", source, port), {source}};
  }
};

namespace {

std::unordered_map<std::uint64_t, std::unique_ptr<Stream>> streams;
std::vector<Stream*> between;  ///< two processes

Stream& streamOf(int source, int destination, int port) {
  const auto key = static_cast<std::uint64_t>(source) << 40 | static_cast<std::uint64_t>(destination) << 16 |
                   static_cast<std::uint64_t>(port);
  std::unique_ptr<Stream>& found = streams[key];
  if (!found) {
    found = std::make_unique<Stream>();
    found->source = source;
    found->destination = destination;
    found->port = port;
    found->ring.grow(8);
    found->setDegree();
    if (isHere(source) != isHere(destination)) between.push_back(found.get());
  }
  return *found;
}

Writer tellOf(const Stream& s, Record record) {
  Writer out = tell(homeOf(isHere(s.source) ? s.destination : s.source), record);
  out << s.source << s.destination << s.port;
  return out;
}

void wakePusher(Stream& s) {
  if (!s.pusher) return;
  wake(s.pusher);
  s.pusher = nullptr;
}

void match(Stream& s) {
  while (!s.sends.empty() && !s.receives.empty()) {
    const Message sent = s.sends.front(), got = s.receives.front();
    s.sends.pop_front();
    s.receives.pop_front();
    if (sent.type == got.type && sent.count == got.count) continue;
    fail(exitInput,
         format("rank %d receives %d elements of %s on port %d from rank %d ({}), which sends %d of %s ({}); give both "
                "ends the same count and type",
                s.destination, got.count, typeName(got.type), s.port, s.source, sent.count, typeName(sent.type)),
         {got.place, sent.place});
  }
}

[[noreturn]] void tooMany(const SMI_Channel& c, const char* call, Place place) {
  fail(exitInput,
       format("rank %d, port %d: %s after all %d elements of the channel ({}); a channel is closed by its "
              "last element, open another",
              current->rank->index, c.port, call, c.count),
       {place});
}

/// The first use of a channel: from here on it exists for the other side. A copy of it may have been used before.
void bind(SMI_Channel& c, bool receives, Place place) {
  const char* call = receives ? "SMI_Pop" : "SMI_Push";
  if (!c.comm) {
    fail(exitInput,
         format("rank %d: %s on a channel that was not opened ({}); open it with SMI_Open_%s_channel",
                current->rank->index, call, receives ? "recv" : "send"),
         {place});
  }
  if (c.receives != receives) {
    fail(exitInput,
         format("rank %d, port %d: %s on a channel that was opened to %s ({})", current->rank->index, c.port, call,
                receives ? "send" : "receive"),
         {place});
  }
  if (c.peer < 0 || c.peer >= c.comm->context->size()) {
    fail(exitInput,
         format("rank %d, port %d: %s with rank %d ({})%s; ranks are 0 to %d", current->rank->index, c.port, call,
                c.peer, c.comm->context->words().c_str(), c.comm->context->size() - 1),
         {place});
  }
  if (c.count == 0) {
    fail(exitInput, format("rank %d, port %d: %s on a channel of 0 elements ({})", current->rank->index, c.port, call),
         {place});
  }
  const int me = current->rank->index, peer = c.comm->context->members[static_cast<std::size_t>(c.peer)];
  Port& had = current->rank->ports[c.port];
  if (const Busy& busy = receives ? had.receives : had.sends; busy.wasUsed(c.number)) {
    // The port has gone on to another channel only after this one's last element.
    if (busy.number != c.number) tooMany(c, call, place);
    c.stream = reinterpret_cast<gs_smi_stream*>(busy.stream);
    c.end = busy.end;
    c.bound = !hardware;
    return;
  }
  Port& port = freePort(*current->rank, c.port, receives ? "receive" : "send", place, !receives, receives, false);
  Stream& s = receives ? streamOf(peer, me, c.port) : streamOf(me, peer, c.port);
  const auto count = static_cast<std::uint64_t>(c.count);
  c.stream = reinterpret_cast<gs_smi_stream*>(&s);
  // Unbound, its calls do not take the short way.
  c.bound = !hardware;
  if (receives) {
    c.end = s.ring.head + count;
    port.receives.set(&s, c.end, place, c.number);
    s.receiveDegree = c.degree;
    s.receives.push_back({c.type, c.count, place});
    if (hardware) openReceive(c.port, c.type, c.count, peer, c.degree, place);
    if (!isHere(peer)) tellOf(s, Record::streamDegree) << c.degree;
  } else {
    c.end = s.ring.tail + count;
    port.sends.set(&s, c.end, place, c.number);
    s.sendDegree = c.degree;
    if (hardware) openSend(c.port, c.type, c.count, peer, c.degree, place);
    if (isHere(peer)) {
      s.sends.push_back({c.type, c.count, place});
    } else {
      (tellOf(s, Record::streamBound) << static_cast<int>(c.type) << c.count).place(place);
    }
  }
  s.setDegree();
  match(s);
  if (receives && s.ring.held() < s.limit) wakePusher(s);
}

/// Only one kernel may use an end at a time.
void alone(const Fiber* other, const SMI_Channel& c, const char* call, Place place) {
  if (!other || other == current) return;
  fail(exitInput,
       format("rank %d, port %d: %s in %s ({}), in which %s waits already; give each kernel a port",
              current->rank->index, c.port, call, current->name.c_str(), other->name.c_str()),
       {place});
}

[[gnu::noinline]] void pushSlowly(SMI_Channel& c, const void* data, Place place) {
  if (!c.bound || c.receives) bind(c, false, place);
  Stream& s = *reinterpret_cast<Stream*>(c.stream);
  if (s.ring.tail >= c.end) tooMany(c, "SMI_Push", place);
  alone(s.pusher, c, "SMI_Push", place);
  spend();
  if (hardware) {
    pushElement(c.port, load(c.type, data), s.pusher, s, place);
    ++s.ring.tail;
    return;
  }
  while (s.ring.held() >= s.room) {
    if (s.room < s.limit) {
      s.ring.grow(std::min(s.limit, 2 * s.ring.capacity()));
      s.room = std::min(s.limit, s.ring.capacity());
      continue;
    }
    s.pusher = current;
    wait(s, place);
    s.pusher = nullptr;
  }
  s.ring.put(load(c.type, data));
  if (s.popper) {
    wake(s.popper);
    s.popper = nullptr;
  }
  const std::uint64_t mine = s.ring.tail;
  while (s.rendezvous && s.ring.head < mine) {
    s.pusher = current;
    wait(s, place);
    s.pusher = nullptr;
  }
}

[[gnu::noinline]] void popSlowly(SMI_Channel& c, void* data, Place place) {
  if (!c.bound || !c.receives) bind(c, true, place);
  Stream& s = *reinterpret_cast<Stream*>(c.stream);
  if (s.ring.head >= c.end) tooMany(c, "SMI_Pop", place);
  alone(s.popper, c, "SMI_Pop", place);
  spend();
  if (hardware) {
    store(c.type, data, popElement(c.port, s.popper, s, place));
    ++s.ring.head;
    return;
  }
  while (!s.ring.held()) {
    s.popper = current;
    wait(s, place);
    s.popper = nullptr;
  }
  store(c.type, data, s.ring.take());
  wakePusher(s);
}

SMI_Channel opened(bool receives, int count, int type, int peer, int port, SMI_Comm comm, int degree, const char* call,
                   Place place) {
  checkChannel(count, type, port, comm, call, place);
  SMI_Channel c{};
  c.comm = comm;
  c.count = count;
  c.peer = peer;
  c.port = port;
  c.degree = degree;
  c.type = static_cast<unsigned char>(type);
  c.receives = receives;
  Port& used = current->rank->ports[port];
  c.number = ++(receives ? used.receives : used.sends).opened;
  return c;
}

SMI_Channel openedWith(bool receives, int count, int type, int peer, int port, SMI_Comm comm, int degree,
                       const char* call, Place place) {
  checkDegree(degree, call, place);
  return opened(receives, count, type, peer, port, comm, degree, call, place);
}

bool active(const Busy& busy, bool sends) {
  return busy.stream && (sends ? busy.stream->ring.tail : busy.stream->ring.head) < busy.end;
}

}  // namespace

void shipStreams() {
  for (Stream* one : between) {
    Stream& s = *one;
    if (isHere(s.source)) {
      while (s.told != s.ring.tail) {
        const std::uint64_t end = std::min(s.ring.tail, s.told + mostElements);
        tellOf(s, Record::streamElements).elements(s.ring, s.told, end);
        s.told = end;
      }
    } else if (s.told != s.ring.head) {
      s.told = s.ring.head;
      tellOf(s, Record::streamTaken) << s.told;
    }
  }
}

void takeStream(Record record, Reader& in) {
  const int source = in.get<int>(), destination = in.get<int>(), port = in.get<int>();
  Stream& s = streamOf(source, destination, port);
  if (record == Record::streamBound) {
    const int type = in.get<int>(), count = in.get<int>();
    s.sends.push_back({type, count, in.place()});
    match(s);
  } else if (record == Record::streamElements) {
    const std::vector<std::uint64_t> values = in.elements();
    s.ring.grow(s.ring.held() + values.size());
    for (const std::uint64_t value : values) s.ring.put(value);
    if (s.popper) {
      wake(s.popper);
      s.popper = nullptr;
    }
  } else {
    if (record == Record::streamDegree) {
      s.receiveDegree = in.get<int>();
      s.setDegree();
    } else {
      s.ring.head = in.get<std::uint64_t>();
    }
    wakePusher(s);
  }
}

Port& freePort(Rank& rank, int number, const char* what, Place place, bool sends, bool receives, bool collective) {
  Port& port = rank.ports[number];
  const Place other = sends && active(port.sends, true)            ? port.sends.place
                      : receives && active(port.receives, false)   ? port.receives.place
                      : port.collective                            ? port.collectivePlace
                      : collective && active(port.sends, true)     ? port.sends.place
                      : collective && active(port.receives, false) ? port.receives.place
                                                                   : nullptr;
  if (other) {
    fail(exitInput,
         format("rank %d, port %d is used twice: a %s (%s) while an earlier channel ({}) has elements left; "
                "give each its own port",
                rank.index, number, what, "{}"),
         {place, other});
  }
  return port;
}

void checkChannel(int count, int type, int port, SMI_Comm comm, const char* call, Place place) {
  const auto wrong = [&](const std::string& what) {
    fail(exitInput, format("rank %d: %s: %s ({})", current->rank->index, call, what.c_str()), {place});
  };
  if (!comm) wrong("the communicator is null; this rank is not in it");
  if (count < 0) wrong(format("the count is %d; it is 0 or more", count));
  if (!typeExists(type)) wrong(format("there is no type %d; use an SMI_Datatype", type));
  if (port < 0 || port >= portLimit) wrong(format("there is no port %d; ports are 0 to %d", port, portLimit - 1));
}

void checkDegree(int degree, const char* call, Place place) {
  if (degree >= 0) return;
  fail(exitInput,
       format("rank %d: %s: the asynchronicity degree is %d; it is 0 or more ({})", current->rank->index, call, degree),
       {place});
}

}  // namespace gossamer::smi

using namespace gossamer::smi;

extern "C" {

SMI_Channel SMI_Open_send_channel(int count, SMI_Datatype type, int destination, int port, SMI_Comm comm) {
  return opened(false, count, type, destination, port, comm, -1, __func__, __builtin_return_address(0));
}

SMI_Channel SMI_Open_send_channel_ad(int count, SMI_Datatype type, int destination, int port, SMI_Comm comm,
                                     int asynch_degree) {
  return openedWith(false, count, type, destination, port, comm, asynch_degree, __func__, __builtin_return_address(0));
}

SMI_Channel SMI_Open_recv_channel(int count, SMI_Datatype type, int source, int port, SMI_Comm comm) {
  return opened(true, count, type, source, port, comm, -1, __func__, __builtin_return_address(0));
}

SMI_Channel SMI_Open_recv_channel_ad(int count, SMI_Datatype type, int source, int port, SMI_Comm comm,
                                     int asynch_degree) {
  return openedWith(true, count, type, source, port, comm, asynch_degree, __func__, __builtin_return_address(0));
}

SMI_Channel SMI_Open_receive_channel(int count, SMI_Datatype type, int source, int port, SMI_Comm comm) {
  return opened(true, count, type, source, port, comm, -1, __func__, __builtin_return_address(0));
}

SMI_Channel SMI_Open_receive_channel_ad(int count, SMI_Datatype type, int source, int port, SMI_Comm comm,
                                        int asynch_degree) {
  return openedWith(true, count, type, source, port, comm, asynch_degree, __func__, __builtin_return_address(0));
}

void SMI_Push(SMI_Channel* channel, const void* data) {
  if (channel->bound && !channel->receives) [[likely]] {
    Stream& s = *reinterpret_cast<Stream*>(channel->stream);
    if (s.ring.tail < channel->end && s.ring.held() < s.room && !s.rendezvous && !s.popper && !s.pusher) [[likely]] {
      s.ring.put(load(channel->type, data));
      spend();
      return;
    }
  }
  pushSlowly(*channel, data, __builtin_return_address(0));
}

void SMI_Push_flush(SMI_Channel* channel, const void* data, int) {
  // The emulator has no packets: an element is always on its way at once.
  pushSlowly(*channel, data, __builtin_return_address(0));
}

void SMI_Pop(SMI_Channel* channel, void* data) {
  if (channel->bound && channel->receives) [[likely]] {
    Stream& s = *reinterpret_cast<Stream*>(channel->stream);
    if (s.ring.head < channel->end && s.ring.held() && !s.pusher && !s.popper) [[likely]] {
      store(channel->type, data, s.ring.take());
      spend();
      return;
    }
  }
  popSlowly(*channel, data, __builtin_return_address(0));
}

}  // extern "C"
