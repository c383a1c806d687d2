import subprocess
import sys

import pytest

import ghr
from ghr.cli import main


def run(capsys, *arguments):
    """Run one command in this process; return its exit code, output and error output."""
    try:
        main(list(arguments))
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize(
    "command",
    [[], ["--help"], ["demo", "--help"], ["train", "--help"], ["eval", "--help"], ["reproduce", "-h"], ["bench", "-h"]],
)
def test_help_everywhere(capsys, command):
    code, out, _ = run(capsys, *command)
    assert code == 0
    assert "usage: ghr" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dmeo"], "dmeo"),
        (["demo", "--grphs", "3"], "--grphs"),
        (["demo", "--graphs", "many"], "many"),
        (["train", "rgg-ssp"], "rgg-sssp-small"),
        (["train", "rgg-sssp-small", "--conv", "gin"], "gated_gine"),
        (["train", "rgg-sssp-small", "--epochs", "0", "--data", "{tmp}"], "epochs must be an integer of at least 1"),
        (["train", "rgg-sssp-small", "--steps", "0", "--data", "{tmp}"], "steps must be a whole number of at least 1"),
        (["train", "rgg-sssp-small", "--graphs", "0", "--data", "{tmp}"], "num_graphs must be a whole number"),
        (["train", "rgg-sssp-small", "--layers", "5"], "--layers 5 does not apply to --model ghr"),
        (["train", "rgg-sssp-small", "--model", "deep", "--t-low", "5"], "--t-low 5 does not apply to --model deep"),
        (["eval", "{tmp}/nothing"], "is not a run directory"),
        (["bench", "--repeats", "0"], "repeats=0"),
        (["demo", "--out", "{tmp}/file/demo"], "Could not make the folder"),
        (["demo", "--out", "{tmp}/demo", "--t-low", "0"], "--t-low must be a whole number of at least 1; got 0"),
        (["train", "rgg-sssp-small", "--out", "{tmp}/file", "--data", "{tmp}"], "--out takes a folder for the run"),
        (["train", "rgg-sssp-small", "--seed", "9" * 30, "--data", "{tmp}"], "seed must be below 2**63"),
        (["data", "rgg-sssp-small", "--graphs", "-5", "--out", "{tmp}"], "--graphs must be at least 1; got -5"),
        (["data", "rgg-sssp-small", "--workers", "0", "--out", "{tmp}"], "--workers must be at least 1; got 0"),
    ],
)
def test_every_mistake_is_exit_code_two_and_one_clear_message(capsys, tmp_path, arguments, words):
    (tmp_path / "file").write_text("in the way")
    code, out, err = run(capsys, *(word.format(tmp=tmp_path) for word in arguments))
    assert code == 2
    assert words in " ".join((out + err).replace("│", " ").split())
    assert "Traceback" not in err


def test_a_file_that_cannot_be_read_is_named(capsys, tmp_path, monkeypatch):
    def locked(self):
        raise PermissionError(13, "Permission denied", str(tmp_path / "config.json"))

    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setattr("pathlib.Path.read_text", locked)
    code, _, err = run(capsys, "eval", str(tmp_path))
    assert (code, err) == (2, f"ghr: Could not open {tmp_path / 'config.json'}: Permission denied.\n")


def test_what_is_not_installed_is_a_sentence(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit.Chem", None)
    code, _, err = run(capsys, "data", "peptides-struct", "--graphs", "3", "--out", str(tmp_path))
    assert (code, "install it with: pip install rdkit." in err, "Traceback" in err) == (2, True, False)


def test_the_version_and_the_module(capsys):
    assert run(capsys, "--version")[:2] == (0, f"ghr {ghr.__version__}\n")
    done = subprocess.run([sys.executable, "-m", "ghr", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"ghr {ghr.__version__}\n"


@pytest.mark.parametrize(("command", "goes_on"), [("demo", True), ("bench", False)])
def test_stopping_says_what_is_kept(capsys, tmp_path, monkeypatch, command, goes_on):
    def stop(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"ghr.cli.{command}.{command.title()}.run", stop)
    code, _, err = run(capsys, command)
    assert (code, "goes on from the last whole epoch" in err) == (130, goes_on)


def test_debugging_shows_where(monkeypatch, tmp_path):
    monkeypatch.setenv("GHR_DEBUG", "1")
    with pytest.raises(FileNotFoundError):
        main(["eval", str(tmp_path)])


def test_the_installed_command_runs():
    done = subprocess.run(
        [sys.executable, "-c", "from ghr.cli import main; main(['bench', 'F', '--quick', '--threads', '1'])"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "ns per edge" in done.stdout
