# SPDX-License-Identifier: Apache-2.0
"""Which packets a guest may send through the host's port: boards trust that port, and guests share it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gossamer.config import constants

_WORDS = 6
"""Words of a flit: payload, destination, sideband."""
_SIDEBAND = 160
_LOADS = ("write", "fill", "read", "write_instr", "read_instr")

Column = NDArray[np.uint32]


def fault(payload: bytes, job: int, boards: Sequence[int], root: int) -> str:
    """Why flits are not packets that the guest with this job and these boards may send; empty if they are.

    It may send requests to loaders of its tiles, also through the control unit of board ``root``, which relays them to
    the job's boards, and accesses of registers. All packets must be of its job.
    """
    if len(payload) % (4 * _WORDS):
        return "an incomplete flit"
    flits = np.frombuffer(payload, "<u4").reshape(-1, _WORDS)
    if not len(flits):
        return ""
    last = _sideband(flits, "last") != 0
    if not last[-1]:
        return "a packet without its last flit"
    if (_sideband(flits, "job") != job).any():
        return "a packet of another job"
    head = np.append(True, last[:-1])
    control, request = (constants.enumeration("vnet")[name] for name in ("control", "request"))
    network = _sideband(flits, "vnet")
    dest = flits[:, 4]
    packet = np.cumsum(head) - 1
    if (dest != dest[head][packet]).any() or (network != network[head][packet]).any():
        return "a packet whose flits differ in destination or network"
    dest, network = dest[head], network[head]
    header = constants.enumeration("flit_kind")["header"]
    body = constants.enumeration("flit_kind")["body"]
    kinds = _sideband(flits, "kind")
    if (kinds[head] != np.where(network == control, body, header)).any() or (kinds[~head] != body).any():
        return "a flit of a kind that no loader receives"
    board = _field(dest, "address_tile", "board")
    kind = _field(dest, "address_tile", "kind")
    to_tile = kind == constants.enumeration("endpoint")["tile"]
    to_unit = kind == constants.enumeration("endpoint")["control"]
    if (to_tile & ~np.isin(board, np.asarray(boards, np.int64))).any():
        return "a packet to a tile of another job"
    operation = flits[head, 0] & 0xF
    loads = (network == request) & np.isin(operation, [constants.enumeration("load_op")[name] for name in _LOADS])
    loads &= to_tile | (to_unit & (board == root))
    accesses = (network == control) & to_unit & last[head]
    accesses &= operation == constants.enumeration("control_op")["register"]
    if not (loads | accesses).all():
        return "a packet that configures boards, or to an endpoint that hosts do not use"
    return ""


def _sideband(flits: NDArray[np.uint32], name: str) -> Column:
    field = constants.layout("flit").field(name)
    return flits[:, 5] >> np.uint32(field.lsb - _SIDEBAND) & np.uint32((1 << field.bits) - 1)


def _field(words: Column, layout: str, name: str) -> Column:
    field = constants.layout(layout).field(name)
    return words >> np.uint32(field.lsb) & np.uint32((1 << field.bits) - 1)


__all__ = ["fault"]
