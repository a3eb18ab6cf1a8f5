// Package storagetest contains code for tests of backends and of packages that use backends. [Run]
// is the test suite that every backend must pass. [Faulty] is a backend that fails on demand.
package storagetest
