def main(note: str) -> dict:
    """Add a note to the running summary. The schema of the store limits its length: if a write violates it, remove
    the oldest note and try again."""
    summary = memory.get_content("conversationSummary") or {}
    notes = summary.get("text", "").splitlines()
    notes.append(f"- {note}")
    dropped = 0
    while True:
        try:
            memory.set_content("conversationSummary", {"text": "\n".join(notes)})
        except SchemaViolationError:
            if len(notes) == 1:
                raise  # the note itself is too long
            del notes[0]
            dropped += 1
        else:
            return {"notes": notes, "dropped": dropped}
