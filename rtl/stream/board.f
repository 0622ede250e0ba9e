// SPDX-License-Identifier: Apache-2.0
// A board with streaming ports only. Paths are relative to rtl/.
-f link/link.f
-f stream/transport.f
stream/gs_stream_board.sv
