// Package admission decides who runs next where more is asked for than a machine can do.
//
// A [Gate] lets so many runs in at a time, and fewer of one tenant, app or user. Who does not get in waits: tenants take
// turns, and so do the apps of a tenant and the users of an app, so that a flood makes only its sender wait. How many may
// wait is bounded in the same way; beyond that a run is refused as unavailable. Where others fill a bound, a newcomer takes
// the place of the last run in the longest queue.
package admission
