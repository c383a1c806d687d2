from ghr.cli.errors import errors_table


def test_a_row_per_model_a_column_per_distance_and_a_dash_where_nobody_stands():
    near = {"by_distance": {"0": {"mae": 0.5}}, "in_range": 0.5, "out_of_range": None}
    far = {"by_distance": {"0": {"mae": 0.25}, "7": {"mae": 123.456}}, "in_range": 0.25, "out_of_range": 123.456}
    lines = [line.split() for line in errors_table({"near": near, "far": far}, 5).splitlines()]
    assert lines[0][3:5] == ["0", "7"]
    assert lines[1] == ["near", "0.500", "-", "0.500", "-"]
    assert lines[2] == ["far", "0.250", "123.5", "0.250", "123.5"]
