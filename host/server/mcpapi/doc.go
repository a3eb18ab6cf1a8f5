// Package mcpapi serves an app to clients of the Model Context Protocol, over stdio and HTTP: its
// tools, its prompts, and the stores that it exposes as resources.
//
// A [Server] serves one app. Each MCP session acts for one authenticated [host.Caller]; no message
// of a client can name another one. MCP sessions and memory sessions differ: a memory session is
// started for the caller when the MCP session begins, and ends with it.
package mcpapi
