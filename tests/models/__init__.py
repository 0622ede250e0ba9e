# SPDX-License-Identifier: Apache-2.0
"""Models and harnesses that tests and benchmarks share. ``bench/`` imports nothing else from ``tests/``."""
