# SPDX-License-Identifier: Apache-2.0
"""Temperature, power and fan: files as Linux' hwmon has them, and fields of heartbeats."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.errors import InputError
from gossamer.shell.sensors import FirstOf, HeartbeatSensors, HwmonSensors, Reading


def hwmon(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def test_hwmon_files_are_read_in_their_units_each_time(tmp_path: Path) -> None:
    """Units and names are those of the kernel's Documentation/hwmon/sysfs-interface."""
    folder = hwmon(
        tmp_path / "hwmon3", name="pmbus\n", temp1_input="41250\n", temp2_input="63500\n", temp2_max="100000\n",
        power1_input="12300000\n", power2_input="700000\n", fan1_input="4200\n", fan2_input="3900\n",
    )  # fmt: skip
    sensors = HwmonSensors({7: folder})
    assert sensors.read(7) == Reading(63.5, 13.0, 3900.0)
    assert sensors.read(8) == Reading()
    (folder / "temp2_input").write_text("90000\n")
    # A sensor that is gone, and one whose driver answers nonsense.
    (folder / "fan2_input").unlink()
    (folder / "power2_input").write_text("\n")
    assert sensors.read(7) == Reading(90.0, 12.3, 4200.0)


def test_average_power_is_preferred_and_a_folder_without_sensors_is_refused(tmp_path: Path) -> None:
    folder = hwmon(tmp_path / "a", power1_input="1000000", power1_average="2000000")
    assert HwmonSensors({1: folder}).read(1) == Reading(power=2.0)
    for empty in (hwmon(tmp_path / "b", name="x"), tmp_path / "none"):
        with pytest.raises(InputError, match="has no temp, power or fan"):
            HwmonSensors({1: empty})


def test_heartbeats_have_hundredths_of_a_degree_and_tenths_of_a_watt(tmp_path: Path) -> None:
    heard = {1: {"temperature": 4537, "power": 215}, 2: {"temperature": 0xFFFF, "power": 0xFFFF}}
    sensors = HeartbeatSensors(heard.get)
    assert sensors.read(1) == Reading(45.37, 21.5)
    assert sensors.read(2) == sensors.read(3) == Reading()
    files = HwmonSensors({1: hwmon(tmp_path / "c", temp1_input="50000", fan1_input="100")})
    assert FirstOf(files, sensors).read(1) == Reading(50.0, 21.5, 100.0)
