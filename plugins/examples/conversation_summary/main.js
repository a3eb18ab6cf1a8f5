// Adds a note to the summary of the conversation. The store's schema limits the length of the
// summary. If the schema rejects the text, the tool drops the oldest note and retries.
async function main({ note }) {
  const summary = await memory.get_content('conversationSummary');
  const notes = summary?.text ? summary.text.split('\n') : [];
  notes.push(`- ${note}`);
  for (let dropped = 0; ; dropped++) {
    try {
      await memory.set_content('conversationSummary', { text: notes.join('\n') });
      return { notes, dropped };
    } catch (error) {
      // A rejected memory call throws a MemoryAccessError with a code. The tool handles only
      // schema_violation.
      if (error.code !== 'schema_violation' || notes.length === 1) throw error;
      notes.shift();
    }
  }
}
