package js

import (
	"time"

	"github.com/dop251/goja"
)

// webModules maps each module of the web APIs to the globals that the module defines.
var webModules = map[string][]string{
	"async.js":     {asyncGeneratorName, yieldStarName, forAwaitName, markName},
	"buffer.js":    {"Buffer"},
	"clone.js":     {"structuredClone"},
	"crypto.js":    {"crypto"},
	"encoding.js":  {"TextEncoder", "TextDecoder", "atob", "btoa"},
	"microtask.js": {"queueMicrotask"},
	"process.js":   {"process"},
	"url.js":       {"URL", "URLSearchParams"},
	"weak.js":      {"WeakRef", "FinalizationRegistry"},
}

// webModule returns the exports of a web module. Each run creates the exports of a module only
// once, because classes are compared by identity.
func (r *run) webModule(name string) *goja.Object {
	key := "web:" + name
	if made, ok := r.prelude.exports[key]; ok {
		return made
	}
	made := r.prelude.create(name, "create", r.webHost(name)).(*goja.Object)
	r.prelude.exports[key] = made
	return made
}

// webHosts contains the native functions that the modules of the web APIs need. Some of the native
// functions load other modules, so the function "init" must initialize webHosts.
var webHosts map[string]func(r *run) map[string]nativeFunc

func init() {
	webHosts = map[string]func(r *run) map[string]nativeFunc{
		"buffer.js": func(r *run) map[string]nativeFunc {
			c := textCodec{&r.realm}
			return map[string]nativeFunc{"encode": c.encode, "decode": c.decode, "find": c.find}
		},
		"crypto.js": func(r *run) map[string]nativeFunc {
			return map[string]nativeFunc{"random": r.crypto().randomBytes, "keys": r.moduleGetter("subtle.js")}
		},
		"encoding.js": func(r *run) map[string]nativeFunc {
			c := textCodec{&r.realm}
			return map[string]nativeFunc{"toUTF8": c.toUTF8, "fromUTF8": c.fromUTF8, "btoa": c.btoa, "atob": c.atob}
		},
		"nodecrypto.js": func(r *run) map[string]nativeFunc {
			c := r.crypto()
			return map[string]nativeFunc{
				"createHash": c.createHash, "createHmac": c.createHmac, "equal": c.equalBytes, "random": c.randomBytes,
				"buffer": r.moduleGetter("buffer.js"), "crypto": r.moduleGetter("crypto.js"),
			}
		},
		"process.js": func(r *run) map[string]nativeFunc {
			return map[string]nativeFunc{"now": r.realm.elapsed, "env": func(goja.FunctionCall) goja.Value { return r.makeEnv() }}
		},
		"subtle.js": func(r *run) map[string]nativeFunc {
			c := r.crypto()
			return map[string]nativeFunc{
				"createHash": c.createHash, "createHmac": c.createHmac, "equal": c.equalBytes, "random": c.randomBytes,
				"buffer": r.moduleGetter("buffer.js"),
			}
		},
		"url.js": func(r *run) map[string]nativeFunc {
			u := urlAPI{r.realm.vm}
			return map[string]nativeFunc{"parse": u.parse, "change": u.change, "decode": u.formDecode, "encode": u.formEncode}
		},
	}
}

func (r *run) crypto() *cryptoAPI { return &cryptoAPI{realm: &r.realm, random: r.random} }

// webHost returns the host object of a module.
func (r *run) webHost(module string) goja.Value {
	if natives, ok := webHosts[module]; ok {
		return r.realm.hostObject(natives(r))
	}
	return goja.Undefined()
}

// moduleGetter returns a native function that returns another module.
func (r *run) moduleGetter(name string) nativeFunc {
	return func(goja.FunctionCall) goja.Value { return r.webModule(name) }
}

// makeNodeBuffer returns the Node.js module "buffer".
func (r *run) makeNodeBuffer() goja.Value {
	return r.realm.guestObject([]string{"Buffer", "atob", "btoa"}, map[string]func() goja.Value{
		"Buffer": func() goja.Value { return r.webModule("buffer.js").Get("Buffer") },
		"atob":   func() goja.Value { return r.webModule("encoding.js").Get("atob") },
		"btoa":   func() goja.Value { return r.webModule("encoding.js").Get("btoa") },
	})
}

func (r *run) makePerformance() goja.Value {
	return r.realm.guestObject([]string{"now", "timeOrigin"}, map[string]func() goja.Value{
		"now": func() goja.Value { return r.realm.native("now", r.realm.elapsed) },
		"timeOrigin": func() goja.Value {
			return r.realm.vm.ToValue(float64(r.realm.now().UnixMilli() - time.Since(r.realm.start).Milliseconds()))
		},
	})
}
