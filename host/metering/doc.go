// Package metering keeps the usage of runs: a record for each day of an app in a tenant. The
// package reports the usage of one app, or of all apps of a backend.
package metering
