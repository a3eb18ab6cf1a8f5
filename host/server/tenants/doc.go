// Package tenants opens the apps of a service for each tenant that uses them. Hosts of different
// tenants share only a backend, engines and an admission gate. An app can be replaced while it is
// in use, and a tenant can declare additional stores. Runs in progress end on the host on which
// they started. Later runs use the new host.
package tenants
