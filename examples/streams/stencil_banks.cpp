// SPDX-License-Identifier: Apache-2.0
// The stencil of stencil.cpp as a pipeline over DRAM banks: each rank reads and writes 16 points a cycle in each of B
// banks, and streams its borders to its neighbours while it computes its interior.
//
//   ./gossamer smi run examples/streams/stencil_banks.cpp --cluster torus8 --engine rtl -- \
//     2 4 4 256 256 4 in.bin out.bin
//
// Arguments: RX RY B NX NY T IN OUT. A rank has NX / RX rows (3 or more) of NY / RY points, a multiple of 16 B. Point j
// of a row is in bank j / 16 % B. In a step, a rank computes its last row first, then the others from the first one on;
// so it sends both rows that neighbours need early, and they have a whole step to arrive.
//
//   banks --> sweep --> banks         of the next step
//              ^  \--> neighbours     borders of the next step: rows through kernels of their own, columns at once
//              \------ neighbours     borders of this step, popped into buffers of a row or column
#include <gossamer/smi/smi.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

enum { north, south, west, east };  // port of elements from that direction
constexpr int lanes = 16, most_banks = 8;

struct Domain {
  int rows, columns, banks, steps;
  int up, down, left, right;                            // ranks, -1 at the edge
  std::array<std::array<float*, most_banks>, 2> grids;  // of even and odd steps; one part per bank
  std::array<std::vector<float>, 4> border;             // of the first step, from each side
  std::array<SMI_Fifo, 4> in, out;                      // borders to and from kernels that pop and push

  int width() const { return lanes * banks; }
  int chunks() const { return columns / width(); }
  // A chunk is the data that all banks move in a cycle.
  std::size_t place(int row, int chunk) const { return static_cast<std::size_t>((row * chunks() + chunk) * lanes); }
};

using Chunk = std::array<float, lanes * most_banks>;

int bytes_of(const Domain& d) { return 4 * d.width(); }

// ---- Borders -----------------------------------------------------------------------

// Ports must be constants, so that hardware can be generated for them.
SMI_Channel send_to(int port, int count, int rank) {
  switch (port) {
    case north: return SMI_Open_send_channel(count, SMI_FLOAT, rank, north, SMI_COMM_WORLD);
    case south: return SMI_Open_send_channel(count, SMI_FLOAT, rank, south, SMI_COMM_WORLD);
    case west: return SMI_Open_send_channel(count, SMI_FLOAT, rank, west, SMI_COMM_WORLD);
    default: return SMI_Open_send_channel(count, SMI_FLOAT, rank, east, SMI_COMM_WORLD);
  }
}

SMI_Channel receive_from(int port, int count, int rank) {
  switch (port) {
    case north: return SMI_Open_recv_channel(count, SMI_FLOAT, rank, north, SMI_COMM_WORLD);
    case south: return SMI_Open_recv_channel(count, SMI_FLOAT, rank, south, SMI_COMM_WORLD);
    case west: return SMI_Open_recv_channel(count, SMI_FLOAT, rank, west, SMI_COMM_WORLD);
    default: return SMI_Open_recv_channel(count, SMI_FLOAT, rank, east, SMI_COMM_WORLD);
  }
}

// A stream between a sweep and a neighbour: parts of `each` points, with a buffer of one row or column.
struct Side {
  SMI_Fifo* fifo;
  int port, rank, steps, count, each;
};

void push_border(Side s) {
  for (int t = 1; t < s.steps; ++t) {
    SMI_Channel out = send_to(s.port, s.count, s.rank);
    for (int i = 0; i < s.count; i += s.each) {
      Chunk part;
      SMI_Fifo_read(s.fifo, part.data(), 4 * s.each, s.count / s.each, "border");
      for (int j = 0; j < s.each; ++j) SMI_Push(&out, &part[static_cast<std::size_t>(j)]);
    }
  }
}

void pop_border(Side s) {
  for (int t = 1; t < s.steps; ++t) {
    SMI_Channel in = receive_from(s.port, s.count, s.rank);
    for (int i = 0; i < s.count; i += s.each) {
      Chunk part;
      for (int j = 0; j < s.each; ++j) SMI_Pop(&in, &part[static_cast<std::size_t>(j)]);
      SMI_Fifo_write(s.fifo, part.data(), 4 * s.each, s.count / s.each, "border");
    }
  }
}

// Both kernels of a side; `far` is the neighbour's port for this rank.
void start_side(Domain& d, int near, int far, int rank) {
  if (rank < 0) return;
  const bool row = near == north || near == south;
  const int count = row ? d.columns : d.rows, each = row ? d.width() : 1;
  const auto in = static_cast<std::size_t>(near), out = static_cast<std::size_t>(far);
  smi::start("push", push_border, Side{&d.out[out], far, rank, d.steps, count, each});
  smi::start("pop", pop_border, Side{&d.in[in], near, rank, d.steps, count, each});
}

// ---- A step ------------------------------------------------------------------------

struct Streams {
  std::array<SMI_Bank_stream, most_banks> of;
};

