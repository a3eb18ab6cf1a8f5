package snapshot

// Prepare opens the files that are needed to restore instances. A process must call it before it
// drops the permission to open files. Other processes need not call it.
func Prepare() { prepare() }
