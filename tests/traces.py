# SPDX-License-Identifier: Apache-2.0
"""Reader of Perfetto traces that uses the schema of Perfetto's own package, and no code of the trace writer."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Event:
    """A span, or a mark, which has no duration."""

    track: str
    """Names of the track and its ancestors, from the top: ``board 0/tile 1,0/thread 17 (core 0)``."""
    name: str
    begin: int
    end: int
    notes: dict[str, Any]
    begins: tuple[int, ...] = ()
    """Arrows that begin here, and arrows that end here."""
    ends: tuple[int, ...] = ()

    @property
    def thread(self) -> int:
        """The number of the track's thread; -1 if it is not a thread's track."""
        last = self.track.rsplit("/", 1)[-1]
        return int(last.split()[1]) if last.startswith("thread ") and "(" in last else -1


@dataclass
class Trace:
    """A trace in which the schema covers every packet."""

    tracks: list[str] = field(default_factory=list)
    spans: list[Event] = field(default_factory=list)
    marks: list[Event] = field(default_factory=list)
    counters: dict[str, list[tuple[int, float]]] = field(default_factory=dict)

    def arrows(self) -> list[tuple[Event, Event]]:
        """The marks of the send and of the receive of each arrow. Each end occurs once."""
        begins = {number: mark for mark in self.marks for number in mark.begins}
        ends = {number: mark for mark in self.marks for number in mark.ends}
        assert len(begins) == sum(len(mark.begins) for mark in self.marks)
        assert len(ends) == sum(len(mark.ends) for mark in self.marks)
        assert set(ends) <= set(begins)
        return [(begins[number], ends[number]) for number in sorted(ends)]

    def of(self, name: str) -> list[Event]:
        """Spans and marks of that name."""
        return [event for event in (*self.spans, *self.marks) if event.name == name]


def read(path: Path) -> Trace:
    """Reads a trace. AssertionError if it violates Perfetto's rules."""
    from google.protobuf.unknown_fields import UnknownFieldSet
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

    raw = schema.Trace()
    raw.ParseFromString(path.read_bytes())
    known: dict[int, Any] = {}
    interned: dict[str, dict[int, Any]] = {"event_names": {}, "debug_annotation_names": {}, "strings": {}}
    trace, names = Trace(), dict[int, str]()
    opened: dict[int, list[Event]] = {}
    events = []
    cleared = False
    for packet in raw.packet:
        parts = (packet, packet.track_event, packet.track_descriptor, packet.interned_data)
        assert not any(len(UnknownFieldSet(part)) for part in parts)
        assert packet.trusted_packet_sequence_id == 1
        cleared |= bool(packet.sequence_flags & schema.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED)
        assert cleared
        for entry in packet.interned_data.event_names:
            interned["event_names"][entry.iid] = entry.name
        for entry in packet.interned_data.debug_annotation_names:
            interned["debug_annotation_names"][entry.iid] = entry.name
        for entry in packet.interned_data.debug_annotation_string_values:
            interned["strings"][entry.iid] = entry.str.decode()
        if packet.HasField("track_descriptor"):
            one = packet.track_descriptor
            assert one.uuid not in known
            known[one.uuid] = one
            above = f"{names[one.parent_uuid]}/" if one.parent_uuid else ""
            names[one.uuid] = above + (one.process.process_name or one.name)
        elif packet.HasField("track_event"):
            # Interned names are resolved at the event's position in the file.
            event = packet.track_event
            name = interned["event_names"][event.name_iid] if event.name_iid else ""
            notes = {
                interned["debug_annotation_names"][note.name_iid]: interned["strings"][note.string_value_iid]
                if note.HasField("string_value_iid")
                else note.pointer_value
                if note.HasField("pointer_value")
                else note.uint_value
                for note in event.debug_annotations
            }
            events.append((packet.timestamp, event, name, notes))
        else:
            raise AssertionError(f"a packet of another kind: {packet}")
    trace.tracks = list(names.values())
    # As Perfetto does: by time, and ties by position in the file.
    for time, event, name, notes in sorted(events, key=lambda one: one[0]):
        track = names[event.track_uuid]
        made = Event(track, name, time, time, notes, tuple(event.flow_ids), tuple(event.terminating_flow_ids))
        if event.type == event.TYPE_SLICE_BEGIN:
            opened.setdefault(event.track_uuid, []).append(made)
        elif event.type == event.TYPE_SLICE_END:
            begun = opened[event.track_uuid].pop()
            trace.spans.append(Event(track, begun.name, begun.begin, time, begun.notes))
        elif event.type == event.TYPE_INSTANT:
            trace.marks.append(made)
        else:
            assert event.type == event.TYPE_COUNTER and known[event.track_uuid].HasField("counter")
            trace.counters.setdefault(track, []).append((time, event.double_counter_value))
    assert not any(opened.values())
    return trace


__all__ = ["Event", "Trace", "read"]
