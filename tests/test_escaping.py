"""Texts of others on a terminal, in figures and in tables."""

import csv
import re
import warnings

import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone.arguments import warn_user
from drystone.cli.console import plain
from drystone.cli.main import app
from drystone.escaping import for_cell, for_figure, for_html, for_line, for_lines
from drystone.plots.performance_profile import plot_profiles

ESCAPES = "\x1b[31mred\x1b[0m\x07\r\u202eevil\u2066\u200b\x9b2J\u2028"
MARKUP = "[bold red]x[/] [link=file:///etc/passwd]y[/link] [/]"
FORMULAS = ("=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "|x", "%0A=1")


def command(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def world(name):
    out = ds.World(planar=True)
    out.add_ground()
    out.add_body(ds.Disk(0.1), name=name, position=(0, 0.3))
    return out


def test_control_characters_are_written_as_escapes():
    assert for_line("brick 3, Ziegel öß 石") == "brick 3, Ziegel öß 石"
    shown = for_line(ESCAPES)
    assert shown.isprintable()
    assert shown.startswith(r"\x1b[31mred\x1b[0m\x07\x0d\u202eevil")
    assert for_lines("a\nb\x1b") == "a\nb\\x1b"
    assert for_html("<b>'\"&") == "&lt;b&gt;&#x27;&quot;&amp;"


@pytest.mark.parametrize("text", [ESCAPES, MARKUP])
def test_rich_shows_it_as_it_is(text):
    from rich.text import Text

    assert Text.from_markup(plain(text)).plain == for_line(text)
    assert not Text.from_markup(plain(text)).spans


def test_commands_print_no_control_characters(tmp_path):
    for k, name in enumerate((ESCAPES.replace("\u2028", ""), MARKUP)):
        place = tmp_path / f"{k}.json"
        ds.write_scene(place, world(name))
        bad = tmp_path / f"{name.replace('/', '_')}.json"
        bad.write_text("[")
        broken = tmp_path / f"b{k}.json"
        broken.write_text(place.read_text().replace('"bodies"', '"\\u001b[31mbodies"'))
        for words in (
            ("check", place), ("check", bad), ("check", broken), ("run", place, "--duration", 0.05),
            ("check", name), ("run", name), ("plot", f"{name}.h5"),
            ("export", f"{name}.h5", "--to", "csv"),
        ):  # fmt: skip
            out = command(*words)
            assert all(c == "\n" or c.isprintable() for c in out.output), (words, out.output)


def test_errors_may_be_printed(tmp_path):
    """From Python too: a traceback or a print of what went wrong."""
    sim = ds.Simulation(world(ESCAPES))
    for call in (
        lambda: ds.read_scene(tmp_path / f"{ESCAPES}.yaml"),
        lambda: ds.read_recording(tmp_path / f"{ESCAPES}.h5"),
        lambda: sim.joint(ESCAPES),
        lambda: ds.Simulation(world(ESCAPES), ESCAPES),
    ):
        with pytest.raises(ds.DrystoneError) as caught:
            call()
        assert all(c == "\n" or c.isprintable() for c in str(caught.value)), call
    with pytest.warns(ds.StepWarning) as heard:
        warn_user(f"body {ESCAPES} is deep", ds.StepWarning)
    assert str(heard[0].message).isprintable()


def test_a_file_called_like_an_option(monkeypatch, capsys):
    """What a shell puts in for * may begin with two dashes."""
    from drystone.cli import main

    monkeypatch.setattr("sys.argv", ["drystone", "check", f"--{ESCAPES}.yaml"])
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == 2
    assert all(c == "\n" or c.isprintable() for c in capsys.readouterr().err)


def test_warnings_of_commands(monkeypatch, capsys):
    from drystone.cli import main

    def warn():
        warnings.warn(f"body {ESCAPES}", ds.RecordingWarning, stacklevel=1)

    monkeypatch.setattr(main, "app", warn)
    with warnings.catch_warnings():
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
        main.main()
    said = capsys.readouterr().err
    assert said.startswith("drystone: body \\x1b")


def test_formulas_of_spreadsheets(tmp_path):
    assert [for_cell(text) for text in FORMULAS] == [f"'{text}" for text in FORMULAS]
    assert for_cell("\x1b[31mred\u202e") == r"\x1b[31mred\u202e"
    assert [for_cell(x) for x in (-1.5, 3, None, "-1.5", "+2e3", "a=1", "")] == [
        -1.5, 3, None, "-1.5", "+2e3", "a=1", "",
    ]  # fmt: skip
    # a spreadsheet that separates cells by semicolons, or knows wide characters
    for text in ("a;=1+1", "a; @SUM(A1)", 'a";=1;"', "a\n=1", "\uff1d1+1", "a\t\uff0b1"):
        assert "'" in for_cell(text), text
        assert not re.search(r"(^|[;\t\n])\s*[=@\uff1d\uff0b]", for_cell(text)), text
    run = ds.Simulation(world("=HYPERLINK(1)")).run(0.02, record=tmp_path / "a.h5")
    run.close()
    for table in ("bodies", "contacts", "reports"):
        place = tmp_path / f"{table}.csv"
        assert command("export", tmp_path / "a.h5", "-o", place, "--table", table).exit_code == 0
        with place.open(newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "@"))]
    bodies = (tmp_path / "bodies.csv").read_text()
    assert "'=HYPERLINK(1)" in bodies


@pytest.mark.parametrize(
    "name",
    [
        "$\\frac{1}{0}$", "$x", "a_$b$_c", "_hidden", "\\$x$", "$$", "a\nb", "$_{^$", "$\\frac{$ $",
        "\\\\$\\sqrt$", "\x1b]8;;file:///etc/passwd\x07x",
    ],
)  # fmt: skip
def test_figures(tmp_path, name):
    """Drawn as it is: matplotlib would refuse most of these as formulas."""
    pytest.importorskip("matplotlib")
    from matplotlib import cbook

    assert not cbook.is_math_text(for_figure(name)) if hasattr(cbook, "is_math_text") else True
    run = ds.Simulation(world(name)).run(0.05, record=True, contacts=True)
    run.origin = {"title": name}
    ds.plot(run, "trajectory", path=tmp_path / "a.svg", bodies=[name])
    ds.plot(run, "phase", path=tmp_path / "b.png", bodies=[name])
    ds.plot(run, "forces", path=tmp_path / "d.png", bodies=[name])
    plot_profiles({"LCP": ({name: {"p": 1.0}}, ["p"])}, tmp_path / "e.png")
    from drystone.plots.scene_picture import save_picture

    save_picture(ds.Simulation(world(name)), tmp_path / "c.png", title=name)
