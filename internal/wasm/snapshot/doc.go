// Package snapshot starts WASM guests from the middle: it keeps the state of an instance that was initialised
// and makes instances that go on from there, which takes microseconds where the initialisation takes
// milliseconds.
//
// [Rewrite] changes a module so that its instances can be restored; [Load] makes the [Image] that holds its
// data, [Take] the image of an instance that was initialised, [Instance.Capture] that of one at any moment.
// [Image.Restore] returns an [Instance] in exactly that state.
//
// The memories of instances are private mappings of one sealed file in memory: they share what they only read,
// and the kernel copies a page when a guest first writes to it. An instance that is closed is put back into the
// state of its image, by copying back the pages that the guest wrote to, and used again. What cannot be put
// back is never used again. Toward RLIMIT_DATA, Linux counts the whole memory of every instance, idle ones too,
// but not the addresses that are reserved for it to grow. Where the system has no such mappings, memories are copies: slower, and otherwise
// the same.
package snapshot
