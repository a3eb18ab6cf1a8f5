// Package metering records the usage of runs. For each day, it keeps one record for each app and
// tenant. The package reports the usage of one app, or of all apps of a backend.
package metering
