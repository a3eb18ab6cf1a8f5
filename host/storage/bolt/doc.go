// Package bolt is a storage backend in one file: a bbolt B+tree, for hosts on one machine.
//
// Updates of many goroutines share commits: updates that arrive while a commit is being written to
// the disk wait together for the next one. An update that succeeded survives a crash of the process
// and of the machine. Records have checksums. Only one process at a time can open the file. Opening
// a file that is truncated, damaged, empty or not a database returns an error; it never crashes the
// process.
//
// Damaged files are not repaired. [Check] reports the damage, intact records can still be read, and
// [Backend.BackupFile] makes backups while the backend is in use.
//
// Copies contain no removed data. The file itself does until its pages are reused; [Compact]
// rewrites it without.
package bolt
