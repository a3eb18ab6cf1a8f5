// Package admission decides which runs are admitted if there are more runs than a machine can
// execute.
//
// A [Gate] limits the number of concurrent runs in total, and the number of concurrent runs of each
// tenant, app and user. Further runs wait. Tenants take turns, and so do the apps of a tenant and
// the users of an app. A flood of runs therefore delays only its sender. The number of waiting runs
// is also bounded, in total and for each tenant, app and user. If the number of waiting runs has
// reached a bound, the gate rejects new runs as unavailable. If the runs of other users have filled
// the queue, a new run replaces the last run in the longest queue.
package admission
