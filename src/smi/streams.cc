// SPDX-License-Identifier: Apache-2.0
/// Point-to-point messages.
///
/// A stream carries all messages from one rank to one port of another rank, in order. Each stream has its own ring, so
/// an unread port delays no other stream. The n-th message matches the n-th receive. The sender may be ahead of the
/// receiver by the degree of the message, even before the receiver opens its channel.
#include <algorithm>
#include <memory>

#include "hardware.h"
#include "processes.h"
#include "runtime.h"

namespace gossamer::smi {

namespace {

struct Message {
  int type, count;
  CallSite site;
};

}  // namespace

struct Stream : Waitable {
  Ring ring;
  std::uint64_t window = 0;  ///< elements that the ring may hold now
  std::uint64_t limit = 1;
  bool rendezvous = false;  ///< degree 0: a push returns when its element is popped
  Fiber* pusher = nullptr;
  Fiber* popper = nullptr;
  int source = 0, destination = 0, port = 0;
  int sendDegree = -1, receiveDegree = -1;
  std::deque<Message> sends, receives;  ///< not matched yet by the other end
  /// If the ends are in different processes: at the sender, the number of elements sent to the receiver's process; at
  /// the receiver, the number of popped elements reported to the sender's. Messages are matched at the receiver.
  std::uint64_t reported = 0;

  void setDegree() {
    const int stated = std::max(sendDegree, receiveDegree);
    const int degree = stated >= 0 ? stated : options.slack;
    rendezvous = degree == 0;
    limit = static_cast<std::uint64_t>(std::max(degree, 1));
    window = std::min(limit, ring.capacity());
  }

  Wait wait(const Fiber& fiber) const override {
    if (&fiber == pusher) {
      return {rendezvous && ring.size()
                  ? format("in a push to rank %d, port %d, until it is popped ({})", destination, port)
                  : format("to push to rank %d, port %d: full, %llu elements are ahead ({})", destination, port,
                           static_cast<unsigned long long>(ring.size())),
              {destination}};
    }
    return {format("to pop from rank %d, port %d: empty ({})", source, port), {source}};
  }
  WaitKind kind(const Fiber& fiber) const override { return &fiber == pusher ? WaitKind::push : WaitKind::pop; }
  std::string label(WaitKind kind) const override {
    return kind == WaitKind::push ? format("push to rank %d, port %d", destination, port)
                                  : format("pop from rank %d, port %d", source, port);
  }
};

namespace {

std::unordered_map<std::uint64_t, std::unique_ptr<Stream>> streams;
std::vector<Stream*> remoteStreams;  ///< whose ends are in different processes

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
    if (isHere(source) != isHere(destination)) remoteStreams.push_back(found.get());
  }
  return *found;
}

Writer recordFor(const Stream& s, Record record) {
  Writer out = newRecord(homeOf(isHere(s.source) ? s.destination : s.source), record);
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
    fail(GS_EXIT_INPUT,
         format("rank %d receives %d elements of %s on port %d from rank %d ({}), which sends %d of %s ({}); use the "
                "same count and type at both ends",
                s.destination, got.count, typeName(got.type), s.port, s.source, sent.count, typeName(sent.type)),
         {got.site, sent.site});
  }
}

[[noreturn]] void failTooMany(const SMI_Channel& c, const char* call, CallSite site) {
  fail(GS_EXIT_INPUT,
       format("rank %d, port %d: %s beyond the channel's count of %d ({}); the last element closes a "
              "channel, open another",
              current->rank->index, c.port, call, c.count),
       {site});
}

/// A pop from a rank that does not exist. An endless kernel at the border of a grid of ranks does so, and waits
/// forever.
[[noreturn]] void waitForNoRank(const SMI_Channel& c, CallSite site) {
  struct Nothing : Waitable {
    int peer, port;
    Nothing(int rank, int number) : peer(rank), port(number) {}
    Wait wait(const Fiber&) const override {
      return {format("to pop from rank %d, which does not exist, port %d ({})", peer, port), {}};
    }
    WaitKind kind(const Fiber&) const override { return WaitKind::pop; }
    std::string label(WaitKind) const override { return format("pop from rank %d, port %d", peer, port); }
  };
  // Never deleted: the wait does not end.
  const auto* nothing = new Nothing(c.peer, c.port);
  for (;;) wait(*nothing, site);
}

