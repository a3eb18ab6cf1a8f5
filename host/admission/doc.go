// Package admission decides which runs are admitted if there are more runs than a machine can
// execute.
//
// A [Gate] limits the total number of concurrent runs. A Gate also limits the number of concurrent
// runs of each tenant, app and user. Further runs wait. Tenants take turns, and so do the apps of a
// tenant and the users of an app. Therefore, if a user sends a flood of runs, only the runs of this
// user are delayed. The number of waiting runs is also bounded, in total and for each tenant, app
// and user. If the number of waiting runs has reached a bound, the gate rejects new runs with the
// fault unavailable. However, if the runs of other users have filled the queue, a new run replaces
// the last run in the longest queue.
package admission
