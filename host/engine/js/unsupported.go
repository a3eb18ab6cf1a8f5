package js

// unsupportedHint returns the hint for a global that exists in other environments but not in tools,
// or "".
func unsupportedHint(name string) string { return unsupported[name] }

const (
	noNetwork = "tools have no network: pass the data in the tool's input"
	noPage    = "tools do not run in a browser"
	noModules = "tools have no file path: put modules into the tool's folder and import them"
	noThreads = "tools have no threads: use promises"
	noFiles   = "tools have no files: keep bytes in a Uint8Array, and persistent data in a store"
	noStreams = "tools have no streams: process complete values"
	noAborts  = "tools cannot abort operations: a run ends at its deadline"
	noEvents  = "tools have no events: call functions directly"
	inMemory  = "keep data in a store: await memory.set_content(store, value)"
	isPackage = "install the package into the tool's folder and import it"
)

// unsupported maps the names of globals to hints. When a global becomes available, remove it from
// unsupported.
var unsupported = map[string]string{
	"fetch": noNetwork, "XMLHttpRequest": noNetwork, "WebSocket": noNetwork, "EventSource": noNetwork,
	"Headers": noNetwork, "Request": noNetwork, "Response": noNetwork, "FormData": noNetwork,
	"window": noPage, "document": noPage, "navigator": noPage, "location": noPage, "alert": noPage,
	"localStorage": inMemory, "sessionStorage": inMemory, "indexedDB": inMemory,
	"Blob": noFiles, "File": noFiles, "FileReader": noFiles,
	"ReadableStream": noStreams, "WritableStream": noStreams, "TransformStream": noStreams,
	"AbortController": noAborts, "AbortSignal": noAborts,
	"Event": noEvents, "EventTarget": noEvents, "CustomEvent": noEvents,
	"__dirname": noModules, "__filename": noModules,
	"Worker": noThreads, "SharedArrayBuffer": noThreads, "Atomics": noThreads,
	"axios": isPackage, "moment": isPackage, "lodash": isPackage, "_": isPackage, "dayjs": isPackage, "luxon": isPackage,
	"DOMParser":   "tools have no parser for HTML or XML: install one into the tool's folder and import it",
	"WebAssembly": "write a separate tool in WebAssembly: source: main.wasm",
	"sessionMeta": `sessionMeta is a store: await memory.get_content("sessionMeta"), with the grant sessionMeta: read`,
}
