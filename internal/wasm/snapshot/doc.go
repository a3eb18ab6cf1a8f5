// Package snapshot captures the state of an initialized WebAssembly instance and creates instances
// that continue from this state. Creating an instance from an image takes microseconds, but the
// initialization takes milliseconds.
//
// [Rewrite] changes a module so that its instances can be restored. Three functions return an
// [Image]. [Load] captures a module before any code has run, [CaptureInitialized] captures an
// initialized instance, and [Instance.Capture] captures an instance at any time. [Image.Restore]
// returns an [Instance] in exactly the captured state.
//
// The memories of instances are private mappings of a sealed memory file. Instances share the pages
// that guests only read. The kernel copies a page when a guest first writes to it. When an instance
// is closed, it is reset to the state of its image by restoring the pages that the guest wrote to.
// The instance is then reused, or discarded if the reset is impossible. Linux counts the whole
// memory of every instance toward RLIMIT_DATA, and idle instances are included. The addresses that
// are reserved for growth do not count. On systems without private mappings, each memory is a copy.
// Copies are slower than mappings, but behave in the same way.
package snapshot
