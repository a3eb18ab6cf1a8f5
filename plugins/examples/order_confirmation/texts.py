TEXTS = {
    "en": "Thank you, [name]! [count] x [item] will be with you soon. You pay [total:.2f].",
    "fr": "Merci, [name] ! [count] x [item] arrivent bientôt. Vous payez [total:.2f].",
}


def text_for(language):
    """Return the text in a language such as fr or fr-CA, or in English."""
    return TEXTS.get((language or "en").partition("-")[0], TEXTS["en"])
