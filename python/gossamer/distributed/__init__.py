# SPDX-License-Identifier: Apache-2.0
"""The engine ``distributed``: an application on the ranks of an MPI job.

Every rank is a process of the command itself. `job` starts them, or finds that this process is one of them; `transport`
is their communication; `shares` loads each rank's part of the graph; `rank` runs the application.
"""
