# SPDX-License-Identifier: Apache-2.0
"""The manager's page in a browser, its JSON, and its metrics.

    GET  /              the page (page.html), which polls /state.json
    GET  /state.json    boards, jobs, leases, the end of the log
    GET  /metrics       for Prometheus
    POST /cancel/JOB, /readmit/ADDRESS    with ``Authorization: Bearer TOKEN``

Everything else changes nothing. The server is threaded; each thread opens the store for itself.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import secrets
import socket
import stat
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from gossamer.errors import InputError
from gossamer.shell import metrics
from gossamer.shell.host import mac_text, parse_mac
from gossamer.shell.store import Store

_PAGE = Path(__file__).with_name("page.html")
_LOG_LINES = 200
_MOST_JOBS = 100
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def token(path: Path) -> str:
    """The token of a file that only its owner may read; a new one if there is no file. Raises InputError."""
    try:
        with contextlib.suppress(FileExistsError):
            created = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(created, f"{secrets.token_urlsafe(24)}\n".encode())
            os.close(created)
        mode, found = path.stat().st_mode, path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or "").lower() if isinstance(error, OSError) else "is not a text"
        raise InputError(f"{path}: cannot use the token: {reason}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"{path}: other users can read the token; chmod 600 {path}")
    if len(found) < 16:
        raise InputError(f"{path}: a token needs at least 16 characters; remove the file, and a new one is made")
    return found


class Server:
    """Serves a manager's ``snapshot`` and store at ``bind``:``port`` (0: any free port) in threads of its own.

    Raises InputError if the address cannot be used.
    """

    def __init__(
        self, snapshot: Callable[[], dict[str, Any]], state: Path, token: str, bind: str = "127.0.0.1", port: int = 0
    ) -> None:
        class Handler(_Handler):
            take_snapshot = staticmethod(snapshot)
            store, secret = state, token

        class Listener(ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in bind else socket.AF_INET
            daemon_threads = True

        try:
            self._server = Listener((bind, port), Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(
                f"{bind}:{port}: cannot serve the page there: {reason.lower()}; give another --http"
            ) from None
        host = f"[{bind}]" if ":" in bind else bind
        self.address = f"http://{host}:{self._server.server_address[1]}/"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    take_snapshot: Callable[[], dict[str, Any]]
    store: Path
    secret: str
    timeout = 30
    server_version = "gossamer"
    sys_version = ""

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged: the page sends one each second."""

    def _answer(self, status: HTTPStatus, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", _POLICY)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _say(self, status: HTTPStatus, text: str) -> None:
        self._answer(status, json.dumps({"message": text}).encode())

    @contextlib.contextmanager
    def _opened(self) -> Any:
        store = Store(self.store)
        try:
            yield store
        finally:
            store.close()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        try:
            if path == "/":
                self._answer(HTTPStatus.OK, _PAGE.read_bytes(), "text/html; charset=utf-8")
            elif path == "/state.json":
                self._answer(HTTPStatus.OK, self._state())
            elif path == "/metrics":
                with self._opened() as store:
                    states = [job["state"] for job in store.jobs()]
                    tasks = store.task_counts()
                jobs = {state: states.count(state) for state in states}
                self._answer(HTTPStatus.OK, metrics.text(self.take_snapshot(), jobs, tasks), metrics.CONTENT_TYPE)
            else:
                self._say(HTTPStatus.NOT_FOUND, f"no page {path}")
        except InputError as error:
            self._say(HTTPStatus.SERVICE_UNAVAILABLE, str(error))

    do_HEAD = do_GET

    def _state(self) -> bytes:
        with self._opened() as store:
            jobs, log, tasks = store.jobs(), store.log(_LOG_LINES), store.task_counts()
        state = self.take_snapshot() | {
            "time": time.time(),
            "jobs": jobs[:_MOST_JOBS],
            "job_count": len(jobs),
            "tasks": tasks,
            "log": log,
        }
        return json.dumps(state).encode()

    def do_POST(self) -> None:
        # No browser sends this header to another site's page without asking, so a foreign page cannot use the token.
        given = self.headers.get("Authorization", "")
        # Compared as bytes: a header may have any.
        if not hmac.compare_digest(given.encode(), f"Bearer {self.secret}".encode()):
            return self._say(HTTPStatus.UNAUTHORIZED, "the token is wrong or missing; the manager printed its file")
        if self.headers.get("Content-Length", "0") != "0":
            self.close_connection = True
            return self._say(HTTPStatus.BAD_REQUEST, "a request has no body")
        match self.path.strip("/").split("/"):
            case ["cancel", number] if number.isdecimal() and len(number) < 16:
                with self._opened() as store:
                    if not store.cancel(int(number)):
                        return self._say(HTTPStatus.NOT_FOUND, f"job {number} does not run")
                    store.note("info", f"job {number} was cancelled on the page")
                return self._say(HTTPStatus.OK, f"job {number} is cancelled")
            case ["readmit", address]:
                try:
                    mac = parse_mac(address)
                except InputError as error:
                    return self._say(HTTPStatus.BAD_REQUEST, str(error))
                with self._opened() as store:
                    if not store.readmit(mac):
                        return self._say(HTTPStatus.NOT_FOUND, f"board {mac_text(mac)} is in no quarantine")
                    store.note("info", f"board {mac_text(mac)} was readmitted on the page")
                return self._say(HTTPStatus.OK, f"board {mac_text(mac)} is readmitted")
        return self._say(HTTPStatus.NOT_FOUND, f"no action {self.path}")


__all__ = ["Server", "token"]
