"""How fast is it? `python -m benchmarks run NAME` measures, `python -m benchmarks plot` draws."""
