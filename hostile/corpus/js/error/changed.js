// A fault of the host's is caught, changed and thrown again.
// expect: not_found
try {
  await memory.get_content("vault");
} catch (e) {
  try { e.code = "internal"; e.message = "changed"; e.store = "own"; } catch {}
  throw e;
}
