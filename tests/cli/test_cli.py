import ast
import re
import signal
import subprocess
import sys

import pytest

from ghr.cli import COMMANDS, main
from ghr.paper.items import ITEMS


def run(capsys, *arguments):
    """Run one command in this process; return its exit code, output and error output."""
    try:
        main([str(argument) for argument in arguments])
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("command", [[], ["--help"], ["-h"], *([name, "--help"] for name in COMMANDS)])
def test_help_everywhere(capsys, command):
    code, out, _ = run(capsys, *command)
    assert code == 0
    assert f"usage: {' '.join(['ghr', *command[:-1]])}" in out
    assert "{None}" not in out


def test_completion_offers_commands_and_options_and_no_words_of_their_help(capsys):
    code, out, _ = run(capsys, "--tyro-print-completion", "bash")
    assert code == 0
    spec = ast.literal_eval(re.search(r"^COMPLETION_SPEC = (.*)$", out, re.MULTILINE)[1])
    assert {*spec["subcommands"]} == {*COMMANDS}
    for command in spec["subcommands"].values():
        for option in command["options"]:
            assert "\n" not in option["description"], option  # a shell would take the second line for a choice


def test_the_help_names_every_command(capsys):
    out = run(capsys, "--help")[1]
    assert all(f"• {name} " in out for name in COMMANDS)


