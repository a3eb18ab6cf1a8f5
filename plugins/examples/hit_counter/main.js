// Reads a number, adds one and writes it back. Concurrent runs cannot lose a hit: a run is a transaction, and is
// executed again if another run has changed a record that it read.
async function main({ page }) {
  const stored = await memory.get_content('pageHits');
  const hits = (stored?.pages?.[page] ?? 0) + 1;
  // The value is merged into the record, so the counts of other pages are kept.
  await memory.set_content('pageHits', { pages: { [page]: hits } });
  return { page, hits };
}