/// Binds a channel at its first use; then it exists for the peer. A copy of the channel may have been bound before.
void bind(SMI_Channel& c, bool receives, CallSite site) {
  const char* call = receives ? "SMI_Pop" : "SMI_Push";
  if (!c.comm) {
    fail(GS_EXIT_INPUT,
         format("rank %d: %s on a channel that was not opened ({}); open it with SMI_Open_%s_channel",
                current->rank->index, call, receives ? "recv" : "send"),
         {site});
  }
  if (c.receives != receives) {
    fail(GS_EXIT_INPUT,
         format("rank %d, port %d: %s on a channel that was opened to %s ({})", current->rank->index, c.port, call,
                receives ? "send" : "receive"),
         {site});
  }
  if (c.peer < 0 || c.peer >= c.comm->context->size()) {
    if (receives && current->daemon) waitForNoRank(c, site);
    fail(GS_EXIT_INPUT,
         format("rank %d, port %d: %s with rank %d ({})%s; ranks are 0 to %d", current->rank->index, c.port, call,
                c.peer, c.comm->context->describe().c_str(), c.comm->context->size() - 1),
         {site});
  }
  if (c.count == 0) {
    fail(GS_EXIT_INPUT,
         format("rank %d, port %d: %s on a channel of 0 elements ({})", current->rank->index, c.port, call), {site});
  }
  const int me = current->rank->index, peer = c.comm->context->members[static_cast<std::size_t>(c.peer)];
  Port& earlier = current->rank->ports[c.port];
  if (const PortDirection& busy = receives ? earlier.receives : earlier.sends; busy.wasUsed(c.number)) {
    // The port accepts another channel only after this one's last element.
    if (busy.number != c.number) failTooMany(c, call, site);
    c.stream = reinterpret_cast<gs_smi_stream*>(busy.stream);
    c.end = busy.end;
    c.bound = !hardware;
    return;
  }
  Port& port = claimPort(*current->rank, c.port, receives ? "receive" : "send", site, !receives, receives, false);
  Stream& s = receives ? streamOf(peer, me, c.port) : streamOf(me, peer, c.port);
  const auto count = static_cast<std::uint64_t>(c.count);
  c.stream = reinterpret_cast<gs_smi_stream*>(&s);
  // With hardware, channels stay unbound, so that calls do not take the fast path.
  c.bound = !hardware;
  if (receives) {
    c.end = s.ring.head + count;
    port.receives.set(&s, c.end, site, c.number);
    s.receiveDegree = c.degree;
    s.receives.push_back({c.type, c.count, site});
    if (hardware) openReceive(c.port, c.type, c.count, peer, c.degree, site);
    if (!isHere(peer)) recordFor(s, Record::streamDegree) << c.degree;
  } else {
    c.end = s.ring.tail + count;
    port.sends.set(&s, c.end, site, c.number);
    s.sendDegree = c.degree;
    if (hardware) openSend(c.port, c.type, c.count, peer, c.degree, site);
    if (isHere(peer)) {
      s.sends.push_back({c.type, c.count, site});
    } else {
      (recordFor(s, Record::streamBound) << static_cast<int>(c.type) << c.count).site(site);
    }
  }
  s.setDegree();
  match(s);
  if (receives && s.ring.size() < s.limit) wakePusher(s);
}

/// Checks that no other kernel waits at this end.
void checkExclusive(const Fiber* other, const SMI_Channel& c, const char* call, CallSite site) {
  if (!other || other == current) return;
  fail(GS_EXIT_INPUT,
       format("rank %d, port %d: %s in %s ({}), on which %s waits already; use one port per kernel",
              current->rank->index, c.port, call, current->name.c_str(), other->name.c_str()),
       {site});
}

