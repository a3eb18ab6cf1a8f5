package snapshot

// Prepare opens what restoring instances takes from the system. A process calls it before it gives up the right to open
// files; others need not.
func Prepare() { prepare() }
