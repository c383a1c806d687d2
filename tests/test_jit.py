import shutil
import subprocess
import sys
from pathlib import Path

import ghr.jit


def run(script, cwd, **environment):
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=cwd, env={"PATH": "", **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.strip()


def test_kernels_compile_without_a_folder_to_cache_them_in(tmp_path):
    script = (
        "from ghr.jit import compiled\n"
        "exec(compile('def twice(x):\\n    return 2 * x', '<nowhere>', 'exec'))\n"
        "print(compiled(twice)(21))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "42\n", done.stderr


KERNEL = """
from ghr.jit import fast
from kernels.shared import change


@fast
def work(x):
    return change(x)
"""
SHARED = """
from ghr.jit import called


@called
def change(x):
    return {}
"""


def make_package(folder, formula):
    """Write a kernel and a helper into a folder, as a package of two files beside the parts of ghr that they use."""
    package = folder / "kernels"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text("")
    (package / "work.py").write_text(KERNEL)
    (package / "shared.py").write_text(SHARED.format(formula))
    ours = folder / "ghr"
    ours.mkdir(exist_ok=True)
    (ours / "__init__.py").write_text("")
    for name in ("jit.py", "progress.py"):
        shutil.copy(Path(ghr.jit.__file__).with_name(name), ours / name)


def test_a_changed_helper_is_seen_although_the_kernel_stands_in_another_file(tmp_path):
    script = "from kernels.work import work; print(work(20.0))"
    where = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    make_package(tmp_path, "x + 1")
    told = run(script, tmp_path, **where)
    assert told[0] == "21.0"
    assert told[1].startswith("Compiling kernels")
    assert "\n" not in told[1]
    files = sorted(path.name for path in tmp_path.glob("cache/*/*"))
    assert len(files) == 2
    assert run(script, tmp_path, **where) == ("21.0", "")  # taken from the disk, and nothing said
    make_package(tmp_path, "x + 2")
    assert run(script, tmp_path, **where)[0] == "22.0"
    assert sorted(path.name for path in tmp_path.glob("cache/*/*")) == files  # in the place of the old ones
