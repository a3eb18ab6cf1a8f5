// Package service combines the handlers of a service: the HTTP API, MCP over HTTP, metrics, health
// checks, and a page with the documentation of the API.
package service
