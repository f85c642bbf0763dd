"""Who may talk to the viewer."""

import socket

import pytest

import drystone as ds
from drystone import view
from drystone.view import server

pytest.importorskip("viser", reason="viser is not installed: drystone[view]")


@pytest.fixture(scope="module")
def viewer():
    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.1))
    with ds.Simulation(world, "time-stepping").show(port=0) as shown:
        yield shown


def shake_hands(viewer, **headers) -> int:
    """Status of an upgrade to a WebSocket, as a browser would ask for it."""
    import viser
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    try:
        with connect(
            f"ws://127.0.0.1:{viewer.server.get_port()}", origin=headers.get("Origin"),
            subprotocols=[f"viser-v{viser.__version__}"], max_size=None,
        ):  # fmt: skip
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


def test_its_own_page_may_connect(viewer):
    port = viewer.server.get_port()
    assert shake_hands(viewer, Origin=f"http://127.0.0.1:{port}") == 101


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1.evil.example", "null", None],
)
def test_foreign_pages_may_not(viewer, origin):
    assert shake_hands(viewer, **({} if origin is None else {"Origin": origin})) == 403


def raw(viewer, text: str) -> bytes:
    with socket.create_connection(("127.0.0.1", viewer.server.get_port()), timeout=600) as link:
        link.sendall(text.encode())
        return link.recv(64)


def test_a_name_that_was_pointed_at_this_machine_is_refused(viewer):
    """DNS rebinding: Origin and Host agree, but the name is a stranger's."""
    port = viewer.server.get_port()
    for path in ("Upgrade: websocket\r\nConnection: Upgrade\r\n", ""):
        answer = raw(
            viewer,
            f"GET / HTTP/1.1\r\nHost: evil.example:{port}\r\nOrigin: http://evil.example:{port}\r\n"
            f"{path}Sec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        )
        assert b" 403 " in answer
    assert b" 200 " in raw(viewer, f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n")


@pytest.mark.parametrize(
    ("origin", "asked", "extra", "ok"),
    [
        ("http://localhost:8080", "localhost:8080", (), True),
        ("http://[::1]:8080", "[::1]:8080", (), True),
        ("http://192.168.1.7:8080", "192.168.1.7:8080", (), True),
        ("http://localhost:8080", "127.0.0.1:8080", (), False),
        ("http://hub.example", "127.0.0.1:8080", (), False),
        ("https://hub.example", "127.0.0.1:8080", ("https://hub.example",), True),
        ("http://hub.example:8080", "hub.example:8080", ("hub.example",), True),
        ("http://localhost:8080", None, (), False),
    ],
)
def test_which_origins_are_admitted(origin, asked, extra, ok):
    assert server.admitted(origin, asked, extra) is ok


def test_it_listens_on_this_machine_alone(viewer):
    assert viewer.url.startswith("http://127.0.0.1:")
    outside = socket.gethostbyname(socket.gethostname())
    if not outside.startswith("127."):
        with pytest.raises(OSError, match=r"refused|timed out"):
            socket.create_connection((outside, viewer.server.get_port()), timeout=2)


def test_it_closes_and_gives_its_port_back():
    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.1))
    shown = ds.Simulation(world, "time-stepping").show(port=0)
    port = shown.server.get_port()
    shown.close()
    shown.close()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=600).close()


def test_no_page_can_ask_for_a_public_tunnel(viewer):
    from viser import _messages

    assert _messages.ShareUrlRequest not in viewer.server._websock_server._incoming_handlers


def test_wrong_input_is_refused():
    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.1))
    sim = ds.Simulation(world, "time-stepping")
    with pytest.raises(ds.OptionError, match="port = -1"):
        sim.show(port=-1)
    with pytest.raises(ds.OptionError, match="host = 'no such host'"):
        sim.show(port=0, host="no such host")
    with pytest.raises(ds.OptionError, match="speed = 3"):
        sim.show(port=0, speed=3)
    with pytest.raises(ds.OptionError, match="nothing to view: 3"):
        view.show(3)
