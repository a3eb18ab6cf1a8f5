// Package tenants opens the apps that a service serves, for each tenant that asks for one: hosts of different tenants share
// a backend, engines and a gate, and nothing else. An app can be replaced while it is used, and a tenant can declare more
// stores in it: runs under way end in the host that they began in, later ones begin in the new one.
package tenants
