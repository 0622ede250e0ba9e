# SPDX-License-Identifier: Apache-2.0
"""Temperature, power and fan of boards, behind one interface; a driver reads heartbeats, another Linux' hwmon files."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gossamer.errors import InputError

_NONE = 0xFFFF
"""What a board reports without a sensor."""


@dataclass(frozen=True)
class Reading:
    """What the sensors of a board show; None where there is no sensor."""

    temperature: float | None = None
    """Degrees Celsius, of the hottest place."""
    power: float | None = None
    """Watts."""
    fan: float | None = None
    """Turns a minute, of the slowest fan."""


class Sensors(Protocol):
    """A driver."""

    def read(self, mac: int) -> Reading:
        """What is known of a board now. It does not wait, and raises nothing: a broken sensor shows None."""
        ...


class HeartbeatSensors:
    """The fields of the boards' heartbeats; ``status`` is `gossamer.shell.Host.status`, or alike."""

    def __init__(self, status: Callable[[int], Mapping[str, int | str] | None]) -> None:
        self._status = status

    def read(self, mac: int) -> Reading:
        found = self._status(mac) or {}

        def value(name: str, unit: float) -> float | None:
            number = int(found.get(name, _NONE))
            return None if number == _NONE else number * unit

        return Reading(temperature=value("temperature", 0.01), power=value("power", 0.1))


class HwmonSensors:
    """Folders of Linux' hwmon (/sys/class/hwmon/hwmonN), by board: its management controller at a bus of this machine.

    temp*_input is in thousandths of a degree, power*_average and power*_input in millionths of a watt, fan*_input in
    turns a minute (the kernel's Documentation/hwmon/sysfs-interface).
    Raises InputError for a folder without any of them.
    """

    def __init__(self, folders: Mapping[int, Path]) -> None:
        self._files: dict[int, dict[str, list[Path]]] = {}
        for mac, folder in folders.items():
            files = {kind: sorted(folder.glob(f"{kind}*_input")) for kind in ("temp", "power", "fan")}
            files["power"] = sorted(folder.glob("power*_average")) or files["power"]
            if not any(files.values()):
                raise InputError(f"{folder}: has no temp, power or fan; name a folder such as /sys/class/hwmon/hwmon0")
            self._files[mac] = files

    def read(self, mac: int) -> Reading:
        files = self._files.get(mac, {})
        temperatures, powers, fans = (_numbers(files.get(kind, ())) for kind in ("temp", "power", "fan"))
        return Reading(
            temperature=max(temperatures) / 1e3 if temperatures else None,
            power=sum(powers) / 1e6 if powers else None,
            fan=min(fans) if fans else None,
        )


def _numbers(files: Sequence[Path]) -> list[float]:
    found = []
    for path in files:
        # A sensor that is off, or a driver that is unloaded.
        with contextlib.suppress(OSError, ValueError):
            found.append(float(path.read_text()))
    return found


class FirstOf:
    """Several drivers: each field is that of the first one that has it."""

    def __init__(self, *drivers: Sensors) -> None:
        self._drivers = drivers

    def read(self, mac: int) -> Reading:
        found = [driver.read(mac) for driver in self._drivers]

        def first(name: str) -> float | None:
            return next((value for one in found if (value := getattr(one, name)) is not None), None)

        return Reading(first("temperature"), first("power"), first("fan"))


__all__ = ["FirstOf", "HeartbeatSensors", "HwmonSensors", "Reading", "Sensors"]
