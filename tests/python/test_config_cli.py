# SPDX-License-Identifier: Apache-2.0
"""The command ``gossamer config``, called without the launcher."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gossamer import config, paths
from gossamer.cli.config import command as config_command
from gossamer.config import constants
from gossamer.errors import ExitCode, InputError


def run(*arguments: str) -> Result:
    return CliRunner().invoke(config_command, list(arguments), catch_exceptions=False)


def test_show_lists_everything() -> None:
    result = run("show")
    assert result.exit_code == 0
    first = [line.split()[0] for line in result.output.splitlines() if line.startswith("  ")]
    shared = constants.everything()
    for name in [*config.names(), *config.cluster_names(), *shared.enums, *shared.layouts, *shared.values]:
        assert name in first


def test_show_configuration_has_every_key_of_the_file() -> None:
    result = run("show", "de5")
    for line in (paths.CONFIG / "de5.toml").read_text().splitlines():
        if "=" in line.split("#")[0] and not line.startswith("description"):
            key = line.split("=")[0].strip()
            assert any(row.split()[:1] == [key] for row in result.output.splitlines()), key
    assert "threads_per_tile" in result.output
    assert all(len(line) <= 140 for line in result.output.splitlines())


def test_show_json_has_values_units_and_counts() -> None:
    keys = json.loads(run("show", "de5", "--json").output)
    assert keys["keys"]["core.threads_per_core"]["value"] == 16
    assert keys["keys"]["core.threads_per_core"]["unit"] == "threads"
    assert keys["derived"]["threads_per_tile"]["value"] == 64
    rack = json.loads(run("show", "rack48", "--json").output)
    assert len(rack["boards"]) == 48 and len(rack["cables"]) == 82
    assert json.loads(run("show", "ethertype", "--json").output)["values"]["discovery"]["value"] == 0x80EF
    assert json.loads(run("show", "stream_header", "--json").output)["fields"][0]["lsb"] == 24
    assert json.loads(run("show", "shell_version", "--json").output)["value"] == 2
    assert set(json.loads(run("show", "--json").output)["configurations"]) == set(config.names())


@pytest.mark.parametrize("name", ["torus8", "stream_header", "csr", "shell_version", "pair"])
def test_show_accepts_clusters_and_constants(name: str) -> None:
    result = run("show", name)
    assert result.exit_code == 0
    assert result.output.startswith(name)


def test_check_confirms_valid_files_and_reports_the_first_error(tmp_path: Path) -> None:
    files = [*paths.CONFIG.glob("*.toml"), *(paths.CONFIG / "clusters").glob("*.toml")]
    result = run("check", *map(str, files))
    assert result.output.count("valid") == len(files)
    (tmp_path / "x.toml").write_text('base = "de5"\ndescription = "x"\n[core]\nthread_per_core = 16\n')
    with pytest.raises(InputError) as caught:
        run("check", str(tmp_path / "x.toml"))
    assert str(caught.value).endswith("x.toml:4: core.thread_per_core: unknown key; did you mean threads_per_core?")
    assert caught.value.exit_code is ExitCode.INPUT


def test_unknown_name_gets_the_closest_one() -> None:
    with pytest.raises(InputError, match=r"rack49: .*; did you mean rack48\?; `gossamer config show` lists them"):
        run("show", "rack49")


def test_generate_prints_the_files_it_writes(tmp_path: Path) -> None:
    result = run("generate", "tiny", "-o", str(tmp_path / "new" / "folder"), "--lang", "sv")
    assert result.output.strip() == str(tmp_path / "new" / "folder" / "gossamer_pkg.sv")
    assert not (tmp_path / "new" / "folder" / "gossamer").exists()
    result = run("generate", "tiny", "-o", str(tmp_path))
    assert len(result.output.splitlines()) == 2


def test_invalid_file_exits_with_2_and_writes_nothing(command: Any, tmp_path: Path) -> None:
    """Through the launcher: one line on standard error, exit code 2, no files."""
    (tmp_path / "x.toml").write_text('base = "de5"\ndescription = "x"\n[mailbox]\ncores_per_mailbox = 8\n')
    for arguments in (["check", "x.toml"], ["generate", "x.toml", "-o", "out"], ["show", "x.toml"]):
        done = command("config", *arguments, cwd=tmp_path)
        assert done.returncode == ExitCode.INPUT
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
        assert "x.toml:4: mailbox.cores_per_mailbox: 8 cores of 16 threads are 128 threads" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["x.toml"]
    assert command("config", "check", paths.CONFIG / "de5.toml").returncode == ExitCode.DONE


@pytest.mark.parametrize("arguments", [[], ["show"], ["check"], ["generate"]])
def test_help_has_examples(arguments: list[str]) -> None:
    assert "Examples:\n    ./gossamer config " in run(*arguments, "--help").output


def test_guide_lists_every_configuration() -> None:
    """docs/configuration.md has a row for every shipped configuration."""
    guide = (paths.ROOT / "docs" / "configuration.md").read_text()
    for name in config.names():
        assert f"| `{name}` |" in guide
