from ghr.cli.errors import errors_table


def group(mae, count=1):
    return {"mae": mae, "count": count}


def read(errors, in_range):
    return [line.split() for line in errors_table(errors, in_range).splitlines()]


def test_a_row_per_model_a_column_per_distance_and_a_dash_where_nobody_stands():
    near = {"by_distance": {"0": group(0.5)}, "in_range": 0.5, "out_of_range": None}
    far = {"by_distance": {"0": group(0.25), "7": group(123.456)}, "in_range": 0.25, "out_of_range": 123.456}
    lines = read({"near": near, "far": far}, 5)
    assert lines[0][3:] == ["0", "7", "in", "range", "(<=", "5)", "out", "of", "range", "(>", "5)"]
    assert lines[1] == ["near", "0.500", "-", "0.500", "-"]
    assert lines[2] == ["far", "0.250", "123.5", "0.250", "123.5"]


def test_many_distances_share_columns_that_end_where_training_ends():
    by_distance = {str(distance): group(float(distance), 1 + distance) for distance in range(41)}
    header, row = read({"model": {"by_distance": by_distance, "in_range": 1.0, "out_of_range": 2.0}}, 20)
    assert header[3:14] == ["0", "1-4", "5-8", "9-12", "13-16", "17-20", "21-24", "25-28", "29-32", "33-36", "37-40"]
    mean = sum(d * (1 + d) for d in range(17, 21)) / sum(1 + d for d in range(17, 21))
    assert row[6] == f"{mean:.1f}"


def test_without_a_cap_nothing_is_beyond():
    error = {"by_distance": {"0": group(0.5), "1": group(1.5)}, "in_range": None, "out_of_range": None}
    assert read({"model": error}, None) == [["mean", "absolute", "error", "0", "1"], ["model", "0.500", "1.500"]]


def test_no_distance_at_all_is_a_table_too():
    assert read({"model": {"by_distance": {}, "in_range": None, "out_of_range": None}}, None)[1] == ["model"]
