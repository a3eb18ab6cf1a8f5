// Package partition determines where each record of an app is stored, and to which user it belongs.
// The package contains the type Caller, the keys of host records, the tags of all records, and
// selectors. A selector selects the data of a user or a session. The package performs no I/O.
package partition
