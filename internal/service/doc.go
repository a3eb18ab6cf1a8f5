// Package service puts the surfaces of a served app together: the HTTP API, MCP over HTTP, metrics, health, and a page
// that describes the API.
package service
