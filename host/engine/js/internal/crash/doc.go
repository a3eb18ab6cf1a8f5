// Package crash tells a bug of goja's from one of ours, by where a panic was raised.
//
// There is code that leads goja, or what goja is built on, into an error of Go's, such as an index out of range. Its
// author must not be told that the host has a bug, nor the host's operator that it has none. The values of such panics
// say nothing of whose they are; the stack does, for it holds the frames that panicked until the last deferred function
// has returned.
package crash
