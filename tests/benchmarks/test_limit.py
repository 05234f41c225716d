import numpy as np
import pytest

from benchmarks import limit


@pytest.mark.parametrize("size", [1 << 7, 1 << 12, 1 << 20])
def test_the_lines_of_the_limit_form_one_cycle(size):
    lines = limit.scattered_cycle(size)
    assert lines.nbytes == size
    line, seen = 0, set()
    while line not in seen:
        seen.add(line)
        line = lines[line * 8]
    assert line == 0
    assert len(seen) == size // 64


def test_the_limit_reads_a_line_per_keyword_and_writes_a_cell_per_match():
    lines = limit.scattered_cycle(1 << 12)
    answers = np.zeros(3, np.int64)
    end = limit.visit(lines, np.array([0, 2, 3]), np.array([0, 1, 3]), answers, 0)
    first = lines[8 * lines[0]]
    assert end == lines[8 * first]
    assert answers.tolist() == [first, end, end]