SMALL = ["rgg-sssp-small", "--graphs", "10"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dmeo"], "Unknown command 'dmeo'; known are demo, list"),
        (["dmeo"], "Did you mean demo?"),
        (["--hlep"], "--hlep"),
        (["demo", "--grphs", "3"], "Perhaps you meant: --graphs INT"),
        (["demo", "--graphs", "many"], "many"),
        (["demo", "--out", "{tmp}/file/demo"], "Could not make the folder"),
        (["demo", "--out", "{tmp}/demo", "--t-low", "0"], "--t-low must be a whole number of at least 1; got 0"),
        (["list", "--benchmark"], "Perhaps you meant: --benchmarks"),
        (["train"], "Missing from ghr train: BENCHMARK"),
        (["train", "rgg-ssp"], "Unknown benchmark 'rgg-ssp'; known are rgg-sssp-small, "),
        (["train", "rgg-ssp"], "Did you mean rgg-sssp-"),
        (["train", *SMALL, "--model", "grh"], "Unknown model 'grh'; known are ghr, ghr-gine"),
        (["train", *SMALL, "--model", "grh"], "Did you mean ghr?"),
        (["train", *SMALL, "--modle", "ghr"], "Perhaps you meant: --model STR"),
        (["train", *SMALL, "--set", "stesp=3"], "has no option 'stesp'; known are batch_size,"),
        (["train", *SMALL, "--set", "stesp=3"], "Did you mean steps?"),
        (["train", *SMALL, "--set", "steps"], "--set needs a name and a value, such as --set steps=4; got 'steps'"),
        (["train", *SMALL, "--set", "lr=1", "--set", "lr=2"], "--set gives lr twice"),
        (["train", *SMALL, "--set", "epochs=1", "--epochs", "2"], "epochs is given twice, by --epochs and by --set"),
        (["train", *SMALL, "--set", "steps=0"], "steps must be a whole number of at least 1; got 0"),
        (["train", *SMALL, "--set", "conv=gin"], "Unknown conv 'gin'; known are gine, "),
        (["train", *SMALL, "--set", "weighted=yes"], "weighted must be True or False; got 'yes'"),
        (["train", *SMALL, "--epochs", "0"], "epochs must be a whole number of at least 1; got 0"),
        (["train", *SMALL, "--seed", "9" * 30], "seed must be a whole number of at most"),
        (["train", *SMALL, "--seed", "-1"], "seed must be a whole number of at least 0; got -1"),
        (["train", *SMALL, "--workers", "0"], "--workers must be a whole number of at least 1; got 0"),
        (["train", *SMALL, "--threads", "0"], "--threads must be a whole number of at least 1; got 0"),
        (["train", *SMALL, "--source", "hub"], "rgg-sssp-small has no source 'hub'; it has generate"),
        (["train", *SMALL, "--log", "tensorbord"], "Unknown log 'tensorbord'; known are tensorboard."),
        (["train", *SMALL, "--out", "file"], "--out takes a folder, but file is a file"),
        (["train", *SMALL, "--out", "file/deep/er"], "file is a file"),
        (["train", *SMALL, "--data", "file"], "--data takes a folder, but file is a file"),
        (["train", "rgg-sssp-small", "--graphs", "9"], "must be a whole number of at least 10; got 9"),
        (["train", "city-paris", "--graphs", "10"], "is a single graph"),
        (["eval", "{tmp}/nothing"], "is not a run directory"),
        (["eval", "{tmp}", "--split", "tets"], "Unknown split 'tets'; known are train, val, test. Did you mean test?"),
        (["search", *SMALL, "--trials", "0"], "--trials must be a whole number of at least 1; got 0"),
        (["search", *SMALL, "--processes", "0"], "--processes must be a whole number of at least 1; got 0"),
        (["search", *SMALL, "--budget", "-1"], "--budget must be a finite number above 0; got -1.0"),
        (["search", *SMALL, "--vary", "steps=0:3"], "steps must be a whole number of at least 1; got 0"),
        (["search", *SMALL, "--vary", "steps"], "--vary needs a name and a value, such as --vary steps=2:6; got"),
        (["search", *SMALL, "--vary", "lr=1e-3,1e-2", "--set", "lr=1"], "lr cannot be fixed and chosen at once"),
        (["search", *SMALL, "--space", "nothing.json"], "Could not open nothing.json: No such file or directory."),
        (["reproduce"], "Say which item to reproduce; known are figure-small-range, "),
        (["bench", "--repeats", "0"], "repeats=0"),
        (["data", "rgg-sssp-small", "--graphs", "-5"], "at least 10; got -5"),
        (["data", "rgg-sssp-small", "--workers", "0"], "--workers must be a whole number of at least 1; got 0"),
    ],
)
def test_every_mistake_is_one_clear_message_and_leaves_nothing(capsys, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("in the way")
    code, out, err = run(capsys, *(word.format(tmp=tmp_path) for word in arguments))
    assert code == 2
    assert words in " ".join((out + err).replace("│", " ").split())
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_file_that_cannot_be_read_is_named(capsys, tmp_path, monkeypatch):
    def locked(self):
        raise PermissionError(13, "Permission denied", str(tmp_path / "config.json"))

    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setattr("pathlib.Path.read_text", locked)
    code, _, err = run(capsys, "eval", str(tmp_path))
    assert (code, err) == (2, f"ghr: Could not open {tmp_path / 'config.json'}: Permission denied.\n")


def test_what_is_not_installed_is_a_sentence(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit.Chem", None)
    code, _, err = run(capsys, "data", "peptides-struct", "--graphs", "10", "--out", str(tmp_path))
    assert (code, "install it with: pip install rdkit." in err, "Traceback" in err) == (2, True, False)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_shells_complete_commands_and_options(capsys, shell):
    code, out, _ = run(capsys, "--tyro-print-completion", shell)
    assert code == 0
    assert all(name in out for name in COMMANDS)
    assert "--no-train" in out


def test_a_shell_takes_the_completion(capsys, tmp_path):
    (tmp_path / "ghr").write_text(run(capsys, "--tyro-print-completion", "bash")[1])
    typed = "COMP_WORDS=(ghr tra); COMP_CWORD=1; COMP_LINE='ghr tra'; COMP_POINT=7"
    completer = "$(complete -p ghr | sed -E 's/.*-F ([^ ]+).*/\\1/')"
    script = f"source {tmp_path / 'ghr'}; {typed}; {completer}; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["train"]


@pytest.mark.parametrize(("command", "goes_on"), [("demo", True), ("bench", False)])
def test_stopping_says_what_is_kept(capsys, monkeypatch, command, goes_on):
    def stop(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"ghr.cli.{command}.{command.title()}.run", stop)
    before = signal.getsignal(signal.SIGINT)
    try:
        code, _, err = run(capsys, command)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL  # pressed again, it says nothing more
    finally:
        signal.signal(signal.SIGINT, before)
    assert (code, "goes on from the last whole epoch" in err) == (130, goes_on)


def test_debugging_shows_where(monkeypatch, tmp_path):
    monkeypatch.setenv("GHR_DEBUG", "1")
    with pytest.raises(FileNotFoundError):
        main(["eval", str(tmp_path)])


def test_all_items_are_listed_without_naming_one(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, "reproduce", "--list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:]] == [*ITEMS]
