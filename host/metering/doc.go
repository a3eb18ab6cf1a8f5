// Package metering records how much each app and tenant uses per day, in one record for each day,
// app and tenant. The package reports the usage of one app, or of all apps of a backend.
package metering
