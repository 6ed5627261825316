import torch
from parlour.training.learning.networks import Recorded, capture_on

CPU = torch.device("cpu")


def test_without_a_capture_a_call_is_a_call_of_the_function():
    assert capture_on(CPU) is None
    scaled = Recorded(lambda by, rows: rows * by, CPU, None)
    assert scaled(2.0, rows=torch.ones(3)).tolist() == [2, 2, 2]


def test_the_second_call_is_recorded_and_later_ones_start_the_record():
    calls, records = [], []

    def function(by, rows):
        calls.append(type(by))
        return rows * by

    def capture(work):
        records.append(work)
        return work

    scaled = Recorded(function, CPU, capture)
    made = [scaled(by, rows=torch.full((3,), 2.0)) for by in (1.0, 2.0, 3.0, 3.0)]
    assert [one.tolist() for one in made] == [[2] * 3, [4] * 3, [6] * 3, [6] * 3]
    assert calls == [float, torch.Tensor, torch.Tensor, torch.Tensor]
    assert len(records) == 1
    given = torch.ones(2)
    for expected in (5, 5):  # other shapes have a record of their own
        assert scaled(5.0, rows=given).tolist() == [expected] * 2
    assert given.tolist() == [1, 1]
    assert len(records) == 2
    assert scaled(4.0, rows=torch.ones(3)).tolist() == [4] * 3
    assert len(records) == 2
