// Package imports is the host as a plug-in sees it: the functions that abi/ABI.md lists. Elsewhere than in a
// plug-in it is a Host that a test has set.
package imports