[[gnu::noinline]] void pushSlow(SMI_Channel& c, const void* data, CallSite site) {
  if (!c.bound || c.receives) bind(c, false, site);
  Stream& s = *reinterpret_cast<Stream*>(c.stream);
  if (s.ring.tail >= c.end) failTooMany(c, "SMI_Push", site);
  checkExclusive(s.pusher, c, "SMI_Push", site);
  spend();
  if (hardware) {
    pushElement(c.port, load(c.type, data), s.pusher, s, site);
    ++s.ring.tail;
    return;
  }
  while (s.ring.size() >= s.window) {
    if (s.window < s.limit) {
      s.ring.grow(std::min(s.limit, 2 * s.ring.capacity()));
      s.window = std::min(s.limit, s.ring.capacity());
      continue;
    }
    s.pusher = current;
    wait(s, site);
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
    wait(s, site);
    s.pusher = nullptr;
  }
}

[[gnu::noinline]] void popSlow(SMI_Channel& c, void* data, CallSite site) {
  if (!c.bound || !c.receives) bind(c, true, site);
  Stream& s = *reinterpret_cast<Stream*>(c.stream);
  if (s.ring.head >= c.end) failTooMany(c, "SMI_Pop", site);
  checkExclusive(s.popper, c, "SMI_Pop", site);
  spend();
  if (hardware) {
    store(c.type, data, popElement(c.port, s.popper, s, site));
    ++s.ring.head;
    return;
  }
  while (!s.ring.size()) {
    s.popper = current;
    wait(s, site);
    s.popper = nullptr;
  }
  store(c.type, data, s.ring.take());
  wakePusher(s);
}

SMI_Channel openChannel(bool receives, int count, int type, int peer, int port, SMI_Comm comm, int degree,
                        const char* call, CallSite site) {
  checkChannel(count, type, port, comm, call, site);
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

SMI_Channel openChannelWithDegree(bool receives, int count, int type, int peer, int port, SMI_Comm comm, int degree,
                                  const char* call, CallSite site) {
  checkDegree(degree, call, site);
  return openChannel(receives, count, type, peer, port, comm, degree, call, site);
}

bool active(const PortDirection& busy, bool sends) {
  return busy.stream && (sends ? busy.stream->ring.tail : busy.stream->ring.head) < busy.end;
}

}  // namespace

void sendStreamUpdates() {
  for (Stream* one : remoteStreams) {
    Stream& s = *one;
    if (isHere(s.source)) {
      while (s.reported != s.ring.tail) {
        const std::uint64_t end = std::min(s.ring.tail, s.reported + mostElements);
        recordFor(s, Record::streamElements).elements(s.ring, s.reported, end);
        s.reported = end;
      }
    } else if (s.reported != s.ring.head) {
      s.reported = s.ring.head;
      recordFor(s, Record::streamTaken) << s.reported;
    }
  }
}

