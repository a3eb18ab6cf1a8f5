// Reads a number, adds one and writes it back. Runs at the same time cannot lose a hit: a run is a transaction,
// and one that read what another has changed since is executed again.
async function main({ page }) {
  const stored = await memory.get_content('pageHits');
  const hits = (stored?.pages?.[page] ?? 0) + 1;
  // Merged into the record, so the counts of other pages stay.
  await memory.set_content('pageHits', { pages: { [page]: hits } });
  return { page, hits };
}
