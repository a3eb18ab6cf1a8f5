// Package mcpapi serves an app to clients of the Model Context Protocol, over stdio and HTTP.
// Clients can use the app's tools and prompts. Clients can also use stores as resources if the app
// exposes these stores.
//
// A [Server] serves one app. Each MCP session acts for one authenticated [host.Caller], and a
// client cannot select another caller in a message. An MCP session is not a memory session: when an
// MCP session begins, the server starts a memory session for the caller. The memory session ends
// together with the MCP session.
package mcpapi
