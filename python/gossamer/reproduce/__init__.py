# SPDX-License-Identifier: Apache-2.0
"""The reproduction report: every table and figure of the five papers, with this project's figures next to it.

The papers' facts are in ``papers/*.toml``. This project's figures are rows of ``./gossamer bench --json``: the last
full measurement is shipped in ``measured.json``, figures that are only documented are in ``documented.json``.
"""
