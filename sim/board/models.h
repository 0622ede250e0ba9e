// SPDX-License-Identifier: Apache-2.0
/// The models of a simulated board: one per tile of the mesh, one of the uncore, and the signals between them.
///
/// All ports of the models are registered, so each model is evaluated once a cycle, then they exchange their outputs.
/// Outputs are double-buffered by the parity of the cycle; neighbours read them in the next cycle. A flit is copied
/// only if it is valid.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "Vgs_sim_mesh_tile.h"
#include "network.h"
#include "probe.h"
#include "idle_skip.h"
#include "instance.h"

#ifdef GS_TOGETHER
void gs_eval_together(Vgs_sim_mesh_tile* const* models, unsigned count, bool inputs);
#endif

namespace gossamer::sim {

/// The column of an exit of the mesh; they are numbered from the west (gs_noc_pkg).
constexpr unsigned exit_column(unsigned number) {
  return (2 * number + 1) * config::mesh::width / (2 * config::router::mesh_ports);
}

/// `RestModel` is the model of the uncore: the board without its tiles.
template <typename RestModel>
class BoardModels {
 public:
  static constexpr unsigned kWidth = config::mesh::width, kHeight = config::mesh::height;
  static constexpr unsigned kTiles = kWidth * kHeight, kExits = config::router::mesh_ports;
  static constexpr unsigned kCaches = config::derived::caches / kTiles;
  using TileModel = Vgs_sim_mesh_tile;
  template <typename Port>
  using Element = std::remove_cvref_t<decltype(std::declval<Port>()[0])>;
  using Cluster = std::remove_cvref_t<decltype(TileModel::cluster_i)>;
  using Wire = Element<decltype(TileModel::mesh_out_o)&>;

  BoardModels(int argc, char** argv, unsigned board) : rest_(argc, argv, "rest") {
    for (unsigned t = 0; t < kTiles; ++t) {
      tiles_.push_back(std::make_unique<Tile>(argc, argv, "tile" + std::to_string(t)));
      TileModel& model = tiles_[t]->model;
      model.board_i = board;
      model.tile_x_i = t % kWidth;
      model.tile_y_i = t / kWidth;
      model.host_i = 0;
      model.job_i = 0;
      model.cluster_i = 0;
    }
  }

  ~BoardModels() {
    for (auto& tile : tiles_) tile->model.final();
    rest_.model.final();
#if VM_TRACE
    if (fst_) fst_->close();
#endif
  }
  BoardModels(const BoardModels&) = delete;
  BoardModels& operator=(const BoardModels&) = delete;

  RestModel& rest() { return rest_.model; }
  VerilatedContext& rest_context() { return rest_.context; }
  TileModel& tile(unsigned number) { return tiles_[number]->model; }
  /// Flits that a tile has sent since reset, by direction.
  const uint64_t* flits(unsigned tile) const { return tiles_[tile]->sent; }
  /// Cycles since reset in which a tile was not evaluated, because it was idle.
  uint64_t skipped(unsigned tile) const { return tiles_[tile]->rest.skipped(); }

  /// Evaluates each model once separately, which the joint evaluation requires.
  void settle() {
    for (auto& tile : tiles_) tile->model.eval();
    rest_.model.eval();
  }

  bool find(Probe* probes) {
    for (unsigned t = 0; t < kTiles; ++t) {
      if (!probes[t].find(tiles_[t]->context, kThreadsPerCore)) return false;
    }
    return true;
  }

#if VM_TRACE
  bool open_waves(const char* path, unsigned tile) {
    if (fst_) return true;
    fst_ = std::make_unique<VerilatedFstC>();
    if (tiles_[tile]->rest.asleep()) wake(*tiles_[tile]);
    tiles_[tile]->sleeps = false;
    tiles_[tile]->model.trace(fst_.get(), 99);
    fst_->open(path);
    return fst_->isOpen();
  }
  void flush_waves() {
    if (fst_) fst_->flush();
  }
  void dump_waves(uint64_t time) {
    if (fst_) fst_->dump(time);
  }
#endif

  // ---- A tile ----

