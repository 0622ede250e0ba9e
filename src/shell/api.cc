// SPDX-License-Identifier: Apache-2.0
#include "shell/api.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "shell/host.h"

namespace {

using namespace gossamer::shell;

thread_local std::string last_error;

/// Calls `work`; an error of the port becomes -1 and a text.
template <class F>
auto guarded(F&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& error) {
    last_error = error.what();
    return static_cast<decltype(work())>(-1);
  }
}

int code(ShellStatus status) { return static_cast<int>(status); }

std::vector<Mac> macs(const uint64_t* boards, int count) {
  std::vector<Mac> all;
  for (int i = 0; i < count; i++) all.push_back(Mac::of(boards[i]));
  return all;
}

}  // namespace

struct gs_shell_host {
  std::unique_ptr<Host> host;
  Mac mac;
};

extern "C" {

const char* gs_shell_error(void) { return last_error.c_str(); }

gs_shell_host* gs_shell_open(const char* port, uint64_t mac, const uint16_t* ethertypes) {
  try {
    EtherTypes types = ethertypes ? EtherTypes{} : EtherTypes::site();
    if (ethertypes) std::copy_n(ethertypes, types.of.size(), types.of.begin());
    auto opened = open_port(port, types, Mac::of(mac));
    const Mac own = opened->mac();
    return new gs_shell_host{std::make_unique<Host>(std::move(opened), types), own};
  } catch (const std::exception& error) {
    last_error = error.what();
    return nullptr;
  }
}

void gs_shell_free(gs_shell_host* host) { delete host; }
uint64_t gs_shell_mac(gs_shell_host* host) { return host->mac.number(); }
uint32_t gs_shell_mtu(gs_shell_host* host) { return host->host->mtu(); }
uint64_t gs_shell_bytes_sent(gs_shell_host* host) { return host->host->bytes_sent(); }

int gs_shell_discover(gs_shell_host* host, uint32_t wait_ms, gs_shell_board* boards, int most) {
  return guarded([&] {
    int count = 0;
    for (const auto& known : host->host->discover(wait_ms)) {
      if (count++ >= most) continue;
      gs_shell_board& to = boards[count - 1];
      const auto& about = known.about;
      to = {};
      to.mac = known.mac.number();
      to.mac1 = about.mac1;
      to.owner = about.owner;
      to.serial = about.serial;
      to.memory_bytes = about.memory_bytes;
      to.age_ms = static_cast<uint64_t>(
          std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - known.seen).count());
      to.board_type = about.board_type;
      to.sink_rate = about.sink_rate;
      to.image_max_kib = about.image_max;
      to.boot = about.boot;
      to.vendor = about.vendor;
      to.product = about.product;
      to.mtu = about.mtu;
      to.credits = about.credits;
      to.streams = about.streams;
      to.state = static_cast<uint8_t>(about.state);
      for (unsigned i = 0; i < 16; i++)
        to.role[i] = static_cast<uint8_t>(about.role.word[1 - i / 8] >> (56 - 8 * (i % 8)));
    }
    return count;
  });
}

int gs_shell_pump(gs_shell_host* host, uint32_t ms) {
  return guarded([&] { return host->host->pump(ms), 0; });
}

int64_t gs_shell_age(gs_shell_host* host, uint64_t board) { return host->host->age(Mac::of(board)); }
void gs_shell_drop(gs_shell_host* host, uint64_t board) { host->host->drop(Mac::of(board)); }

int gs_shell_session(gs_shell_host* host, uint64_t board, const uint8_t* key, uint32_t lease_ms, int take_over,
                     uint32_t timeout_ms, uint64_t* owner) {
  return guarded([&] {
    Key bytes;
    std::copy_n(key, bytes.size(), bytes.begin());
    Mac other;
    const int status = code(host->host->open(Mac::of(board), bytes, lease_ms, take_over != 0, timeout_ms, &other));
    if (owner) *owner = other.number();
    return status;
  });
}

int gs_shell_close(gs_shell_host* host, uint64_t board) {
  return guarded([&] { return code(host->host->close(Mac::of(board))); });
}

int gs_shell_rekey(gs_shell_host* host, uint64_t board, const uint8_t* salt) {
  return guarded([&] { return code(host->host->rekey(Mac::of(board), {salt, shell_key_bytes})); });
}

void gs_shell_root(const uint8_t* role, size_t bytes, uint8_t* root) {
  std::ranges::copy(make_image({role, bytes}, 0).root, root);
}

int gs_shell_configure(gs_shell_host* host, const uint64_t* boards, int count, const uint8_t* role, size_t bytes,
                       uint32_t board_type, uint32_t flags, uint64_t group, uint32_t drop_ms, double bytes_per_s,
                       gs_shell_progress progress, int* statuses, double* seconds) {
  return guarded([&] {
    const Image image = make_image({role, bytes}, board_type);
    ConfigureOptions options;
    options.auto_load = flags & 1;
    options.unicast = flags & 2;
    if (group) options.group = Mac::of(group);
    options.drop_ms = drop_ms;
    options.bytes_per_s = bytes_per_s;
    if (progress)
      options.progress = [progress](uint64_t sent, uint64_t total, unsigned done) { progress(sent, total, done); };
    const auto all = macs(boards, count);
    const auto results = host->host->configure(all, image, options);
    for (int i = 0; i < count; i++) {
      const auto at = results.find(all[static_cast<size_t>(i)]);
      statuses[i] = code(at == results.end() ? ShellStatus::TimedOut : at->second.status);
      seconds[i] = at == results.end() ? 0 : at->second.seconds;
    }
    return 0;
  });
}

