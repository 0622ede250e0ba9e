// SPDX-License-Identifier: Apache-2.0
/// Writes Perfetto's binary traces: a stream of TracePackets, in the encoding of protocol buffers.
///
/// Numbers of fields are those of the public schema (perfetto_trace.proto). All packets are of one sequence; names are
/// interned in the packet that first uses them. Times are nanoseconds.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gossamer::sim::perfetto {

/// Fields of one message, encoded.
class Fields {
 public:
  void number(unsigned field, uint64_t value) {
    varint(uint64_t{field} << 3);
    varint(value);
  }
  void fixed(unsigned field, uint64_t value) {
    varint(uint64_t{field} << 3 | 1);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void real(unsigned field, double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    fixed(field, bits);
  }
  void text(unsigned field, std::string_view value) {
    varint(uint64_t{field} << 3 | 2);
    varint(value.size());
    bytes_.append(value);
  }
  void message(unsigned field, const Fields& inner) { text(field, inner.bytes_); }
  void clear() { bytes_.clear(); }
  bool empty() const { return bytes_.empty(); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  std::string bytes_;
};

/// Position of a track among those of its parent.
struct TrackPosition {
  uint64_t parent = 0;  ///< 0: none
  unsigned rank = 0;    ///< among its siblings, from the top
};

class File {
 public:
  ~File() { close(); }

  bool open(const char* path) {
    file_ = std::fopen(path, "wb");
    if (!file_) return false;
    std::setvbuf(file_, nullptr, _IOFBF, 1 << 20);
    first_ = true;
    return true;
  }
  bool is_open() const { return file_ != nullptr; }
  /// False if the file could not be written completely.
  bool close() {
    if (!file_) return true;
    bool good = !std::ferror(file_);
    good = !std::fclose(file_) && good;
    file_ = nullptr;
    return good;
  }

  // ---- Tracks ----

  void track(uint64_t id, std::string_view name, TrackPosition position) {
    descriptor(id, name, position);
    put_descriptor();
  }
  /// A track that is a process, which groups the tracks below it.
  void process(uint64_t id, unsigned pid, std::string_view name) {
    Fields process;
    process.number(1, pid);
    process.text(6, name);
    descriptor(id, {}, {0, pid});
    descriptor_.message(3, process);
    put_descriptor();
  }
  void counter(uint64_t id, std::string_view name, std::string_view unit, TrackPosition position) {
    Fields counter;
    counter.text(6, unit);
    descriptor(id, name, position);
    descriptor_.message(8, counter);
    put_descriptor();
  }

  // ---- Events: first the annotations of an event, then the event itself ----

  void note(std::string_view name, uint64_t value) { annotation(name, 3, value); }
  void address(std::string_view name, uint64_t value) { annotation(name, 7, value); }
  void note(std::string_view name, std::string_view value) {
    annotation_.clear();
    annotation_.number(1, intern(annotations_, 3, name));
    annotation_.number(17, intern(strings_, 29, value));
    event_.message(4, annotation_);
  }
  /// Begin or end of an arrow.
  void flow(uint64_t id, bool ends) { event_.fixed(ends ? 48 : 47, id); }

  void begin(uint64_t track, uint64_t time, std::string_view name) { event(kBegin, track, time, name); }
  void end(uint64_t track, uint64_t time) { event(kEnd, track, time, {}); }
  void instant(uint64_t track, uint64_t time, std::string_view name) { event(kInstant, track, time, name); }
  void value(uint64_t track, uint64_t time, double value) {
    event_.real(44, value);
    event(kCounter, track, time, {});
  }

 private:
  using Names = std::unordered_map<std::string, uint64_t>;
  enum Type : unsigned { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };
  static constexpr unsigned kSequence = 1, kCleared = 1, kNeedsState = 2, kExplicitOrder = 3;

  /// The number of a name; a new name is interned in the packet that is being composed.
  uint64_t intern(Names& names, unsigned field, std::string_view name) {
    const auto [at, is_new] = names.try_emplace(std::string(name), names.size() + 1);
    if (is_new) {
      Fields entry;
      entry.number(1, at->second);
      entry.text(2, name);
      interned_.message(field, entry);
    }
    return at->second;
  }

  void annotation(std::string_view name, unsigned field, uint64_t value) {
    annotation_.clear();
    annotation_.number(1, intern(annotations_, 3, name));
    annotation_.number(field, value);
    event_.message(4, annotation_);
  }

  void event(Type type, uint64_t track, uint64_t time, std::string_view name) {
    event_.number(9, type);
    event_.number(11, track);
    if (!name.empty()) event_.number(10, intern(names_, 2, name));
    packet_.clear();
    packet_.number(8, time);
    packet_.message(11, event_);
    if (!interned_.empty()) packet_.message(12, interned_);
    packet_.number(13, kNeedsState);
    event_.clear();
    interned_.clear();
    put();
  }

  void descriptor(uint64_t id, std::string_view name, TrackPosition position) {
    descriptor_.clear();
    descriptor_.number(1, id);
    if (!name.empty()) descriptor_.text(2, name);
    if (position.parent) descriptor_.number(5, position.parent);
    descriptor_.number(11, kExplicitOrder);
    descriptor_.number(12, position.rank);
  }
  void put_descriptor() {
    packet_.clear();
    packet_.message(60, descriptor_);
    packet_.number(13, first_ ? kCleared : kNeedsState);
    first_ = false;
    put();
  }
  void put() {
    packet_.number(10, kSequence);
    framed_.clear();
    framed_.message(1, packet_);
    std::fwrite(framed_.bytes().data(), 1, framed_.bytes().size(), file_);
  }

  std::FILE* file_ = nullptr;
  bool first_ = true;
  Fields packet_, event_, descriptor_, annotation_, interned_, framed_;
  Names names_, annotations_, strings_;
};

}  // namespace gossamer::sim::perfetto