  /// The first half of a cycle, before the evaluation: sets the tile's inputs. False if the tile sleeps and must not be
  /// evaluated.
  bool low_tile(unsigned t, unsigned now, bool reset) {
    Tile& tile = *tiles_[t];
    TileModel& model = tile.model;
    const Given& given = tile.given[now];
    const bool same =
        model.job_i == given.job && model.host_i == given.host && model.cluster_i == given.cluster;
    tile.idle = same && !reset && !given.debug_valid && inputs_idle(t, now);
    if (tile.rest.asleep()) {
      if (tile.idle) {
        tile.rest.sleep();
        return false;
      }
      wake(tile);
    }
    model.clk_i = 0;
    model.rst_ni = !reset;
    model.dbg_in_valid_i = given.debug_valid;
    if (given.debug_valid) model.dbg_in_data_i = given.debug_data;
    model.dbg_out_ready_i = given.debug_ready;
    for (unsigned d = 0; d < kDirections; ++d) {
      const Link* link = across(t, d, now);
      if (!link) continue;
      model.mesh_in_valid_i[d] = link->valid;
      model.mesh_out_credit_i[d] = link->credit;
      if (link->valid) model.mesh_in_i[d] = link->flit;
    }
    for (unsigned c = 0; c < kCaches; ++c) {
      const Answer& answer = given.answer[c];
      model.mem_req_ready_i[c] = answer.req_ready;
      model.mem_rsp_valid_i[c] = answer.rsp_valid;
      if (answer.rsp_valid) model.mem_rsp_i[c] = answer.rsp;
    }
    model.idle_command_i = given.command;
    model.job_i = given.job;
    model.host_i = given.host;
    model.cluster_i = given.cluster;
    return true;
  }

  /// The second half, after the evaluation: stores the tile's outputs for the next cycle.
  void high_tile(unsigned t, unsigned next) {
    Tile& tile = *tiles_[t];
    if (tile.rest.asleep()) return;
    TileModel& model = tile.model;
    Shown& shown = tile.shown[next];
    shown.debug_ready = model.dbg_in_ready_o;
    shown.debug_valid = model.dbg_out_valid_o;
    shown.debug_data = model.dbg_out_data_o;
    bool idle = tile.idle && !shown.debug_valid;
    for (unsigned d = 0; d < kDirections; ++d) {
      Link& link = shown.link[d];
      link.valid = model.mesh_out_valid_o[d];
      link.credit = model.mesh_in_credit_o[d];
      idle &= !(link.valid | link.credit);
      if (link.valid) {
        link.flit = model.mesh_out_o[d];
        ++tile.sent[d];
      }
    }
    for (unsigned c = 0; c < kCaches; ++c) {
      Memory& memory = shown.memory[c];
      memory.req_valid = model.mem_req_valid_o[c];
      memory.rsp_ready = model.mem_rsp_ready_o[c];
      idle &= !memory.req_valid && memory.rsp_ready == tile.shown[!next].memory[c].rsp_ready;
      if (memory.req_valid) memory.req = model.mem_req_o[c];
    }
    shown.idle = model.idle_o;
    shown.started = model.started_o;
    // The outputs of a sleeping tile are in both buffers.
    const Shown& before = tile.shown[!next];
    idle = idle && shown.started == before.started && !before.debug_valid && shown.debug_ready == before.debug_ready &&
           !std::memcmp(&shown.idle, &before.idle, sizeof shown.idle);
    if (tile.sleeps) tile.rest.observe(*model.rootp, idle);
  }

  // ---- The uncore, without its host ----

  void low_rest(unsigned now, bool reset) {
    RestModel& model = rest_.model;
    model.clk_i = 0;
    model.rst_ni = !reset;
    for (unsigned t = 0; t < kTiles; ++t) {
      const Shown& shown = tiles_[t]->shown[now];
      for (unsigned c = 0; c < kCaches; ++c) {
        const Memory& memory = shown.memory[c];
        const unsigned cache = t * kCaches + c;
        model.mem_req_valid_i[cache] = memory.req_valid;
        model.mem_rsp_ready_i[cache] = memory.rsp_ready;
        if (memory.req_valid) model.mem_req_i[cache] = memory.req;
      }
      model.idle_i[t] = shown.idle;
      model.started_i[t] = shown.started;
      model.dbg_in_ready_i[t] = shown.debug_ready;
      model.dbg_out_valid_i[t] = shown.debug_valid;
      model.dbg_out_data_i[t] = shown.debug_data;
      if (const unsigned e = exit_of(t); e < kExits) {
        const Link& link = shown.link[kNorth];
        model.mesh_in_valid_i[e] = link.valid;
        model.mesh_out_credit_i[e] = link.credit;
        if (link.valid) model.mesh_in_i[e] = link.flit;
      }
    }
  }

  void high_rest(unsigned next) {
    RestModel& model = rest_.model;
    for (unsigned t = 0; t < kTiles; ++t) {
      Given& given = tiles_[t]->given[next];
      for (unsigned c = 0; c < kCaches; ++c) {
        Answer& answer = given.answer[c];
        const unsigned cache = t * kCaches + c;
        answer.req_ready = model.mem_req_ready_o[cache];
        answer.rsp_valid = model.mem_rsp_valid_o[cache];
        if (answer.rsp_valid) answer.rsp = model.mem_rsp_o[cache];
      }
      given.debug_valid = model.dbg_in_valid_o[t];
      given.debug_data = model.dbg_in_data_o;
      given.debug_ready = model.dbg_out_ready_o[t];
      given.command = model.idle_command_o[t];
      given.job = model.job_o[t];
      given.host = model.host_o[t];
      given.cluster = model.cluster_o;
    }
    for (unsigned e = 0; e < kExits; ++e) {
      Link& link = rim_[next][e];
      link.valid = model.mesh_out_valid_o[e];
      link.credit = model.mesh_in_credit_o[e];
      if (link.valid) link.flit = model.mesh_out_o[e];
    }
  }

