package js

import (
	cryptorand "crypto/rand"
	"encoding/base64"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// webModules are the modules of the web's interfaces, and the globals that each makes.
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

// webModule returns what a module made. Its classes must be made once, for they are compared by identity.
func (r *run) webModule(name string) *goja.Object {
	key := "web:" + name
	if made, ok := r.modules[key]; ok {
		return made
	}
	made := r.create(name, "create", r.webHost(name)).(*goja.Object)
	r.modules[key] = made
	return made
}

// webHosts are the natives that the modules need of the host. It is filled in by init, since some make other modules.
var webHosts map[string]func(r *run) map[string]nativeFunc

func init() {
	webHosts = map[string]func(r *run) map[string]nativeFunc{
		"buffer.js": func(r *run) map[string]nativeFunc {
			return map[string]nativeFunc{"encode": r.encodeText, "decode": r.decodeText, "find": r.findBytes}
		},
		"crypto.js": func(r *run) map[string]nativeFunc {
			return map[string]nativeFunc{"random": r.randomBytes, "keys": r.moduleGetter("subtle.js")}
		},
		"encoding.js": func(r *run) map[string]nativeFunc {
			return map[string]nativeFunc{"toUTF8": r.toUTF8, "fromUTF8": r.fromUTF8, "btoa": r.btoa, "atob": r.atob}
		},
		"nodecrypto.js": func(r *run) map[string]nativeFunc {
			return map[string]nativeFunc{
				"createHash": r.createHash, "createHmac": r.createHmac, "equal": r.equalBytes, "random": r.randomBytes,
				"buffer": r.moduleGetter("buffer.js"), "crypto": r.moduleGetter("crypto.js"),
			}
		},
		"process.js": func(r *run) map[string]nativeFunc {
			return map[string]nativeFunc{"now": r.elapsed, "env": func(goja.FunctionCall) goja.Value { return r.makeEnv() }}
		},
		"subtle.js": func(r *run) map[string]nativeFunc {
			return map[string]nativeFunc{
				"createHash": r.createHash, "createHmac": r.createHmac, "equal": r.equalBytes, "random": r.randomBytes,
				"buffer": r.moduleGetter("buffer.js"),
			}
		},
		"url.js": func(r *run) map[string]nativeFunc {
			return map[string]nativeFunc{"parse": r.parseURL, "change": r.changeURL, "decode": r.formDecode, "encode": r.formEncode}
		},
	}
}

// webHost makes what a module needs of the host.
func (r *run) webHost(module string) goja.Value {
	if natives, ok := webHosts[module]; ok {
		return r.hostObject(natives(r))
	}
	return goja.Undefined()
}

// moduleGetter makes a native that answers another module.
func (r *run) moduleGetter(name string) nativeFunc {
	return func(goja.FunctionCall) goja.Value { return r.webModule(name) }
}

// makeNodeBuffer is the module "buffer" of Node.js.
func (r *run) makeNodeBuffer() goja.Value {
	return r.guestObject([]string{"Buffer", "atob", "btoa"}, map[string]func() goja.Value{
		"Buffer": func() goja.Value { return r.webModule("buffer.js").Get("Buffer") },
		"atob":   func() goja.Value { return r.webModule("encoding.js").Get("atob") },
		"btoa":   func() goja.Value { return r.webModule("encoding.js").Get("btoa") },
	})
}

func (r *run) makePerformance() goja.Value {
	return r.guestObject([]string{"now", "timeOrigin"}, map[string]func() goja.Value{
		"now": func() goja.Value { return r.native("now", r.elapsed) },
		"timeOrigin": func() goja.Value {
			return r.vm.ToValue(float64(r.now().UnixMilli() - time.Since(r.start).Milliseconds()))
		},
	})
}

func (r *run) bytes(b []byte) goja.Value { return r.vm.ToValue(r.vm.NewArrayBuffer(b)) }

func (r *run) toUTF8(call goja.FunctionCall) goja.Value {
	return r.bytes([]byte(call.Argument(0).String()))
}

// fromUTF8 is null where the bytes are no UTF-8 and that is an error: fromUTF8(buffer, fatal).
func (r *run) fromUTF8(call goja.FunctionCall) goja.Value {
	buffer := call.Argument(0)
	if buffer.ExportType() != bufferType {
		return goja.Null()
	}
	text := string(buffer.Export().(goja.ArrayBuffer).Bytes())
	if !utf8.ValidString(text) {
		if call.Argument(1).ToBoolean() {
			return goja.Null()
		}
		text = validUTF8([]byte(text))
	}
	return r.vm.ToValue(text)
}

// btoa is null where a character does not fit into a byte.
func (r *run) btoa(call goja.FunctionCall) goja.Value {
	text := call.Argument(0).String()
	bytes := make([]byte, 0, len(text))
	for _, c := range text {
		if c > 0xFF {
			return goja.Null()
		}
		bytes = append(bytes, byte(c))
	}
	return r.vm.ToValue(base64.StdEncoding.EncodeToString(bytes))
}

// atob is null where the text is no base64. It may lack its padding and hold white space.
func (r *run) atob(call goja.FunctionCall) goja.Value {
	text := strings.Join(strings.Fields(call.Argument(0).String()), "")
	if len(text)%4 == 0 {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "="), "=")
	}
	bytes, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return goja.Null()
	}
	characters := make([]rune, len(bytes))
	for i, b := range bytes {
		characters[i] = rune(b)
	}
	return r.vm.ToValue(string(characters))
}

// maxRandomBytes bounds what one call gives.
const maxRandomBytes = 1 << 20

// randomBytes is random(n). The caller bounds n, but with what a guest can replace; it fills from the run's seed where there is one.
func (r *run) randomBytes(call goja.FunctionCall) goja.Value {
	bytes := make([]byte, min(max(call.Argument(0).ToInteger(), 0), maxRandomBytes))
	if r.random == nil {
		_, _ = cryptorand.Read(bytes) // never fails
		return r.bytes(bytes)
	}
	for i := range bytes {
		bytes[i] = byte(r.random.Uint32())
	}
	return r.bytes(bytes)
}
