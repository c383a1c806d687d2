"""The far end of :mod:`ghr.datasets.storage.resumable`: reads one molecule a line, answers with arrays."""

import json
import os
import sys
from typing import IO

import numpy as np
from safetensors.numpy import save

from ghr.datasets.generators.molecules.label import Arrays, charges_and_energy, peptide

FUNCTIONS = {"peptide": peptide, "charges_and_energy": charges_and_energy}


def serve() -> None:
    """Answer requests from the standard input until it ends."""
    # Answers have the standard output to themselves: what libraries print would be taken for one.
    with os.fdopen(os.dup(1), "wb") as answers:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        serve_from(sys.stdin, answers)


def serve_from(requests: IO[str], answers: IO[bytes]) -> None:
    """Answer every line of ``{"function": ..., "item": {...}}`` by a length in 8 bytes and that much of safetensors."""
    for line in requests:
        answer = _answer(json.loads(line))
        answers.write(len(answer).to_bytes(8, "big") + answer)
        answers.flush()


def _answer(request: dict[str, object]) -> bytes:
    item = request["item"]
    assert isinstance(item, dict)
    arrays: Arrays = {}
    try:
        arrays = FUNCTIONS[str(request["function"])](**item)
        if all(np.isfinite(array).all() for array in arrays.values()):
            return save(arrays, {})
        return save({}, {"failure": "a result is not a finite number"})
    except ImportError as error:
        return save({}, {"missing": str(error)})
    except ValueError as error:
        return save({}, {"failure": str(error)})
    except Exception as error:  # RDKit has errors of its own for what it does not expect
        return save({}, {"failure": f"{type(error).__name__} in its libraries"})
