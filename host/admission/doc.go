// Package admission decides who runs next where more is asked for than a machine can do.
//
// A [Gate] lets so many runs in at a time, and fewer of one app or of one user. Who does not get in waits: apps take
// turns, and so do the users of an app, so that a flood of one's makes nobody wait but its sender. How many may wait is
// bounded too; beyond that a run is refused at once, as unavailable.
package admission
