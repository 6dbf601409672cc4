"""The command line as a whole: exit codes, help, and the entry point."""

import io
import subprocess
import sys
from importlib.metadata import entry_points

import pytest
import typer

import worthwhile
from command_line import run, start
from worthwhile import cli
from worthwhile.cli.costs import costs_app
from worthwhile.cli.users import users_app


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["demo", "--seed", "-1"], "--seed"),
        (["demo", "--seed", "4294967296"], "invalid value for '--seed'"),
        (["demo", "--seed", "x"], "invalid value for '--seed'"),
        (["demo", "--colour"], "No such option"),
        (["demo", "--out"], "requires an argument"),
        (["reproduce"], "Missing argument"),
        (["reproduce", "turney-table5", "--jobs", "0"], "--jobs"),
        (
            ["reproduce", "turney-table9"],
            "there is no experiment 'turney-table9'; valid names: turney, turney-table5, ",
        ),
        (["reproduce", "turney-table5", "--data", "nowhere"], "nowhere: is not a folder; --data must name the folder"),
        (["dream"], "No such command"),
        (["--colour"], "No such option"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(capsys, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("worthwhile: ")
    assert err.count("\n") == 1
    assert words.lower().replace(" ", "") in err.lower().replace(" ", "")
    assert list(tmp_path.iterdir()) == []


def test_help_and_version(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "demo" in out
    code, out, _ = run(capsys, "demo", "--help")
    assert code == 0
    assert "Example" in out
    assert "worthwhile demo --out my-demo --seed 3" in " ".join(out.split())
    for option in ("--seed", "--quiet", "--out"):
        assert option in out
    assert run(capsys, "--version") == (0, f"worthwhile {worthwhile.__version__}\n", "")
    code, out, _ = run(capsys)
    assert code == 2
    assert "Usage" in out


COMMANDS = ["demo", "learn", "evaluate", "predict", "next", "show", "compare", "reproduce", "costs init", "costs check"]
COMMANDS += ["reprice", "export", "serve", "users add", "users list", "users remove", "audit", "backup", "replay"]


def test_the_list_of_commands_is_complete():
    top = {command.name or command.callback.__name__ for command in cli.app.registered_commands}
    costs = {f"costs {command.name or command.callback.__name__}" for command in costs_app.registered_commands}
    users = {f"users {command.name}" for command in users_app.registered_commands}
    assert top | costs | users == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(capsys, command):
    code, out, err = run(capsys, *command.split(), "--help")
    assert (code, err) == (0, "")
    assert f"Example: worthwhile {command} " in " ".join(out.split())
    assert "--quiet" in out


def test_help_needs_no_learner():
    program = (
        "import sys\n"
        "from worthwhile.cli import run\n"
        "assert run(['--help']) == 0 and run(['learn', '--help']) == 0\n"
        "assert not [m for m in ('sklearn', 'scipy', 'matplotlib', 'joblib', 'pandas') if m in sys.modules]"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_the_entry_point_exits_with_the_code(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["worthwhile", "--version"])
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"worthwhile {worthwhile.__version__}\n"
    assert sys.stderr.errors == "replace"


def test_a_reader_that_goes_away(folder):
    with start("show", folder / "model.json") as process:
        process.stdout.close()
        err = process.stderr.read()
        process.wait(timeout=300)
    assert "Traceback" not in err


def test_the_module_is_the_command():
    run = subprocess.run([sys.executable, "-m", "worthwhile", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout == f"worthwhile {worthwhile.__version__}\n"


def commands():
    """Every command with its words on the command line."""
    group = typer.main.get_command(cli.app)
    for name, command in group.commands.items():
        inner = getattr(command, "commands", None)
        yield from ([(f"{name} {own}", one) for own, one in inner.items()] if inner else [(name, command)])


def test_commands_take_a_seed_if_something_is_random():
    found = {words: {option for one in command.params for option in one.opts} for words, command in commands()}
    assert set(found) == set(COMMANDS)
    assert {words for words, options in found.items() if "--seed" in options} == {
        "demo",
        "learn",
        "evaluate",
        "compare",
        "reproduce",
    }
    assert [words for words, options in found.items() if "--quiet" not in options] == []


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError("74.5 GiB"), "not enough memory: 74.5 GiB; use fewer cases"),
        (MemoryError(), "not enough memory; use fewer cases"),
        (ImportError("a.so: failed to map segment from shared object"), "not enough memory: a.so: failed to map"),
        (RuntimeError("can't start new thread"), "not enough memory: can't start new thread; use fewer cases"),
        (RecursionError("maximum recursion depth exceeded"), "the input is nested too deeply"),
        (OverflowError("int too large"), "unexpected OverflowError: int too large; set WORTHWHILE_TRACEBACK=1"),
        (KeyError("x"), "unexpected KeyError: 'x'; set WORTHWHILE_TRACEBACK=1"),
        (OSError(), "OSError"),
    ],
)
def test_any_error_is_one_line_and_code_2(capsys, monkeypatch, error, words):
    def fail(**_):
        raise error

    monkeypatch.delenv("WORTHWHILE_TRACEBACK", raising=False)
    monkeypatch.setattr(cli, "app", fail)
    code, out, err = run(capsys, "demo")
    assert (code, out) == (2, "")
    assert err.startswith(f"worthwhile: {words}")
    assert err.count("\n") == 1
    if not isinstance(error, OSError):
        monkeypatch.setenv("WORTHWHILE_TRACEBACK", "1")
        with pytest.raises(type(error)):
            cli.run(["demo"])


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [("KeyboardInterrupt", 130, "stopped"), ("MemoryError", 2, "cannot start: MemoryError")],
)
def test_what_happens_during_imports_is_one_line(fault, code, words):
    program = (
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, *rest):\n"
        f"        if name == 'typer': raise {fault}\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from worthwhile.__main__ import main\n"
        "main()"
    )
    run = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (code, "", f"worthwhile: {words}\n")


def test_the_command_is_the_module_that_guards_its_imports():
    (entry,) = entry_points(group="console_scripts", name="worthwhile")
    assert entry.value == "worthwhile.__main__:main"


def test_warnings_are_one_line_without_control_characters():
    program = (
        "import warnings\nfrom worthwhile import cli\n"
        "cli.run = lambda _: warnings.warn('the column \\x1b[2J\\nage') or 0\ncli.main()"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stderr == "worthwhile: warning: the column \\u001b[2J age\n"


@pytest.mark.parametrize(("megabytes", "code"), [(300, 2), (649, 2), (2_000, 0)])
def test_too_little_memory_is_refused_before_libraries_wait_for_it_for_ever(megabytes, code):
    program = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({megabytes} * 2**20,) * 2)\n"
        "from worthwhile.__main__ import main\n"
        "sys.argv = ['worthwhile', '--version']\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == code
    assert done.stderr.count("\n") == bool(code)
    if code:
        assert f"the limit (ulimit -v) is {megabytes} MB, at least 650 MB are needed" in done.stderr
