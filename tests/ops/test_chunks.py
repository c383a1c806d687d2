from hypothesis import given
from hypothesis import strategies as st

from ghr.ops.chunks import PART, SMALL_PART, chunk_count, separate_size


@given(st.integers(0, 10**7))
def test_every_part_is_worth_it_and_there_are_not_too_many(rows):
    count = chunk_count(rows)
    assert 1 <= count <= 256
    assert count == 1 or rows // count >= PART
    assert count == 256 or rows < (count + 1) * PART, "one part more would be too small"


@given(st.integers(0, 10**7))
def test_few_rows_are_cut_into_smaller_parts(rows):
    size = separate_size(rows)
    assert SMALL_PART <= size <= PART
    assert size in (SMALL_PART, PART) or rows // size == 16
