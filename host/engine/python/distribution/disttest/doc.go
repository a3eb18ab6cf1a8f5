// Package disttest provides the Python runtime for tests. The package uses the file that an
// environment variable names, or else the runtime that the toolrun command has installed. If
// neither file exists, the package downloads the runtime once with npm.
package disttest
