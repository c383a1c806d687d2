import subprocess
import sys

import pytest

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
    ],
)
def test_every_mistake_is_exit_code_two_and_one_clear_message(capsys, tmp_path, arguments, words):
    (tmp_path / "file").write_text("in the way")
    code, out, err = run(capsys, *(word.format(tmp=tmp_path) for word in arguments))
    assert code == 2
    assert words in " ".join((out + err).replace("│", " ").split())
    assert "Traceback" not in err


def test_debugging_shows_where(monkeypatch, tmp_path):
    monkeypatch.setenv("GHR_DEBUG", "1")
    with pytest.raises(FileNotFoundError):
        main(["eval", str(tmp_path)])


def test_interrupting_is_no_traceback(monkeypatch, capsys):
    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr("ghr.cli.bench.Bench.run", interrupted)
    code, _, err = run(capsys, "bench")
    assert code == 130
    assert "the same command goes on" in err


def test_the_installed_command_runs():
    done = subprocess.run(
        [sys.executable, "-c", "from ghr.cli import main; main(['bench', 'F', '--quick', '--threads', '1'])"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "ns per edge" in done.stdout
