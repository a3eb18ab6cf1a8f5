// Package crash distinguishes panics inside goja from bugs of this module, by where a panic was
// raised.
//
// Some code leads goja, or a library below it, to a Go panic such as an index out of range. The
// fault for its author must not report a bug of the host, and a bug of the host must not be hidden
// from its operator. The values of panics do not show their origin, but the stack does: it holds
// the frames that panicked until the last deferred function has returned.
package crash
