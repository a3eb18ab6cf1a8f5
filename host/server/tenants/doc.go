// Package tenants opens the apps of a service for each tenant that uses them. Hosts of different
// tenants share only a backend, engines and an admission gate. An app can be replaced while it is
// in use, and a tenant can declare additional stores. If an app is replaced during a run, the run
// ends on the host on which the run started. Runs that start after the replacement use the new
// host.
package tenants