Streams open(const Domain& d, int grid, int row, int count, bool writes) {
  Streams found{};
  for (std::size_t b = 0; b < static_cast<std::size_t>(d.banks); ++b) {
    float* at = d.grids[static_cast<std::size_t>(grid)][b] + d.place(row, 0);
    const auto bytes = 4ull * d.place(count, 0);
    found.of[b] = writes ? SMI_Open_bank_write(at, bytes) : SMI_Open_bank_read(at, bytes);
  }
  return found;
}

struct Sweep {
  Domain& d;
  int t;
  // The shift registers: a row, plus one point at each end.
  std::vector<float> above, here, below;

  Sweep(Domain& domain, int step) : d(domain), t(step) {
    for (auto* row : {&above, &here, &below}) row->resize(static_cast<std::size_t>(d.columns) + 2);
  }

  // Pops a part of a border row into the registers `to`.
  void border_chunk(int port, int k, std::vector<float>& to) {
    float* at = to.data() + 1 + k * d.width();
    if (t)
      SMI_Fifo_read(&d.in[static_cast<std::size_t>(port)], at, bytes_of(d), d.chunks(), "row");
    else
      std::copy_n(d.border[static_cast<std::size_t>(port)].data() + k * d.width(), d.width(), at);
  }

  float border_point(int port, int row) {
    const auto side = static_cast<std::size_t>(port);
    float value = d.border[side][static_cast<std::size_t>(row)];
    if (t) SMI_Fifo_read(&d.in[side], &value, sizeof value, d.rows, "column");
    return value;
  }

  void read_chunk(Streams& from, int k) {
    for (int b = 0; b < d.banks; ++b) {
      SMI_Bank_read(&from.of[static_cast<std::size_t>(b)], below.data() + 1 + k * d.width() + b * lanes, 4 * lanes);
    }
  }

  void shift() {
    above.swap(here);
    here.swap(below);
  }

  // Writes points of the row in `here`.
  void write_chunk(Streams& to, int row, int k) {
    if (k == 0) {
      if (d.left >= 0) here.front() = border_point(west, row);
      if (d.right >= 0) here.back() = border_point(east, row);
    }
    const bool fixed = (row == 0 && d.up < 0) || (row == d.rows - 1 && d.down < 0);
    const float *a = above.data() + 1 + k * d.width(), *h = here.data() + 1 + k * d.width(),
                *b = below.data() + 1 + k * d.width();
    Chunk chunk;
    for (int j = 0; j < d.width(); ++j) {
      chunk[static_cast<std::size_t>(j)] = fixed ? h[j] : 0.25f * ((a[j] + b[j]) + (h[j - 1] + h[j + 1]));
    }
    const auto last = static_cast<std::size_t>(d.width() - 1);
    if (k == 0 && d.left < 0) chunk[0] = h[0];
    if (k == d.chunks() - 1 && d.right < 0) chunk[last] = h[last];
    for (int part = 0; part < d.banks; ++part) {
      SMI_Bank_write(&to.of[static_cast<std::size_t>(part)], chunk.data() + part * lanes, 4 * lanes);
    }
    if (t + 1 == d.steps) return;
    if (row == 0 && d.up >= 0) SMI_Fifo_write(&d.out[south], chunk.data(), bytes_of(d), d.chunks(), "row");
    if (row == d.rows - 1 && d.down >= 0) SMI_Fifo_write(&d.out[north], chunk.data(), bytes_of(d), d.chunks(), "row");
    if (k == 0 && d.left >= 0) SMI_Fifo_write(&d.out[east], chunk.data(), sizeof(float), d.rows, "column");
    if (k == d.chunks() - 1 && d.right >= 0) {
      SMI_Fifo_write(&d.out[west], &chunk[last], sizeof(float), d.rows, "column");
    }
  }

  void run() {
    const int from = t % 2, to = 1 - from;
    Streams end = open(d, from, d.rows - 2, 2, false), all = open(d, from, 0, d.rows, false);
    Streams last = open(d, to, d.rows - 1, 1, true), others = open(d, to, 0, d.rows - 1, true);
    for (int row = 0; row < 2; ++row) {
      for (int k = 0; k < d.chunks(); ++k) read_chunk(end, k);
      shift();
    }
    for (int k = 0; k < d.chunks(); ++k) {
      if (d.down >= 0) border_chunk(south, k, below);
      write_chunk(last, d.rows - 1, k);
    }
    if (d.up >= 0) {
      for (int k = 0; k < d.chunks(); ++k) border_chunk(north, k, here);
    }
    for (int row = 0; row < d.rows; ++row) {
      for (int k = 0; k < d.chunks(); ++k) {
        read_chunk(all, k);
        if (row) write_chunk(others, row - 1, k);
      }
      shift();
    }
    for (std::size_t b = 0; b < static_cast<std::size_t>(d.banks); ++b) {
      SMI_Bank_flush(&last.of[b]);
      SMI_Bank_flush(&others.of[b]);
    }
  }
};

// ---- The rank's part of a file -----------------------------------------------------

