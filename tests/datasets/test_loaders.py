import pytest

from nearcast.datasets import DataAbsentError, bounds_of, chicago, gnis
from nearcast.datasets.files import data_file


@pytest.mark.parametrize("load", [gnis, chicago])
def test_absent_data_is_an_error_that_tells_what_to_do(load, monkeypatch, tmp_path):
    monkeypatch.setenv("NEARCAST_DATA", str(tmp_path))
    with pytest.raises(DataAbsentError, match=r"set NEARCAST_DATA .* or use the synthetic"):
        load()


def present(name):
    try:
        return data_file(name).is_file()
    except DataAbsentError:
        return False


@pytest.mark.skipif(not present("gnis_us.parquet"), reason="the data set is not on this machine")
def test_gnis():
    batch = gnis()
    assert len(batch) == 302_854
    assert batch.words.size / len(batch) == pytest.approx(7.07, abs=0.01)
    assert 50_000 < len(batch.lexicon) < 60_000
    assert bounds_of(batch).west < -100


@pytest.mark.skipif(
    not present("chicago_2018.parquet"), reason="the data set is not on this machine"
)
def test_chicago():
    batch = chicago()
    assert len(batch) == 156_385
    assert batch.words.size / len(batch) == pytest.approx(8.71, abs=0.01)
    assert (batch.time[1:] >= batch.time[:-1]).all()
    assert batch.time[0] == 1514764800.0  # 2018-01-01
