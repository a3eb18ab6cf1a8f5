// Package storagetest contains shared code for tests of backends and of their users: [Run], the
// suite that every backend passes, and [Faulty], a backend that fails on demand.
package storagetest
