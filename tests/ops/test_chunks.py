from hypothesis import given
from hypothesis import strategies as st

from ghr.ops.chunks import PART, chunk_count


@given(st.integers(0, 10**7))
def test_every_part_is_worth_it_and_there_are_not_too_many(rows):
    count = chunk_count(rows)
    assert 1 <= count <= 256
    assert count == 1 or rows // count >= PART
    assert count == 256 or rows < (count + 1) * PART, "one part more would be too small"
