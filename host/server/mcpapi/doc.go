// Package mcpapi offers an app to clients of the Model Context Protocol: its tools, its prompts, and those of its
// stores that it shows, over stdio and over HTTP.
//
// A [Server] serves one app. Each MCP session acts for one [host.Caller], whom the host's user has authenticated;
// nothing that a client sends can name another one. The id of an MCP session is a matter of the transport and no
// session of memory: that one is started for the caller when the MCP session begins, and ended with it.
package mcpapi
