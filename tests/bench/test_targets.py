from ghr.bench.targets import NO_TARGETS, Targets


def test_without_a_bound_there_is_nothing_to_meet():
    assert Targets() == NO_TARGETS
    assert vars(NO_TARGETS) == {"speedup": None, "memory": None, "seconds": None}
    assert Targets(speedup=2.0) != NO_TARGETS
