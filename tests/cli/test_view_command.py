"""``drystone view`` as a program: it serves, ends with Ctrl-C, writes pages, names mistakes."""

import signal
import subprocess
import sys
import urllib.request

import pytest

COMMAND = [sys.executable, "-m", "drystone", "view"]


def _heed():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.posix("signals")
def test_it_serves_until_it_is_interrupted():
    pytest.importorskip("viser", reason="viser is not installed: drystone[view]")
    asked = [*COMMAND, "double-action-jack", "--no-browser", "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # tests that a script runs in the background inherit that Ctrl-C is ignored
    run = subprocess.Popen(asked, **pipes, preexec_fn=_heed)
    try:
        line = run.stdout.readline()
        assert "double-action-jack at http://127.0.0.1:" in line
        url = line.split(" at ")[1].split()[0]
        with urllib.request.urlopen(url, timeout=900) as page:
            assert page.status == 200
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=900)
    finally:
        run.kill()
        run.communicate()
    assert run.returncode == 0, err
    assert out == ""
    assert "Traceback" not in err


def test_a_page_of_a_scene(tmp_path):
    page = tmp_path / "stairs.html"
    asked = [*COMMAND, "ellipse-drop", "--duration", "0.2", "--html", str(page)]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert page.stat().st_size > 10_000
    assert str(page) in done.stdout


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["arhc"], "did you mean 'arch'?"),
        (["arch", "--method", "guess"], "--method: unknown method 'guess'"),
        (["none.h5"], "none.h5"),
        (["arch", "--speed", "3", "--no-browser"], "speed = 3"),
        (["run.h5", "--dt", "0.1"], "--method, --dt and --set do not apply"),
    ],
)
def test_mistakes_are_said_in_one_line(asked, words):
    done = subprocess.run([*COMMAND, *asked], capture_output=True, text=True, timeout=900)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
