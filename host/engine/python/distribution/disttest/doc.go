// Package disttest provides the Python runtime for tests. It uses the file that an environment
// variable names, or else the runtime that the toolrun command has installed. If there is neither,
// it downloads the runtime once with npm.
package disttest
