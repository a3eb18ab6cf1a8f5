// Adds a note to the running summary. How long it may become is the business of the store's schema, not of this
// code: where the schema refuses the text, the oldest note goes and the rest is tried again.
async function main({ note }) {
  const summary = await memory.get_content('conversationSummary');
  const notes = summary?.text ? summary.text.split('\n') : [];
  notes.push(`- ${note}`);
  for (let dropped = 0; ; dropped++) {
    try {
      await memory.set_content('conversationSummary', { text: notes.join('\n') });
      return { notes, dropped };
    } catch (error) {
      // Every refused memory call throws a MemoryAccessError with a code. Only this one can be helped here.
      if (error.code !== 'schema_violation' || notes.length === 1) throw error;
      notes.shift();
    }
  }
}
