# SPDX-License-Identifier: Apache-2.0
"""Boards of streaming ports in simulation: harnesses, and the model of collectives."""
