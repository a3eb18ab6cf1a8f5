// Package declare holds what an app declares, as values: its stores, and what may be done with them.
//
// Package app reads files into these values, and memory is made of them. The package imports only the guest contract.
package declare