bool load(Domain& d, std::FILE* file, int x, int y, int ny) {
  const auto read = [&](int row, int column, int count, float* to) {
    const long at = 4L * ((x * d.rows + row) * static_cast<long>(ny) + y * d.columns + column);
    const auto wanted = static_cast<std::size_t>(count);
    return std::fseek(file, at, SEEK_SET) == 0 && std::fread(to, 4, wanted, file) == wanted;
  };
  for (int side = 0; side < 4; ++side) {
    d.border[static_cast<std::size_t>(side)].resize(static_cast<std::size_t>(side < west ? d.columns : d.rows));
  }
  bool good = file && (d.up < 0 || read(-1, 0, d.columns, d.border[north].data()));
  good = good && (d.down < 0 || read(d.rows, 0, d.columns, d.border[south].data()));
  std::vector<float> row(static_cast<std::size_t>(d.columns) + 2);
  for (int i = 0; good && i < d.rows; ++i) {
    const int before = d.left >= 0, behind = d.right >= 0;
    good = read(i, -before, d.columns + before + behind, row.data() + 1 - before);
    const auto at = static_cast<std::size_t>(i);
    d.border[west][at] = row.front();
    d.border[east][at] = row.back();
    for (int j = 0; j < d.columns; ++j) {
      const auto bank = static_cast<std::size_t>(j / lanes % d.banks);
      d.grids[0][bank][d.place(i, j / d.width()) + static_cast<std::size_t>(j % lanes)] =
          row[static_cast<std::size_t>(j) + 1];
    }
  }
  if (file) std::fclose(file);
  return good;
}

bool save(const Domain& d, std::FILE* file, int x, int y, int ny) {
  std::vector<float> row(static_cast<std::size_t>(d.columns));
  bool good = file;
  for (int i = 0; good && i < d.rows; ++i) {
    for (int j = 0; j < d.columns; ++j) {
      const auto bank = static_cast<std::size_t>(j / lanes % d.banks), grid = static_cast<std::size_t>(d.steps % 2);
      row[static_cast<std::size_t>(j)] =
          d.grids[grid][bank][d.place(i, j / d.width()) + static_cast<std::size_t>(j % lanes)];
    }
    good = std::fseek(file, 4L * ((x * d.rows + i) * static_cast<long>(ny) + y * d.columns), SEEK_SET) == 0 &&
           std::fwrite(row.data(), 4, row.size(), file) == row.size();
  }
  return file && std::fclose(file) == 0 && good;
}

}  // namespace

int main(int count, char** words) {
  if (count != 9) {
    std::fprintf(stderr, "stencil: give RX RY BANKS NX NY T IN OUT\n");
    return 2;
  }
  std::array<int, 6> n;
  for (std::size_t at = 0; at < n.size(); ++at) n[at] = std::atoi(words[at + 1]);
  const auto [rx, ry, banks, nx, ny, steps] = n;
  const int me = SMI_Comm_rank(SMI_COMM_WORLD);
  if (rx < 1 || ry < 1 || rx * ry != SMI_Comm_size(SMI_COMM_WORLD) || nx % rx || nx / rx < 3 || ny % ry) {
    std::fprintf(stderr, "stencil: RX x RY must be the number of ranks, and divide NX (into 3 or more) and NY\n");
    return 2;
  }
  if (banks < 1 || banks > most_banks || steps < 1 || ny / ry < lanes * banks || ny / ry % (lanes * banks)) {
    std::fprintf(stderr, "stencil: give 1 to %d banks, 1 step or more, and NY / RY a multiple of 16 x BANKS\n",
                 most_banks);
    return 2;
  }
  const int x = me / ry, y = me % ry;
  auto* d = new Domain{nx / rx,
                       ny / ry,
                       banks,
                       steps,
                       x > 0 ? me - ry : -1,
                       x < rx - 1 ? me + ry : -1,
                       y > 0 ? me - 1 : -1,
                       y < ry - 1 ? me + 1 : -1,
                       {},
                       {},
                       {},
                       {}};
  for (auto& grid : d->grids) {
    for (int b = 0; b < banks; ++b) {
      grid[static_cast<std::size_t>(b)] =
          static_cast<float*>(SMI_Bank_alloc(b, 4ull * static_cast<unsigned>(d->rows * (d->columns / banks))));
    }
  }
  if (!load(*d, std::fopen(words[7], "rb"), x, y, ny)) {
    std::fprintf(stderr, "stencil: %s cannot be read, or has fewer than %d x %d floats\n", words[7], nx, ny);
    return 2;
  }
  start_side(*d, north, south, d->up);
  start_side(*d, south, north, d->down);
  start_side(*d, west, east, d->left);
  start_side(*d, east, west, d->right);
  for (int t = 0; t < steps; ++t) Sweep(*d, t).run();
  if (me == 0) std::fclose(std::fopen(words[8], "wb"));
  SMI_Barrier(4, SMI_COMM_WORLD);
  return save(*d, std::fopen(words[8], "r+b"), x, y, ny) ? 0 : 2;
}
