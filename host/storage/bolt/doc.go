// Package bolt is a storage backend for hosts on one machine. All records are stored in one file, a
// bbolt B+tree.
//
// Concurrent updates share commits. Updates that arrive during a commit wait, and then share the
// next commit. A successful update survives a crash of the process or of the machine. Records have
// checksums.
//
// Only one process at a time can open the file. If a file is truncated, damaged, empty or not a
// database, Open returns an error and never crashes the process.
//
// The package does not repair damaged files. [Check] reports the damage, and intact records can
// still be read. [Backend.BackupFile] makes backups while the backend is in use.
//
// Copies contain no removed data. The database file contains the removed data until its pages are
// reused. [Compact] rewrites the database file without the removed data.
package bolt
