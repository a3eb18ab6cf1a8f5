// Package crash distinguishes panics inside goja from bugs in toolrun.
//
// Some code makes goja, or a library that goja uses, panic with a Go error such as an index out of
// range. The author of a tool that makes goja panic must not get a fault that reports a bug of the
// host. But a bug of the host must be visible to the operator. The value of a panic does not show
// its origin, but the stack does. Until the last deferred function has returned, the stack contains
// the frames that panicked.
package crash
