// Package imports provides the functions of the host that abi/ABI.md lists. Outside of a plug-in, they
// call a Host that a test has set.
package imports
