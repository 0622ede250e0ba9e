# SPDX-License-Identifier: Apache-2.0
"""Files as byte streams, with clear errors, decompressed according to their first bytes."""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from gossamer.errors import InputError

_READ = 1 << 20
_FIRST = 1 << 16
"""Bytes read to recognize the format; few, because a .gsg needs no more reading."""
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\x00": "xz", b"BZh": "bzip2"}
SUFFIXES = {".gz": "gzip", ".zst": "zstd", ".xz": "xz", ".bz2": "bzip2"}
"""Extensions of compressed files."""


def zlib_module() -> Any:
    """ISA-L if its wheel is installed (three times as fast), else zlib."""
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib
    return isal_zlib


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise InputError("zstd needs the package zstandard; run: ./gossamer setup core") from None
    return zstandard


class Source:
    """A file, or standard input for "-", read once from start to end."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.name = "<stdin>" if self.path == "-" else self.path
        self.size: int | None = None
        """Size of the file on disk in bytes, if known."""
        self.taken = 0
        """Bytes of the file that have been read."""
        self.compression: str | None = None
        if self.path == "-":
            self._file: IO[bytes] = sys.stdin.buffer
        else:
            self._file = self._open()
        try:
            self._head = self._read_raw(_FIRST)
            while 0 < len(self._head) < 6:  # a pipe may return single bytes
                more = self._read_raw(_READ)
                if not more:
                    break
                self._head += more
        except BaseException:
            self.close()
            raise
        self.compression = next((kind for magic, kind in _MAGIC.items() if self._head.startswith(magic)), None)

    def _open(self) -> IO[bytes]:
        try:
            file = open(self.path, "rb", buffering=0)  # noqa: SIM115
        except FileNotFoundError:
            raise InputError(f"{self.name}: no such file{self._near()}") from None
        except IsADirectoryError:
            raise InputError(f"{self.name}: a directory; name a file in it") from None
        except PermissionError:
            raise InputError(f"{self.name}: no permission to read it; see: ls -l") from None
        except ValueError:
            raise InputError(f"{self.path!r}: not a valid file name") from None
        except OSError as error:
            raise InputError(f"{self.name}: cannot be opened: {error.strerror}") from None
        with contextlib.suppress(OSError):
            size = os.fstat(file.fileno()).st_size
            self.size = size if size > 0 else None
        return file

    def _near(self) -> str:
        path = Path(self.path)
        with contextlib.suppress(OSError, ValueError):
            near = difflib.get_close_matches(path.name, os.listdir(path.parent), 1, 0.6)
            if near:
                return f"; did you mean {path.parent / near[0]}?"
        return "; check the path"

    def _read_raw(self, size: int) -> bytes:
        try:
            data = self._file.read(size) or b""
        except OSError as error:
            raise InputError(f"{self.name}: reading failed: {error.strerror}") from None
        self.taken += len(data)
        return data

    def _raw(self, size: int) -> Iterator[bytes]:
        data, self._head = self._head, b""
        for start in range(0, len(data), size):
            yield data[start : start + size]
        while block := self._read_raw(size):
            yield block

    def blocks(self) -> Iterator[bytes]:
        """The decompressed bytes, in blocks of about a megabyte."""
        if self.compression is None:
            return self._raw(_READ)
        if self.compression == "gzip":
            return self._gzip()
        if self.compression == "zstd":
            return self._frames(lambda: _zstandard().ZstdDecompressor(max_window_size=2**31).decompressobj(), 1 << 15)
        if self.compression == "xz":
            import lzma

            return self._frames(lambda: lzma.LZMADecompressor(memlimit=1 << 32), 1 << 18)
        import bz2

        return self._frames(bz2.BZ2Decompressor, 1 << 18)

    def _corrupt(self, error: Exception) -> InputError:
        reason = " ".join(str(error).split()) or type(error).__name__
        return InputError(f"{self.name}: the {self.compression} data is corrupt ({reason}); fetch the file again")

    def _truncated(self) -> InputError:
        return InputError(f"{self.name}: the {self.compression} data ends early; the file is truncated, fetch it again")

    def _gzip(self) -> Iterator[bytes]:
        module = zlib_module()
        stream: Any = None
        for raw in self._raw(1 << 18):
            data = raw
            while data:
                if stream is None:
                    # A file may have several members; zeros after the last are tape padding.
                    data = data.lstrip(b"\0")
                    if not data:
                        break
                    stream = module.decompressobj(31)
                try:
                    text = stream.decompress(data, _READ)
                except (zlib.error, module.error, EOFError) as error:
                    raise self._corrupt(error) from None
                if text:
                    yield text
                if stream.eof:
                    data, stream = stream.unused_data, None
                else:
                    data = stream.unconsumed_tail
                    if not data and not text:
                        break
        while stream is not None:
            # Output that the decompressor retained because of the size limit.
            try:
                text = stream.decompress(b"", _READ)
            except (zlib.error, module.error, EOFError) as error:
                raise self._corrupt(error) from None
            if text:
                yield text
            if stream.eof:
                break
            if not text:
                raise self._truncated()

    def _frames(self, make: Callable[[], Any], size: int) -> Iterator[bytes]:
        stream: Any = None
        for raw in self._raw(size):
            data = raw
            while data:
                if stream is None:
                    data = data.lstrip(b"\0") if self.compression == "xz" else data
                    if not data:
                        break
                    stream = make()
                try:
                    text = stream.decompress(data)
                except (MemoryError, KeyboardInterrupt, InputError):
                    raise
                except Exception as error:
                    # Each library has its own exception for invalid data.
                    raise self._corrupt(error) from None
                if text:
                    yield text
                data = b""
                if stream.eof:
                    data, stream = stream.unused_data, None
        if stream is not None:
            raise self._truncated()

    def close(self) -> None:
        """Closes the file; standard input stays open."""
        if self.path != "-":
            self._file.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def bare_suffix(path: str) -> str:
    """The lower-case extension of a name without that of a compression: ".mtx" of "a.mtx.gz"."""
    inner = Path(path)
    if inner.suffix.lower() in SUFFIXES:
        inner = Path(inner.stem)
    return inner.suffix.lower()


@contextlib.contextmanager
def compressed(file: IO[bytes], suffix: str) -> Iterator[Callable[[bytes | memoryview], object]]:
    """A function that writes bytes to ``file``, compressed according to the extension. The output is deterministic."""
    kind = SUFFIXES.get(suffix)
    if kind is None:
        yield file.write
        return
    coder: Any
    if kind == "gzip":
        coder = zlib.compressobj(6, zlib.DEFLATED, 31)
    elif kind == "zstd":
        coder = _zstandard().ZstdCompressor(level=9).compressobj()
    elif kind == "xz":
        import lzma

        coder = lzma.LZMACompressor()
    else:
        import bz2

        coder = bz2.BZ2Compressor()
    yield lambda data: file.write(coder.compress(data))
    file.write(coder.flush())
