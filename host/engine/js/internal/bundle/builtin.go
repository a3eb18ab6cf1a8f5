package bundle

import (
	"encoding/json"
	"strconv"
	"strings"
)

// builtins are the modules of Node.js, which tools do not have.
var builtins = words("assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns " +
	"domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl " +
	"sea sqlite stream string_decoder sys test timers tls trace_events tty url util v8 vm wasi worker_threads zlib")

// provided are the modules of Node.js of which tools have a part.
var provided = words("buffer crypto process util")

// providedModule is the source of such a module. The engine answers the global name, and makes the module when it is
// first read.
func providedModule(name string) string {
	return "module.exports = globalThis[" + quote("node:"+name) + "];"
}

// What a module that tools cannot have is for, and what to do without it.
var (
	forNetwork = words("http http2 https net tls dns dgram node-fetch axios got request undici ws superagent ky cross-fetch isomorphic-fetch")
	forFiles   = words("fs path os module readline repl tty fs-extra graceful-fs")
	forProcess = words("child_process cluster worker_threads vm v8 inspector wasi execa shelljs")
)

const (
	hintNetwork = "tools have no network: let the platform fetch the data and pass it in the input"
	hintFiles   = "tools have no files: keep data in memory stores, or import it as a .json file"
	hintProcess = "tools start no processes and no threads: do the work in the tool itself"
	hintBuiltin = "use what the language has, or a package that works in browsers"
)

func isBuiltin(name string) bool {
	root, _, _ := strings.Cut(name, "/")
	return builtins[root]
}

// builtin answers an import of a module of Node.js. A package that requires one gets to know when it does so, for
// many do it in a try, or for one function of many.
func (f *files) builtin(r request, name string) (target, *problem) {
	if provided[name] {
		return target{ofEngine, name}, nil
	}
	if r.require && inPackage(r.importer) {
		return target{absent, r.name}, nil
	}
	return target{}, &problem{strconv.QuoteToASCII(r.name) + " is a module of Node.js, which tools do not have", hintFor(name, hintBuiltin)}
}

// hintFor returns what to do without a module, or otherwise what to do in general.
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

// quote writes a text as a string literal of JavaScript.
func quote(s string) string {
	literal, _ := json.Marshal(s) // a string always can be
	return string(literal)
}
