// Package storagetest holds what tests of backends, and of what is built on them, share: [Run], the suite
// that every backend passes, and [Faulty], a backend that fails on demand.
package storagetest