void applyStreamRecord(Record record, Reader& in) {
  const int source = in.get<int>(), destination = in.get<int>(), port = in.get<int>();
  Stream& s = streamOf(source, destination, port);
  if (record == Record::streamBound) {
    const int type = in.get<int>(), count = in.get<int>();
    s.sends.push_back({type, count, in.site()});
    match(s);
  } else if (record == Record::streamElements) {
    const std::vector<std::uint64_t> values = in.elements();
    s.ring.grow(s.ring.size() + values.size());
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

Port& claimPort(Rank& rank, int number, const char* what, CallSite site, bool sends, bool receives, bool collective) {
  Port& port = rank.ports[number];
  const CallSite other = sends && active(port.sends, true)            ? port.sends.site
                         : receives && active(port.receives, false)   ? port.receives.site
                         : port.collective                            ? port.collectivePlace
                         : collective && active(port.sends, true)     ? port.sends.site
                         : collective && active(port.receives, false) ? port.receives.site
                                                                      : nullptr;
  if (other) {
    fail(GS_EXIT_INPUT,
         format("rank %d, port %d is used twice: a %s (%s) while an earlier channel ({}) has elements left; "
                "use a separate port for each",
                rank.index, number, what, "{}"),
         {site, other});
  }
  return port;
}

void checkChannel(int count, int type, int port, SMI_Comm comm, const char* call, CallSite site) {
  const auto wrong = [&](const std::string& what) {
    fail(GS_EXIT_INPUT, format("rank %d: %s: %s ({})", current->rank->index, call, what.c_str()), {site});
  };
  if (!comm) wrong("the communicator is null; this rank is not in it");
  if (count < 0) wrong(format("the count is %d; it must be at least 0", count));
  if (!typeExists(type)) wrong(format("there is no type %d; use an SMI_Datatype", type));
  if (port < 0 || port >= portLimit) wrong(format("there is no port %d; ports are 0 to %d", port, portLimit - 1));
}

void checkDegree(int degree, const char* call, CallSite site) {
  if (degree >= 0) return;
  fail(GS_EXIT_INPUT,
       format("rank %d: %s: the asynchronicity degree is %d; it must be at least 0 ({})", current->rank->index, call,
              degree),
       {site});
}

}  // namespace gossamer::smi

using namespace gossamer::smi;

extern "C" {

SMI_Channel SMI_Open_send_channel(int count, SMI_Datatype type, int destination, int port, SMI_Comm comm) {
  return openChannel(false, count, type, destination, port, comm, -1, __func__, __builtin_return_address(0));
}

SMI_Channel SMI_Open_send_channel_ad(int count, SMI_Datatype type, int destination, int port, SMI_Comm comm,
                                     int asynch_degree) {
  return openChannelWithDegree(false, count, type, destination, port, comm, asynch_degree, __func__,
                               __builtin_return_address(0));
}

SMI_Channel SMI_Open_recv_channel(int count, SMI_Datatype type, int source, int port, SMI_Comm comm) {
  return openChannel(true, count, type, source, port, comm, -1, __func__, __builtin_return_address(0));
}

SMI_Channel SMI_Open_recv_channel_ad(int count, SMI_Datatype type, int source, int port, SMI_Comm comm,
                                     int asynch_degree) {
  return openChannelWithDegree(true, count, type, source, port, comm, asynch_degree, __func__,
                               __builtin_return_address(0));
}

SMI_Channel SMI_Open_receive_channel(int count, SMI_Datatype type, int source, int port, SMI_Comm comm) {
  return openChannel(true, count, type, source, port, comm, -1, __func__, __builtin_return_address(0));
}

SMI_Channel SMI_Open_receive_channel_ad(int count, SMI_Datatype type, int source, int port, SMI_Comm comm,
                                        int asynch_degree) {
  return openChannelWithDegree(true, count, type, source, port, comm, asynch_degree, __func__,
                               __builtin_return_address(0));
}

void SMI_Push(SMI_Channel* channel, const void* data) {
  if (channel->bound && !channel->receives) [[likely]] {
    Stream& s = *reinterpret_cast<Stream*>(channel->stream);
    if (s.ring.tail < channel->end && s.ring.size() < s.window && !s.rendezvous && !s.popper && !s.pusher) [[likely]] {
      s.ring.put(load(channel->type, data));
      spend();
      return;
    }
  }
  pushSlow(*channel, data, __builtin_return_address(0));
}

void SMI_Push_flush(SMI_Channel* channel, const void* data, int) {
  // The emulator has no packets: every element is sent at once.
  pushSlow(*channel, data, __builtin_return_address(0));
}

void SMI_Pop(SMI_Channel* channel, void* data) {
  if (channel->bound && channel->receives) [[likely]] {
    Stream& s = *reinterpret_cast<Stream*>(channel->stream);
    if (s.ring.head < channel->end && s.ring.size() && !s.pusher && !s.popper) [[likely]] {
      store(channel->type, data, s.ring.take());
      spend();
      return;
    }
  }
  popSlow(*channel, data, __builtin_return_address(0));
}

}  // extern "C"
