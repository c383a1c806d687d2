import pytest

from ghr import memory
from ghr.memory import check_memory, physical_memory


def test_the_machine_has_memory():
    assert physical_memory() is None or physical_memory() > 2**28


def test_too_much_is_said_before_it_fails(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 4 * 2**30)
    check_memory("It", 2**30, "take less")
    with pytest.raises(ValueError, match=r"^It needs 8 GiB of memory, and the machine has 4; take less\.$"):
        check_memory("It", 8 * 2**30, "take less")


def test_nothing_is_refused_where_the_system_does_not_say(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: None)
    check_memory("It", 2**80, "take less")
