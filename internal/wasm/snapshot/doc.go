// Package snapshot captures the state of an initialised WASM instance and makes instances that
// continue from it. This takes microseconds, while the initialisation takes milliseconds.
//
// [Rewrite] changes a module so that its instances can be restored. [Load] returns the [Image] of a
// module before any code ran, [CaptureInitialized] that of an initialised instance,
// [Instance.Capture] that of an instance at any moment. [Image.Restore] returns an [Instance] in
// exactly that state.
//
// The memories of instances are private mappings of a sealed memory file: they share the pages that
// they only read, and the kernel copies a page when a guest first writes to it. A closed instance
// is reset to the state of its image, by restoring the pages that the guest wrote to, and reused.
// If this is impossible, the instance is discarded. Linux counts the whole memory of every instance
// towards RLIMIT_DATA, including idle ones, but not the addresses reserved for growth. On systems
// without such mappings memories are copies, which is slower but otherwise equivalent.
package snapshot
