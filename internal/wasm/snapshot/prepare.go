package snapshot

// Prepare opens the files that restoring instances needs. A process must call it before it drops
// the permission to open files; other processes need not call it.
func Prepare() { prepare() }
