// Package snapshot captures the state of an initialized WebAssembly instance and creates instances
// that continue from this state. Creating an instance from an image takes microseconds, while the
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
// memory of every instance toward RLIMIT_DATA, including idle instances. Linux does not count the
// addresses reserved for growth. On systems without such mappings, each memory is a copy. Copies
// are slower but otherwise equivalent.
package snapshot
