def main(note: str) -> dict:
    """Add a note to the running summary. How long it may become is the business of the store's schema: where that
    refuses the text, the oldest note goes and the rest is tried again."""
    summary = memory.get_content("conversationSummary") or {}
    notes = summary.get("text", "").splitlines()
    notes.append(f"- {note}")
    dropped = 0
    while True:
        try:
            memory.set_content("conversationSummary", {"text": "\n".join(notes)})
        except SchemaViolationError:
            if len(notes) == 1:
                raise  # it is the note itself that is too long
            del notes[0]
            dropped += 1
        else:
            return {"notes": notes, "dropped": dropped}
