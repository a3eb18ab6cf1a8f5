from brackets import render
from texts import text_for


def main(order: dict) -> dict:
    """Confirm an order in the language that the user prefers."""
    known = memory.get_content("userPreferences", {"language": 1}) or {}
    language = known.get("language", "en")
    total = order["count"] * order["price"]
    print(f"confirming in {language}")
    return {"text": render(text_for(language), total=total, **order)}
