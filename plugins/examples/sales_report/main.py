import io
from collections import defaultdict
from decimal import Decimal

MOST_ROWS = 500
COLUMNS = ["region", "item", "amount"]


def execute(input: dict, context: dict) -> dict:
    """Add the rows of a CSV text, if there is one, to the stored rows, and report on all rows."""
    rows = (memory.get_content("salesRows") or {}).get("rows", [])
    if input.get("sales"):
        rows = (rows + read_rows(input["sales"]))[-MOST_ROWS:]
        memory.set_content("salesRows", {"rows": rows})
    amounts = defaultdict(list)
    for row in rows:
        amounts[row["region"]].append(Decimal(row["amount"]))
    report = [summarise(region, amounts[region]) for region in sorted(amounts)]
    return {"rows": len(rows), "regions": report, "csv": write_csv(report)}


def read_rows(text: str) -> list[dict]:
    """Read a CSV text. Errors contain the line number, counted from 1."""
    reader = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True)
    if reader.fieldnames != COLUMNS:
        raise ValueError(f"the first line must be {','.join(COLUMNS)}")
    rows = []
    for row in reader:
        try:
            amount = Decimal(row["amount"])
        except (decimal.InvalidOperation, TypeError):
            raise ValueError(f"line {reader.line_num}: {row['amount']!r} is not an amount") from None
        if not amount.is_finite() or None in row:
            raise ValueError(f"line {reader.line_num} is not a sale")
        # A string preserves every digit, but a float does not.
        rows.append({"region": row["region"], "item": row["item"], "amount": f"{amount:.2f}"})
    return rows


def summarise(region: str, amounts: list[Decimal]) -> dict:
    return {
        "region": region,
        "sales": len(amounts),
        "total": f"{sum(amounts):.2f}",
        "mean": f"{statistics.mean(amounts):.2f}",
        "median": f"{statistics.median(amounts):.2f}",
    }


def write_csv(report: list[dict]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, ["region", "sales", "total", "mean", "median"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(report)
    return out.getvalue()
