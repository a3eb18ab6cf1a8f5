"""Amounts as people write them, in several countries, read into cents."""

import re
import unicodedata

SIGNS = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY"}
AMOUNT = re.compile(
    r"(?P<sign>-|\()?\s*(?P<cur>[€$£¥]|[A-Z]{3})?\s*(?P<minus>-)?(?P<digits>[\d.,' ]*\d)\s*(?P<after>[€$£¥]|[A-Z]{3})?\)?"
)


def cents(digits):
    digits = re.sub(r"[\s']", "", digits)
    whole, sign, rest = re.fullmatch(r"(.*?)(?:([.,])(\d{1,2}))?", digits).groups()
    return int(re.sub(r"[.,]", "", whole) or 0) * 100 + int((rest or "0").ljust(2, "0"))


def parse(text):
    text = unicodedata.normalize("NFKC", text).strip()
    match = AMOUNT.fullmatch(text)
    if not match:
        return None
    currency = match["cur"] or match["after"]
    value = cents(match["digits"])
    return [-value if match["sign"] or match["minus"] else value, SIGNS.get(currency, currency)]


texts = [
    "1,234.56 €",
    "€ 1.234,56",
    "$-5",
    "(12.30)",
    "CHF 1'000",
    "１２３\u00a0¥",
    "1 234 567,8 PLN",
    "12.345",
    "abc",
    "- £ .5",
    "0,05",
]
return {text: parse(text) for text in texts}
