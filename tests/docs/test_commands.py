"""Every command that the documentation shows is run, shortened where it would take long.

Commands of ``sh`` blocks run in a folder that holds the files they speak of. Scenes are run for two
of their steps. Live views are started up to the page they would serve, and benchmarks, which have
tests of their own, are read to the last option but not run.
"""

import re
import shlex
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import drystone as ds
from benchmarks.__main__ import app as benchmarks
from drystone.cli.main import app
from drystone.scenes import SCENES

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
]
BLOCK = re.compile(r"^```sh\b[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(drystone|python -m benchmarks) ([^`\n]+)`")
COMMANDS = typer.main.get_command(app)
BENCHMARKS = typer.main.get_command(benchmarks)


def shown():
    """Commands of all blocks by the page that shows them first."""
    out = {}
    for page in PAGES:
        for block in BLOCK.finditer(page.read_text()):
            for line in block.group(1).replace("\\\n", " ").splitlines():
                for command in re.split(r"&&", re.sub(r"(^|\s)#.*", "", line)):
                    if command := command.split("|")[0].strip():
                        out.setdefault(command, str(page.relative_to(ROOT)))
    return out


SHOWN = shown()
OURS = [c for c in SHOWN if c.startswith("drystone ")]
OTHERS = [c for c in SHOWN if not c.startswith("drystone ")]


def test_there_is_something_to_run():
    assert len(OURS) > 60
    assert any("gallery" in page for page in SHOWN.values())


def taken():
    """Names of files that commands take: those that none of their options writes."""
    writes = ("-o", "--output", "--picture", "--plots", "--record", "-r", "--html")
    out = {"problems/one.hdf5", "one.dat"}  # of patterns
    for command in OURS:
        words = shlex.split(command)
        for before, word in pairwise(words):
            if before not in writes and "*" not in word:
                out.add(word)
    return sorted(out)


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with the files that commands of the documentation take."""
    folder = tmp_path_factory.mktemp("desk")
    wall = ds.scene("wall", courses=2, columns=2)
    problem = ds.FrictionProblem([[2.0, 0, 0], [0, 2, 0], [0, 0, 2]], [-1.0, 0.3, 0.0], mu=0.5)
    for place in map(folder.joinpath, taken()):
        place.parent.mkdir(exist_ok=True)
        if place.suffix in (".hdf5", ".dat"):
            ds.write_problem(problem, place)
        elif place.suffix in (".yaml", ".json"):
            ds.write_scene(place, wall)
        elif place.suffix == ".h5":
            ds.scene("disks-21", rows=2).simulation().run(0.1, record=place)
    return folder


def expanded(words, folder):
    """Patterns of file names, as the shell would."""
    out = []
    for word in words:
        found = sorted(folder.glob(word)) if "*" in word else []
        out += [str(p.relative_to(folder)) for p in found] or [word]
    return out


def two_steps(words):
    """Seconds that two steps of the scene take, or of a scene file."""
    settings = [words[i + 1].split("=") for i, w in enumerate(words) if w in ("--set", "-s")]
    if words[1] not in SCENES:
        return 0.02
    fixed = {key: value for key, value in settings if ":" not in value and "," not in value}
    return 2 * ds.scene(words[1], **fixed).method.dt


def shortened(words):
    """The command for two steps, in one process, in small: of options the last one counts."""
    verb = words[0]
    takes = verb in ("run", "plot", "compare", "sweep") or (verb == "view" and "--html" in words)
    if takes and not words[1].endswith(".h5"):
        steps = 5 if "--record" in words else 1  # a recording has frames, for plots, every 1/60 s
        words = [*words, "--duration", str(steps * two_steps(words))]
    if "--record" in words:
        words = [*words, "--overwrite"]  # the folder holds what other pages recorded
    small = {"--size": "160x100", "--start": "0"}  # of recordings that are as short as the runs
    given = [part for name, value in small.items() if name in words for part in (name, value)]
    more = {"sweep": ["--jobs", "1"], "export": given}
    return [*words, *more.get(verb, [])]


@pytest.fixture
def no_server(monkeypatch):
    """A viewer that looks at its subject and ends at once."""

    class Ended:
        title, url = "nothing", "http://127.0.0.1"

        def wait(self):
            """Nobody looks."""

    def show(subject, **options):
        assert hasattr(subject, "model")
        return Ended()

    monkeypatch.setattr("drystone.view.viewer.show", show)


def found(words, command=COMMANDS):
    """The command that the first words name, and the words that are left."""
    words = list(words)
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        assert words[0] in command.commands, f"no command {words[0]!r}"
        command = command.commands[words.pop(0)]
    return command, words


@pytest.mark.parametrize("command", OURS)
def test_a_command_does_what_the_page_says(command, desk, monkeypatch, no_server):
    monkeypatch.chdir(desk)
    words = expanded(shlex.split(command)[1:], desk)
    if words[0] == "bench":
        command, left = found(words)
        command.make_context(command.name, left)
        return
    done = CliRunner().invoke(app, shortened(words))
    assert done.exit_code == 0, f"{SHOWN[command]}: {done.output}\n{done.exception!r}"
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word in ("-o", "--output", "--picture", "--plots", "--record", "--html"):
            assert Path(after).exists(), f"{SHOWN[command]}: {after} was not written"


@pytest.mark.parametrize("command", OTHERS)
def test_other_commands_name_what_there_is(command):
    """Targets of make, extras of pip, scripts of the repository."""
    words = shlex.split(command)
    if words[0] == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert set(words[1:]) <= set(targets)
    elif words[:3] == ["python", "-m", "pip"]:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        named = re.findall(r"\[([\w,]+)\]", command)
        wanted = {extra for names in named for extra in names.split(",")}
        assert wanted <= set(extras["optional-dependencies"])
    elif words[:3] == ["python", "-m", "benchmarks"]:
        command, left = found(words[3:], BENCHMARKS)
        command.make_context(command.name, left)
    elif words[0] == "python":
        assert words[1] == "-m" or (ROOT / words[1]).exists()
    else:
        assert words[0] in ("pip", "git", "cd", "jq", ".ci/run"), command


def test_commands_within_sentences_exist():
    """Verbs and options; names in capitals stand for something else."""
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for match in INLINE.finditer(text):
            commands = COMMANDS if match[1] == "drystone" else BENCHMARKS
            command, words = found(shlex.split(match[2]), commands)
            known = {o for p in command.params for o in (*p.opts, *p.secondary_opts)}
            known |= {"--help", "--install-completion", "--show-completion"}
            options = {w.split("=")[0] for w in words if re.match(r"--?[a-z]", w)}
            assert options <= known, f"{page.name}: {match[0]}"
