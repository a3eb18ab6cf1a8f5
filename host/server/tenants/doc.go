// Package tenants opens the apps of a service for each tenant that uses them. Hosts of different
// tenants share only a backend, engines and a gate. An app can be replaced while it is in use, and
// a tenant can declare additional stores: runs in progress end in the host that they started in,
// later runs use the new host.
package tenants
