package snapshot

// Prepare opens the files that are needed to restore instances. A process must call Prepare before
// it drops the permission to open files. A process that keeps the permission to open files need not
// call Prepare.
func Prepare() { prepare() }
