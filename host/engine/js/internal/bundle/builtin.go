package bundle

import (
	"encoding/json"
	"strconv"
	"strings"
)

// builtins contains the names of the Node.js modules.
var builtins = words("assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns " +
	"domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl " +
	"sea sqlite stream string_decoder sys test timers tls trace_events tty url util v8 vm wasi worker_threads zlib")

// provided contains the names of the Node.js modules that tools can import. Only part of each
// module is supported.
var provided = words("buffer crypto process util")

// providedModule returns the source of a provided module. The source reads a global of the engine.
// The engine creates the module when the tool first reads that global.
func providedModule(name string) string {
	return "module.exports = globalThis[" + quote("node:"+name) + "];"
}

// The purposes of modules that tools cannot import. The hint about a module depends on the module's
// purpose.
var (
	forNetwork = words("http http2 https net tls dns dgram node-fetch axios got request undici ws superagent ky cross-fetch isomorphic-fetch")
	forFiles   = words("fs path os module readline repl tty fs-extra graceful-fs")
	forProcess = words("child_process cluster worker_threads vm v8 inspector wasi execa shelljs")
)

const (
	hintNetwork = "tools have no network: pass the data in the input"
	hintFiles   = "tools have no files: keep data in a store, or import it from a .json file"
	hintProcess = "tools cannot start processes or threads: do the work in the tool itself"
	hintBuiltin = "use plain JavaScript, or a package that works in browsers"
)

func isBuiltin(name string) bool {
	root, _, _ := strings.Cut(name, "/")
	return builtins[root]
}

// builtin resolves an import of a Node.js module. If a package requires an unsupported module, the
// bundling succeeds and the call to require fails at run time. Many packages catch that error, or
// need the module only for a few functions.
func (f *files) builtin(r request, name string) (target, *resolveError) {
	if provided[name] {
		return target{provider, name}, nil
	}
	if r.require && inPackage(r.importer) {
		return target{missing, r.name}, nil
	}
	return target{}, &resolveError{strconv.QuoteToASCII(r.name) + " is a Node.js module, which tools cannot use", hintFor(name, hintBuiltin)}
}

// hintFor returns the hint for a module that tools cannot import. If no hint exists, hintFor
// returns the argument "otherwise".
func hintFor(name, otherwise string) string {
	root, _, _ := strings.Cut(name, "/")
	switch {
	case forNetwork[root]:
		return hintNetwork
	case forFiles[root]:
		return hintFiles
	case forProcess[root]:
		return hintProcess
	}
	return otherwise
}

// quote returns a text as a JavaScript string literal.
func quote(s string) string {
	literal, _ := json.Marshal(s) // a string can always be encoded as JSON
	return string(literal)
}
