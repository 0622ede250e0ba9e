# SPDX-License-Identifier: Apache-2.0
"""Builds the caches and runs their cocotb test."""
