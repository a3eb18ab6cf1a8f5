"""Decimals: contexts, rounding, special values, exact sums, formats."""

from decimal import (
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_HALF_UP,
    Context,
    Decimal,
    DivisionByZero,
    Inexact,
    InvalidOperation,
    getcontext,
    localcontext,
)


def split(amount, people):
    """Divide an amount so that no cent is lost."""
    share = (amount / people).quantize(Decimal("0.01"), ROUND_DOWN)
    rest = int((amount - share * people) * 100)
    return [str(share + Decimal("0.01") * (n < rest)) for n in range(people)]


def main():
    with localcontext() as context:
        context.prec = 50
        root = Decimal(2).sqrt()
        e = Decimal(1).exp()
        context.clear_flags()
        context.divide(1, 3)
        inexact = bool(context.flags[Inexact])
    refused = []
    for operation in (lambda: Decimal(1) / 0, lambda: Decimal("x"), lambda: Decimal(-1).sqrt()):
        try:
            operation()
        except (DivisionByZero, InvalidOperation) as error:
            refused.append(type(error).__name__)
    value = Decimal("1234567.895")
    return {
        "split": split(Decimal("100.00"), 7),
        "precise": [str(root), str(e), inexact, getcontext().prec],
        "sum": [str(sum([Decimal("0.1")] * 10)), str(Decimal(0.1))],
        "refused": refused,
        "rounded": [str(value.quantize(Decimal("1.00"), way)) for way in (ROUND_CEILING, ROUND_DOWN, ROUND_HALF_UP)],
        "formats": [
            f"{value:,.2f}",
            f"{value:e}",
            f"{value:>15.1f}|",
            f"{value.normalize():g}",
            f"{Decimal('0.5'):.0%}",
        ],
        "parts": [
            value.as_tuple().digits[:3],
            value.adjusted(),
            str(value.to_integral_value()),
            value.as_integer_ratio(),
        ],
        "special": [str(Decimal("inf") - 1), str(Decimal("nan")), Decimal("nan") == Decimal("nan"), str(Decimal("-0"))],
        "context": str(Context(prec=3).create_decimal("3.14159")),
        "powers": [
            str(Decimal("1.1") ** 10),
            str(Decimal(10).ln()),
            str(Decimal(7) % Decimal("-2.5")),
            str(Decimal("5").fma(2, 3)),
        ],
    }
