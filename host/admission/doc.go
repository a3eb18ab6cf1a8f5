// Package admission decides which runs are admitted if there are more than a machine can execute.
//
// A [Gate] admits a bounded number of runs at a time, and fewer of one tenant, app or user. The
// others wait. Tenants take turns, and so do the apps of a tenant and the users of an app, so that
// a flood of runs delays only its sender. The number of waiting runs is bounded in the same way; a
// run beyond that is rejected as unavailable. If others fill a bound, a new run replaces the last
// one in the longest queue.
package admission
