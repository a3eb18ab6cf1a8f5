// Package admission decides which runs are admitted if there are more runs than a machine can
// execute.
//
// A [Gate] limits the number of concurrent runs in total, and of each tenant, app and user. The
// others wait. Tenants take turns, and so do the apps of a tenant and the users of an app, so that
// a flood of runs delays only its sender. The number of waiting runs is bounded in the same way,
// and further runs are rejected as unavailable. If other users have filled the queue, a new run
// replaces the last run in the longest queue.
package admission
