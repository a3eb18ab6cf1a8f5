"""statistics: averages, spreads, quantiles, correlation, a normal distribution."""

import statistics as st
from decimal import Decimal
from fractions import Fraction

data = [2.75, 1.75, 1.25, 0.25, 0.5, 1.25, 3.5]
x, y = [18, 24, 30, 36, 42], [3.1, 4.5, 5.2, 6.9, 7.7]
normal = st.NormalDist(100, 15)
try:
    st.mean([])
except st.StatisticsError as error:
    empty = str(error)
line = st.linear_regression(x, y)
return {
    "averages": [
        st.mean(data),
        st.fmean(data),
        st.geometric_mean([54, 24, 36]),
        st.harmonic_mean([40, 60], weights=[5, 30]),
    ],
    "medians": [
        st.median(data),
        st.median_low([1, 3, 5, 7]),
        st.median_high([1, 3, 5, 7]),
        st.median_grouped([1, 2, 2, 3, 4, 4, 4, 4, 4, 5]),
    ],
    "modes": [st.mode("abbc"), st.multimode("aabbc")],
    "spreads": [st.pstdev(data), st.stdev(data), st.pvariance(data), st.variance(data, xbar=st.mean(data))],
    "quantiles": [st.quantiles(data, n=4), st.quantiles(range(1, 100), n=10, method="inclusive")],
    "exact": [
        str(st.mean([Fraction(1, 6), Fraction(1, 3)])),
        str(st.mean([Decimal("0.5"), Decimal("0.75")])),
        st.mean([1e20, 1, 3, -1e20]),
    ],
    "pairs": [round(value, 12) for value in (st.correlation(x, y), st.covariance(x, y), *line)],
    "normal": [
        normal.cdf(115),
        normal.pdf(100),
        normal.inv_cdf(0.95),
        normal.zscore(130),
        normal.overlap(st.NormalDist(110, 10)),
    ],
    "sums": [(normal + 5).mean, (normal * 2).stdev, str(st.NormalDist.from_samples(data))],
    "empty": empty,
}
