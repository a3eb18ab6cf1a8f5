package js

// absentHint is the hint for a global of other environments that tools do not have, or "".
func absentHint(name string) string { return absent[name] }

const (
	noNetwork = "tools have no network: pass in what it would fetch, as the tool's input"
	noPage    = "tools do not run in a browser: there is no page"
	noModules = "a tool has no path: keep its modules in its folder and import them"
	noThreads = "tools have no threads; what waits can wait in promises"
	noFiles   = "tools have no files: keep bytes in a Uint8Array, and what lasts in a store"
	noStreams = "tools have no streams: work on whole values"
	noAborts  = "nothing in a tool can be aborted: a run ends at its deadline"
	noEvents  = "tools have no events: call the function"
	inMemory  = "what a tool keeps is in a store: await memory.set_content(store, value)"
	isPackage = "it is a package: install it into the tool's folder and import it"
)

// absent has the hints by name. A name that tools get is removed here.
var absent = map[string]string{
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
	"WebAssembly": "a tool in WebAssembly is one of its own: source: main.wasm",
	"sessionMeta": `sessionMeta is a store: await memory.get_content("sessionMeta"), with the grant sessionMeta: read`,
}
