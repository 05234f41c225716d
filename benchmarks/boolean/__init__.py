"""The room `nearcast.boolean`: who is fastest, where, and what goes wrong at the extremes."""

from benchmarks.boolean import churn, extremes, grid, recommend, whole

FIGURES = {
    module.FIGURE.name: module.FIGURE for module in (whole, grid, extremes, churn, recommend)
}
