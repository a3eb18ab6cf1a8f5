package js

import (
	cryptorand "crypto/rand"
	"encoding/base64"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// webModules are the modules of the web's interfaces, and the globals that each makes.
var webModules = map[string][]string{
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
			}
		},
		"url.js": func(r *run) map[string]nativeFunc { return map[string]nativeFunc{"parseURL": r.parseURL} },
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

// defaultPorts are the special schemes of the URL specification and the ports that they do not write.
var defaultPorts = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21", "file": ""}

// parseURL is parseURL(url, base): the parts of a URL, null where it is none.
func (r *run) parseURL(call goja.FunctionCall) goja.Value {
	u, err := url.Parse(strings.TrimSpace(call.Argument(0).String()))
	if err != nil {
		return goja.Null()
	}
	base := &url.URL{}
	if text := call.Argument(1); !isUndefined(text) {
		if base, err = url.Parse(text.String()); err != nil || !base.IsAbs() {
			return goja.Null()
		}
	}
	if u = base.ResolveReference(u); !u.IsAbs() {
		return goja.Null()
	}
	return r.urlParts(u)
}

func (r *run) urlParts(u *url.URL) goja.Value {
	port, special := defaultPorts[u.Scheme]
	if special && u.Hostname() == "" && u.Scheme != "file" {
		return goja.Null()
	}
	parts := map[string]string{
		"protocol": u.Scheme + ":",
		"hostname": strings.ToLower(u.Hostname()),
		"port":     u.Port(),
		"pathname": u.EscapedPath(),
		"search":   escapePart("?", u.RawQuery),
		"hash":     escapePart("#", u.EscapedFragment()),
	}
	if strings.Contains(parts["hostname"], ":") {
		parts["hostname"] = "[" + parts["hostname"] + "]"
	}
	if special && parts["port"] == port {
		parts["port"] = ""
	}
	if special && parts["pathname"] == "" {
		parts["pathname"] = "/"
	}
	if u.Opaque != "" {
		parts["pathname"] = u.Opaque
	}
	// url.Userinfo writes its own escapes: "name" or "name:password".
	parts["username"], parts["password"], _ = strings.Cut(u.User.String(), ":")

	object := r.vm.NewObject()
	for name, text := range parts {
		r.define(object, name, r.vm.ToValue(text))
	}
	r.define(object, "special", r.vm.ToValue(special))
	r.define(object, "authority", r.vm.ToValue(u.Host != "" || special))
	return object
}

// escapePart writes a query or a fragment behind its mark, with what a URL may not hold escaped.
func escapePart(mark, text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString(mark)
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7F || strings.IndexByte(`"<>'`, c) >= 0 {
			b.WriteString("%" + strings.ToUpper(string([]byte{hexDigits[c>>4], hexDigits[c&0xF]})))
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
