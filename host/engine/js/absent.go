package js

// absentHint is the hint for a global of other environments that tools do not have, or "".
func absentHint(name string) string {
	return absent[name]
}

const (
	noNetwork = "tools have no network: pass in what it would fetch, as the tool's input"
	noPage    = "tools do not run in a browser: there is no page"
	noProcess = "tools do not run in Node: env holds the tool's variables"
	noThreads = "tools have no threads; what waits can wait in promises"
)

var absent = map[string]string{
	"fetch": noNetwork, "XMLHttpRequest": noNetwork, "WebSocket": noNetwork, "EventSource": noNetwork,
	"Headers": noNetwork, "Request": noNetwork, "Response": noNetwork, "axios": noNetwork,
	"window": noPage, "document": noPage, "navigator": noPage, "location": noPage, "alert": noPage,
	"localStorage": "tools keep what they remember in a store: memory.set_content", "sessionStorage": "tools keep what they remember in a store: memory.set_content",
	"process": noProcess, "__dirname": noProcess, "__filename": noProcess,
	"Worker": noThreads, "SharedArrayBuffer": noThreads, "Atomics": noThreads,
	"WebAssembly": "a tool in WebAssembly is one of its own: source: main.wasm",
	"sessionMeta": `sessionMeta is a store: await memory.get_content("sessionMeta"), with the grant sessionMeta: read`,
}
