// SPDX-License-Identifier: Apache-2.0
// Streaming ports, switch, and the adapters between switch and links. Paths are relative to rtl/.
-f switch/switch.f
-f stream/stream.f
stream/gs_stream_transport.sv
