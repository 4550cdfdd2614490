"""A scripted model on loopback: it plays turns, keeps what it was asked, and refuses what the
real services refuse.

It speaks each of the protocols in `wire_*`. A request that offers tools is answered by the
script's next turn; requests on the side (titles, summaries, probes) get "ok" and use none up. A
conversation with a call that has no result, or a result that has no call, is refused with status
400 in the service's words.
"""

from __future__ import annotations

import sys
import threading
import zlib
from collections.abc import Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from json import dumps, loads
from typing import Any, NamedTuple

from clients.wire import Body, Event, Heard, Turn, Wire, unpaired
from clients.wire_anthropic import Anthropic
from clients.wire_chat import Chat
from clients.wire_gemini import Gemini
from clients.wire_responses import Responses

_WIRES: tuple[Wire, ...] = (Anthropic(), Responses(), Chat(), Gemini())
_OVER = Turn("Nothing is left in the script.")


class Asked(NamedTuple):
    """A request for an answer."""

    path: str
    main: bool
    """Does it offer tools? The others are about titles and the like."""
    heard: tuple[Heard, ...]
    open: tuple[str, ...]
    """Calls without a result."""
    orphans: tuple[str, ...]
    """Results without a call."""
    status: int
    """What it was answered with."""


class Model(ThreadingHTTPServer):
    """The server; `with` it runs in a thread of its own."""

    daemon_threads = True

    def __init__(self, port: int, turns: Sequence[Turn], tag: str) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.asked: list[Asked] = []
        self.answering = threading.Event()
        """A turn that stalls has begun."""
        self.over = threading.Event()
        self._turns = list(turns)
        self._tag = tag
        self._lock = threading.Lock()

    def __enter__(self) -> Model:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed hangs up; anything else is a fault of ours and shows."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def ask(self, wire: Wire, path: str, body: Body) -> tuple[Turn | Body, str]:
        """(the turn to answer with, or the refusal; a tag for the ids of the answer)."""
        heard, tools = wire.heard(body), wire.offers(body)
        open, orphans = unpaired(heard, wire.adjacent)
        refused = tools and bool(open or orphans)
        status = 400 if refused else 200
        with self._lock:
            asked = Asked(path, tools, tuple(heard), tuple(open), tuple(orphans), status)
            self.asked.append(asked)
            tag = f"{self._tag}_{len(self.asked)}"
            if refused:
                return wire.refusal(open, orphans), tag
            if not tools:
                return Turn("ok"), tag
            return (self._turns.pop(0) if self._turns else _OVER), tag


class _Handler(BaseHTTPRequestHandler):
    server: Model
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the requests are kept."""

    def do_GET(self) -> None:
        if self.path.partition("?")[0].endswith("/models"):
            return self._json({"object": "list", "data": [{"id": "scripted", "object": "model"}]})
        return self._json({"error": {"message": "nothing here"}}, 404)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        body, path = loads(self._read() or b"{}"), self.path.partition("?")[0]
        wire = next((wire for wire in _WIRES if wire.serves(path)), None)
        if wire is None:
            return self._other(path)
        answer, tag = self.server.ask(wire, path, body)
        if not isinstance(answer, Turn):
            return self._json(answer, 400)
        if not (body.get("stream") or ":stream" in path):
            return self._json(wire.whole(answer, tag))
        with suppress(ConnectionError):
            self._stream(wire, answer, tag)
        return None

    def _other(self, path: str) -> None:
        if path.endswith("count_tokens"):
            return self._json({"input_tokens": 100})
        if path.endswith(":countTokens"):
            return self._json({"totalTokens": 100})
        return self._json({"error": {"message": "nothing here"}}, 404)

    def _stream(self, wire: Wire, turn: Turn, tag: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in wire.events(turn, tag):
            self._send(event)
            if turn.stalls and event.first:
                self.server.answering.set()
                self.server.over.wait()
                return

    def _send(self, event: Event) -> None:
        data = event.data if isinstance(event.data, str) else dumps(event.data)
        name = f"event: {event.name}\n" if event.name else ""
        self.wfile.write(f"{name}data: {data}\n\n".encode())
        self.wfile.flush()

    def _json(self, value: Body, status: int = 200) -> None:
        data = dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _read(self) -> bytes:
        data = b""
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding", "").lower() == "gzip":
            return zlib.decompress(data, wbits=31)
        return data
