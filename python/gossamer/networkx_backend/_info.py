# SPDX-License-Identifier: Apache-2.0
"""What NetworkX knows of the backend before it loads it."""

from __future__ import annotations

from typing import Any

_WALK = "In the order of NetworkX's search."
_TIES = "Of several shortest paths the one with the fewest edges, then of the first nodes; NetworkX may choose another."
_UNORDERED = "The order of the components may differ from NetworkX's."

FUNCTIONS: dict[str, str] = {
    "all_pairs_bellman_ford_path": _TIES,
    "all_pairs_bellman_ford_path_length": "",
    "all_pairs_dijkstra": _WALK,
    "all_pairs_dijkstra_path": _WALK,
    "all_pairs_dijkstra_path_length": _WALK,
    "all_pairs_shortest_path": _WALK,
    "all_pairs_shortest_path_length": _WALK,
    "average_clustering": "Without weights.",
    "bellman_ford_path": _TIES,
    "bellman_ford_path_length": "",
    "betweenness_centrality": "Without endpoints; weights must be above 0.",
    "bfs_edges": f"{_WALK} Without sort_neighbors; a directed graph is not searched in reverse.",
    "bfs_layers": f"{_WALK} From one source.",
    "bfs_predecessors": f"{_WALK} Without sort_neighbors.",
    "bfs_successors": f"{_WALK} Without sort_neighbors.",
    "bfs_tree": f"{_WALK} Without sort_neighbors; a directed graph is not searched in reverse.",
    "clustering": "Without weights.",
    "connected_components": "",
    "core_number": "Of undirected graphs.",
    "descendants_at_distance": "",
    "dijkstra_path": "",
    "dijkstra_path_length": "",
    "dijkstra_predecessor_and_distance": _WALK,
    "has_path": "",
    "is_connected": "",
    "is_strongly_connected": "",
    "is_weakly_connected": "",
    "multi_source_dijkstra": f"{_WALK} From one source.",
    "multi_source_dijkstra_path": f"{_WALK} From one source.",
    "multi_source_dijkstra_path_length": f"{_WALK} From one source.",
    "node_connected_component": "",
    "number_connected_components": "",
    "number_strongly_connected_components": "",
    "number_weakly_connected_components": "",
    "pagerank": "NetworkX's iterations, in another order of additions. Without nstart and dangling.",
    "predecessor": _WALK,
    "shortest_path": "From one source, or between all pairs; not from one node to another, which is a bidirectional "
    "search.",
    "shortest_path_length": "Not of directed graphs towards a target alone.",
    "single_source_bellman_ford": _TIES,
    "single_source_bellman_ford_path": _TIES,
    "single_source_bellman_ford_path_length": "",
    "single_source_dijkstra": _WALK,
    "single_source_dijkstra_path": _WALK,
    "single_source_dijkstra_path_length": _WALK,
    "single_source_shortest_path": _WALK,
    "single_source_shortest_path_length": _WALK,
    "single_target_shortest_path": f"{_WALK} Of undirected graphs.",
    "single_target_shortest_path_length": "",
    "strongly_connected_components": _UNORDERED,
    "transitivity": "",
    "triangles": "",
    "weakly_connected_components": "",
}
"""The functions that the backend answers, each with what differs from NetworkX or is not answered."""


def get_info() -> dict[str, Any]:
    """The backend's description, as NetworkX reads it from the entry point ``networkx.backend_info``."""
    return {
        "backend_name": "gossamer",
        "project": "Gossamer",
        "package": "gossamer",
        "short_summary": "Vertex programs on all processors of this machine.",
        "default_config": {"threads": 0},
        "functions": {name: {"additional_docs": text} for name, text in FUNCTIONS.items()},
    }


__all__ = ["FUNCTIONS", "get_info"]
