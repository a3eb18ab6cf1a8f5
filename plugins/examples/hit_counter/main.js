// Reads a number, adds one and writes the sum. Concurrent runs do not lose hits, because a run is a
// transaction: if another run changes a record that this run has read, this run is executed again.
async function main({ page }) {
  const stored = await memory.get_content('pageHits');
  const hits = (stored?.pages?.[page] ?? 0) + 1;
  // The value is merged into the record, so the counts of other pages are kept.
  await memory.set_content('pageHits', { pages: { [page]: hits } });
  return { page, hits };
}
