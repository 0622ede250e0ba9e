// SPDX-License-Identifier: Apache-2.0
// A 4-point stencil on RX x RY ranks: each point becomes the mean of its four neighbours, T times; the boundary of the
// domain is fixed. Each rank has NX / RX rows of NY / RY points, and in every step streams its outer rows and columns
// to its neighbours while it pops theirs, with one port per direction.
//
//   ./gossamer smi run examples/streams/stencil.cpp --ranks 8 -- 4 2 64 64 32 in.bin out.bin
//
// Files hold NX x NY floats, row by row. Every rank writes its own part of the output.
#include <gossamer/smi/smi.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

enum { north, south, west, east };  // port of elements from that direction

struct Domain {
  int rows, columns;          // of this rank
  int up, down, left, right;  // ranks, -1 at the edge
  std::vector<float> now, next;

  float& at(std::vector<float>& grid, int i, int j) const {
    return grid[static_cast<std::size_t>((i + 1) * (columns + 2) + j + 1)];
  }
};

// Exchanges halos with the neighbours.
void exchange(Domain& d) {
  smi::sender<float> to_up(d.columns, d.up, south), to_down(d.columns, d.down, north);
  smi::sender<float> to_left(d.rows, d.left, east), to_right(d.rows, d.right, west);
  smi::receiver<float> from_up(d.columns, d.up, north), from_down(d.columns, d.down, south);
  smi::receiver<float> from_left(d.rows, d.left, west), from_right(d.rows, d.right, east);
  // Interleaves the sides element by element, so a slack of one element suffices on any grid of ranks.
  for (int j = 0; j < d.columns; ++j) {
    if (d.up >= 0) to_up.push(d.at(d.now, 0, j));
    if (d.down >= 0) to_down.push(d.at(d.now, d.rows - 1, j));
    if (d.up >= 0) d.at(d.now, -1, j) = from_up.pop();
    if (d.down >= 0) d.at(d.now, d.rows, j) = from_down.pop();
  }
  for (int i = 0; i < d.rows; ++i) {
    if (d.left >= 0) to_left.push(d.at(d.now, i, 0));
    if (d.right >= 0) to_right.push(d.at(d.now, i, d.columns - 1));
    if (d.left >= 0) d.at(d.now, i, -1) = from_left.pop();
    if (d.right >= 0) d.at(d.now, i, d.columns) = from_right.pop();
  }
}

void step(Domain& d) {
  for (int i = 0; i < d.rows; ++i) {
    for (int j = 0; j < d.columns; ++j) {
      const bool edge = (d.up < 0 && i == 0) || (d.down < 0 && i == d.rows - 1) || (d.left < 0 && j == 0) ||
                        (d.right < 0 && j == d.columns - 1);
      d.at(d.next, i, j) = edge ? d.at(d.now, i, j)
                                : 0.25f * ((d.at(d.now, i - 1, j) + d.at(d.now, i + 1, j)) +
                                           (d.at(d.now, i, j - 1) + d.at(d.now, i, j + 1)));
    }
  }
  d.now.swap(d.next);
}

}  // namespace

int main(int count, char** words) {
  if (count != 8) {
    std::fprintf(stderr, "stencil: give RX RY NX NY T IN OUT\n");
    return 2;
  }
  const int rx = std::atoi(words[1]), ry = std::atoi(words[2]), nx = std::atoi(words[3]), ny = std::atoi(words[4]);
  const int me = SMI_Comm_rank(SMI_COMM_WORLD);
  if (rx < 1 || ry < 1 || rx * ry != SMI_Comm_size(SMI_COMM_WORLD) || nx % rx || ny % ry) {
    std::fprintf(stderr, "stencil: RX x RY must be the number of ranks, and divide NX and NY\n");
    return 2;
  }
  const int x = me / ry, y = me % ry;
  Domain d{nx / rx, ny / ry, x > 0 ? me - ry : -1, x < rx - 1 ? me + ry : -1, y > 0 ? me - 1 : -1,
           y < ry - 1 ? me + 1 : -1, {}, {}};
  d.now.resize(static_cast<std::size_t>((d.rows + 2) * (d.columns + 2)));
  d.next = d.now;
  const auto each_row = [&](std::FILE* file, auto move) {
    for (int i = 0; file && i < d.rows; ++i) {
      std::fseek(file, 4L * ((x * d.rows + i) * static_cast<long>(ny) + y * d.columns), SEEK_SET);
      const auto width = static_cast<std::size_t>(d.columns);
      if (move(&d.at(d.now, i, 0), 4, width, file) != width) return false;
    }
    return file && std::fclose(file) == 0;
  };
  if (!each_row(std::fopen(words[6], "rb"), std::fread)) {
    std::fprintf(stderr, "stencil: %s cannot be read, or has fewer than %d x %d floats\n", words[6], nx, ny);
    return 2;
  }
  for (int t = std::atoi(words[5]); t > 0; --t) {
    exchange(d);
    step(d);
  }
  if (me == 0) std::fclose(std::fopen(words[7], "wb"));
  SMI_Barrier(4, SMI_COMM_WORLD);
  return each_row(std::fopen(words[7], "r+b"), std::fwrite) ? 0 : 2;
}
