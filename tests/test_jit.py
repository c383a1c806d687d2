import subprocess
import sys


def test_kernels_compile_without_a_folder_to_cache_them_in(tmp_path):
    script = (
        "from ghr.jit import compiled\n"
        "exec(compile('def twice(x):\\n    return 2 * x', '<nowhere>', 'exec'))\n"
        "print(compiled(twice)(21))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "42\n", done.stderr
