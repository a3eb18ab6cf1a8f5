// Package crash distinguishes panics inside goja from bugs in toolrun.
//
// Some JavaScript code causes a panic in goja or in a library that goja uses. The panic value is a
// Go error, such as an index out of range. If a tool makes goja panic, the fault must not report a
// bug of the host to the tool's author. But if the host has a bug, the operator must see it. The
// value of a panic does not show where the panic was raised, but the stack does. The stack contains
// the frames that panicked until the last deferred function has returned.
package crash
