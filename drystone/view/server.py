"""The web server of the viewer: local by default, closed to pages of other origins.

A page of any origin may try to open a WebSocket to a server on this machine; browsers do not
stop it, they only say in the header Origin whose page it is. So the server compares it with the
address that was asked for. An attacker who points his own name at 127.0.0.1 sends equal Origin
and Host: that is why names other than this machine's own are refused too.
"""

from __future__ import annotations

import http
import ipaddress
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import Any
from urllib.parse import urlsplit

from drystone.errors import DrystoneError, MissingExtraError, OptionError

LOCAL = "127.0.0.1"
PORT = 8080  # the first to try
_patching = threading.Lock()


def viser() -> Any:
    """The library that draws; it comes with the extra ``view``."""
    try:
        import viser as library
    except ImportError:
        message = "the viewer needs viser: python -m pip install 'drystone[view]'"
        raise MissingExtraError(message) from None
    return library


def own_name(host: str, extra: tuple[str, ...] = ()) -> bool:
    """Whether a host (without port) can only mean this machine, not a stranger's domain."""
    name = host.strip("[]").lower()
    if name in ("localhost", socket.gethostname().lower(), *(e.lower() for e in extra)):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def admitted(origin: str | None, asked: str | None, extra: tuple[str, ...] = ()) -> bool:
    """Whether a page of this Origin may talk to us, who were asked for as Host `asked`.

    extra: further origins ("https://hub.example.org") or host names that are trusted.
    """
    if asked is None:
        return False
    if origin is not None and origin.rstrip("/") in extra:
        return True
    parts = urlsplit(f"//{asked}")
    names = tuple(urlsplit(e).hostname or e for e in extra)
    if not own_name(parts.hostname or "", names):
        return False
    return origin is not None and urlsplit(origin).netloc.lower() == asked.lower()


def refusal(headers: Any, extra: tuple[str, ...]) -> str | None:
    """Why a request is turned away, None if it is not."""
    asked, origin = headers.get("Host"), headers.get("Origin")
    if headers.get("Upgrade", "").lower() == "websocket":
        if not admitted(origin, asked, extra):
            return f"pages of {origin or 'no origin'} may not talk to this viewer"
    elif not own_name(urlsplit(f"//{asked}").hostname or "", extra):
        return f"{asked} is not the name of this viewer"
    return None


@contextmanager
def _guarded(extra: tuple[str, ...]) -> Iterator[list[bool]]:
    """While it is entered, WebSocket servers that start look at the origin of every request.

    viser has no option for it, so the function by which it starts to serve is stood in for; the
    list that comes back is empty if that function was not called.
    """
    from websockets.asyncio import server

    serve, used = server.serve, list[bool]()

    def guarded(*args: Any, process_request: Callable[..., Any] | None, **options: Any) -> Any:
        used.append(True)

        def look(connection: Any, request: Any) -> Any:
            why = refusal(request.headers, extra)
            if why is not None:
                return connection.respond(http.HTTPStatus.FORBIDDEN, f"Refused: {why}.\n")
            return None if process_request is None else process_request(connection, request)

        return serve(*args, process_request=look, **options)

    with _patching:
        server.serve = guarded  # type: ignore[misc, assignment]
        try:
            yield used
        finally:
            server.serve = serve  # type: ignore[misc]


def serve(label: str, host: str = LOCAL, port: int = PORT, origins: tuple[str, ...] = ()) -> Any:
    """A running viser server; the next free port is taken if `port` is not (0: any)."""
    library = viser()
    if not (isinstance(port, int) and 0 <= port < 65536):
        raise OptionError(f"port = {port!r}: expected a whole number up to 65535")
    try:
        socket.getaddrinfo(host, port)
    except OSError as error:
        raise OptionError(f"host = {host!r}: {error.strerror or error}") from None
    with _guarded(tuple(origins)) as used, redirect_stdout(StringIO()):  # it prints its address
        server = library.ViserServer(host=host, port=port, label=label, verbose=False)
    if not used:
        stop(server)
        version = getattr(library, "__version__", "?")
        raise DrystoneError(f"viser {version}: its server cannot be guarded: use viser 1.1")
    _keep_private(server)
    return server


def _keep_private(server: Any) -> None:
    """No page may ask for a tunnel to the public internet, which viser offers."""
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(31, 111, 159))
    from viser import _messages

    server._websock_server.unregister_handler(_messages.ShareUrlRequest)


def stop(server: Any) -> None:
    """End a server, silently."""
    with redirect_stdout(StringIO()):
        server.stop()
