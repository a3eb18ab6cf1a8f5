// Package bolt is a storage backend in one file: a bbolt B+tree, for hosts on one machine.
//
// Updates of many goroutines share commits: while one commit is on its way to the disk, those that arrive
// wait together for the next. An update that Update reports as done survives a crash of the process and of
// the machine. Records are checksummed, one process at a time has the file open, and a file that is
// truncated, damaged, empty or something else altogether is an error and never a crash.
//
// A damaged file is not repaired. [Check] says what is wrong with it, records that are whole can still be
// read, and [Backend.BackupFile] makes the copies to restore from while the backend is in use.
//
// What was removed is in no copy, but in the file until its pages are used again; [Compact] makes the file anew.
package bolt
