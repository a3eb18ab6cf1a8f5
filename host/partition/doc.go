// Package partition determines where the records of an app are stored and which user they belong
// to. The package contains the type of callers, the keys of the host's own records, the tags of all
// records, and the selectors for the data of a user or a session. The package performs no I/O.
package partition
