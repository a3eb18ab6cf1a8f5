// Package partition decides where an app's records lie and whose they are: the caller of a run, the keys of the host's own
// records, the tags of every record, and the selectors that find a user's or a session's data. It performs no input or
// output.
package partition
