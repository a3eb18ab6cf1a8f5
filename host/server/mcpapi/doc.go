// Package mcpapi serves an app to clients of the Model Context Protocol, over stdio and HTTP.
// Clients can use the app's tools, its prompts, and the stores that it exposes as resources.
//
// A [Server] serves one app. Each MCP session acts for one authenticated [host.Caller], and a
// client cannot select another caller in a message. An MCP session is not a memory session: the
// server starts a memory session for the caller when the MCP session begins and ends it together
// with the MCP session.
package mcpapi
