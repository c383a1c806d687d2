import io
import sys

from tqdm import tqdm

from ghr.cli.together import move_bar, run_together


def end(folder):
    """Fail where another process was first."""
    try:
        (folder / "first").touch(exist_ok=False)
    except FileExistsError:
        (folder / "second").touch()
        sys.exit(2)


def test_processes_that_fail_are_counted(tmp_path):
    looks = []
    assert run_together(end, (tmp_path,), 2, lambda: looks.append(1)) == 1
    assert len([*tmp_path.iterdir()]) == 2
    assert looks


def test_a_bar_goes_where_the_work_is():
    with tqdm(total=5, initial=1, file=io.StringIO()) as bar:
        move_bar(bar, 3)
        assert bar.n == 3