int gs_shell_write(gs_shell_host* host, uint64_t board, uint64_t address, const uint8_t* bytes, size_t count) {
  return guarded([&] { return code(host->host->write(Mac::of(board), address, {bytes, count})); });
}

int gs_shell_read(gs_shell_host* host, uint64_t board, uint64_t address, uint8_t* bytes, size_t count) {
  return guarded([&] { return code(host->host->read(Mac::of(board), address, {bytes, count})); });
}

int gs_shell_write_registers(gs_shell_host* host, uint64_t board, const uint32_t* entries, size_t pairs) {
  return guarded([&] {
    std::vector<ShellRegisterWrite> list(pairs);
    for (size_t i = 0; i < pairs; i++) {
      list[i].address = entries[2 * i];
      list[i].data = entries[2 * i + 1];
    }
    return code(host->host->write_registers(Mac::of(board), list));
  });
}

int gs_shell_read_register(gs_shell_host* host, uint64_t board, uint32_t address, uint32_t* value) {
  return guarded([&] { return code(host->host->read_register(Mac::of(board), address, *value)); });
}

int gs_shell_start(gs_shell_host* host, uint64_t board, uint32_t kernel, uint64_t run) {
  return guarded([&] { return code(host->host->start(Mac::of(board), kernel, run)); });
}

int gs_shell_start_all(gs_shell_host* host, const uint64_t* boards, int count, uint32_t kernel, uint64_t run,
                       int* statuses) {
  return guarded([&] {
    const auto all = macs(boards, count);
    const auto found = host->host->start_all(all, kernel, run);
    for (int i = 0; i < count; i++) statuses[i] = code(found.at(all[static_cast<size_t>(i)]));
    return 0;
  });
}

int gs_shell_wait(gs_shell_host* host, uint64_t board, uint64_t run, uint32_t timeout_ms, gs_shell_run* end) {
  return guarded([&] {
    ShellRun found;
    const int status = code(host->host->wait(Mac::of(board), run, timeout_ms, found));
    *end = {found.cycles, found.result_address, found.result_bytes};
    return status;
  });
}

int gs_shell_result(gs_shell_host* host, uint64_t board, uint64_t run, uint64_t offset, uint8_t* bytes, size_t count) {
  return guarded([&] { return code(host->host->result(Mac::of(board), run, offset, {bytes, count})); });
}

int gs_shell_finish(gs_shell_host* host, uint64_t board, uint64_t run) {
  return guarded([&] { return code(host->host->finish(Mac::of(board), run)); });
}

int gs_shell_send(gs_shell_host* host, uint64_t board, uint32_t stream, const uint8_t* packet, size_t bytes,
                  uint32_t timeout_ms) {
  return guarded([&] { return code(host->host->send(Mac::of(board), stream, {packet, bytes}, timeout_ms)); });
}

long gs_shell_receive(gs_shell_host* host, uint64_t board, uint32_t stream, uint8_t* packet, size_t most,
                      uint32_t timeout_ms) {
  return guarded([&]() -> long {
    const auto found = host->host->receive(Mac::of(board), stream, timeout_ms);
    if (!found) return -2;
    std::copy_n(found->begin(), std::min(most, found->size()), packet);
    return static_cast<long>(found->size());
  });
}

int gs_shell_last_status(gs_shell_host* host, uint64_t board, gs_shell_status* status) {
  const auto* found = host->host->status(Mac::of(board));
  if (!found) return 0;
  *status = {};
  status->uptime_ms = found->uptime;
  status->frames_received = found->frames_received;
  status->frames_sent = found->frames_sent;
  status->bad_frames = found->bad_frames;
  status->bad_tags = found->bad_tags;
  status->replays = found->replays;
  status->rejected = found->rejected;
  status->role_resets = found->role_resets;
  status->memory_frames = found->memory_frames;
  status->messages = found->messages;
  status->overruns = found->overruns;
  status->temperature = found->temperature;
  status->power = found->power;
  status->state = static_cast<uint8_t>(found->state);
  return 1;
}

int64_t gs_shell_missing(gs_shell_host* host, uint64_t board) { return host->host->missing(Mac::of(board)); }

void gs_shell_count_bytes(gs_shell_host* host, uint64_t station, gs_shell_traffic* traffic) {
  const auto& all = host->host->traffic();
  const auto at = all.find(Mac::of(station));
  *traffic = at == all.end() ? gs_shell_traffic{0, 0} : gs_shell_traffic{at->second.sent, at->second.received};
}

int gs_shell_list_unreadable(gs_shell_host* host, gs_shell_unreadable* stations, int most) {
  int count = 0;
  for (const auto& [mac, one] : host->host->unreadable())
    if (count++ < most)
      stations[count - 1] = {mac.number(), one.frames, one.why == Drop::Version ? 1u : 2u, one.version};
  return count;
}

}  // extern "C"
