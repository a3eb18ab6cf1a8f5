// Package imports provides the host functions that abi/ABI.md specifies. Outside of a plug-in, the
// functions call the Host that a test has set.
package imports
