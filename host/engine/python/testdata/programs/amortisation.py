"""The table of a loan's payments, in exact decimals."""

from decimal import ROUND_HALF_EVEN, Decimal

CENT = Decimal("0.01")


def payments(loan, rate, months):
    monthly = rate / 12
    factor = (1 + monthly) ** months
    rent = (loan * monthly * factor / (factor - 1)).quantize(CENT, ROUND_HALF_EVEN)
    left = loan
    for month in range(1, months + 1):
        interest = (left * monthly).quantize(CENT, ROUND_HALF_EVEN)
        paid = min(rent, left + interest) if month < months else left + interest
        left += interest - paid
        yield {"month": month, "interest": str(interest), "paid": str(paid), "left": str(left)}


def main(loan="12345.67", rate="0.0495", months=18):
    rows = list(payments(Decimal(loan), Decimal(rate), months))
    return {"rows": rows, "total": str(sum(Decimal(row["paid"]) for row in rows))}