 private:
  using Request = Element<decltype(TileModel::mem_req_o)&>;
  using Response = Element<decltype(TileModel::mem_rsp_i)&>;
  using Status = std::remove_cvref_t<decltype(TileModel::idle_o)>;

  enum Direction : unsigned { kNorth, kSouth, kEast, kWest, kDirections };

  /// Outputs of one end of a link: a flit, if a network's bit is set, and credits for flits of the opposite direction.
  struct Link {
    uint8_t valid = 0;
    uint8_t credit = 0;
    Wire flit;
  };
  struct Memory {
    uint8_t req_valid = 0, rsp_ready = 0;
    Request req;
  };
  struct Answer {
    uint8_t req_ready = 0, rsp_valid = 0;
    Response rsp;
  };
  /// Outputs of a tile after a cycle.
  struct alignas(128) Shown {
    Link link[kDirections];
    Memory memory[kCaches];
    Status idle;
    uint8_t started = 0;
    uint8_t debug_ready = 0, debug_valid = 0, debug_data = 0;  ///< debug bus: ready for a byte; a byte
  };
  /// Outputs of the uncore to a tile.
  struct alignas(128) Given {
    Answer answer[kCaches];
    uint32_t command = 0;  ///< idle_command_t
    uint32_t host = 0;     ///< address of the host of its reports
    Cluster cluster = 0;
    uint8_t job = 0;
    uint8_t debug_valid = 0, debug_data = 0, debug_ready = 0;  ///< debug bus: a byte; ready for one
  };

  struct Tile : Instance<TileModel> {
    using Instance<TileModel>::Instance;
    Shown shown[2];
    Given given[2];
    bool idle = false;                    ///< its inputs are idle in this cycle
    bool sleeps = true;                    ///< it may sleep: its waves are not recorded
    TileIdleSkip rest;
    uint64_t sent[kDirections]{};          ///< flits
  };

  /// Whether a tile's inputs from its neighbours, the memory and idle detection are idle and stable.
  bool inputs_idle(unsigned t, unsigned now) const {
    const Tile& tile = *tiles_[t];
    const Given& given = tile.given[now];
    if (given.command != tile.model.idle_command_i) return false;
    for (unsigned c = 0; c < kCaches; ++c) {
      const Answer& answer = given.answer[c];
      if (answer.rsp_valid || answer.req_ready != tile.model.mem_req_ready_i[c]) return false;
    }
    for (unsigned d = 0; d < kDirections; ++d) {
      const Link* link = across(t, d, now);
      if (link && (link->valid | link->credit)) return false;
    }
    return true;
  }

  /// Brings a sleeping tile up to date. Its inputs have not changed meanwhile.
  void wake(Tile& tile) {
    TileModel* const model = &tile.model;
    for (uint64_t left = tile.rest.wake(*model->rootp); left; --left) {
      model->clk_i = 0;
      evaluate_together(&model, 1, true);
      model->clk_i = 1;
      evaluate_together(&model, 1, false);
    }
  }

  /// The exit in the column of a tile of the northern row, kExits if the column has none.
  static unsigned exit_of(unsigned tile) {
    if (tile / kWidth != kHeight - 1) return kExits;
    for (unsigned e = 0; e < kExits; ++e) {
      if (exit_column(e) == tile % kWidth) return e;
    }
    return kExits;
  }

  /// The link outputs towards a tile from a direction; null at the edge of the mesh.
  const Link* across(unsigned tile, unsigned direction, unsigned now) const {
    const unsigned x = tile % kWidth, y = tile / kWidth;
    switch (direction) {
      case kNorth:
        if (y + 1 < kHeight) return &tiles_[tile + kWidth]->shown[now].link[kSouth];
        return exit_of(tile) < kExits ? &rim_[now][exit_of(tile)] : nullptr;
      case kSouth: return y ? &tiles_[tile - kWidth]->shown[now].link[kNorth] : nullptr;
      case kEast: return x + 1 < kWidth ? &tiles_[tile + 1]->shown[now].link[kWest] : nullptr;
      default: return x ? &tiles_[tile - 1]->shown[now].link[kEast] : nullptr;
    }
  }

  static_assert(sizeof(Wire) == sizeof(Flit));
  static_assert(std::is_same_v<Request, Element<decltype(RestModel::mem_req_i)&>>);

  std::vector<std::unique_ptr<Tile>> tiles_;
  Instance<RestModel> rest_;
  Link rim_[2][kExits];  ///< outputs of the uncore at the exits
#if VM_TRACE
  std::unique_ptr<VerilatedFstC> fst_;
#endif
};

}  // namespace gossamer::sim
