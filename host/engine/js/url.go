package js

import (
	"strings"

	"github.com/dop251/goja"
	"github.com/nlnwa/whatwg-url/url"
)

// maxURLBytes is the maximum length of a URL. Browsers accept URLs of about 2 MB.
const maxURLBytes = 1 << 20

// urlParser implements the URL standard (WHATWG). Node.js and browsers implement the same standard.
var urlParser = url.NewParser()

// urlAPI contains the host functions of the URL module.
type urlAPI struct{ vm *goja.Runtime }

// parse implements parse(url, base). parse returns the parts of a URL, or null if the URL is
// invalid.
func (u urlAPI) parse(call goja.FunctionCall) goja.Value {
	text := call.Argument(0).String()
	base := ""
	if v := call.Argument(1); !isUndefined(v) {
		base = v.String()
	}
	if len(text)+len(base) > maxURLBytes {
		return goja.Null()
	}
	var parsed *url.Url
	var err error
	if isUndefined(call.Argument(1)) {
		parsed, err = urlParser.Parse(text)
	} else {
		parsed, err = urlParser.ParseRef(base, text)
	}
	if err != nil {
		return goja.Null()
	}
	return urlParts(u.vm, parsed)
}

// urlSetters contains the functions that change a part of a URL. An invalid value does not change
// the URL.
var urlSetters = map[string]func(*url.Url, string){
	"protocol": (*url.Url).SetProtocol,
	"username": (*url.Url).SetUsername,
	"password": (*url.Url).SetPassword,
	"host":     (*url.Url).SetHost,
	"hostname": (*url.Url).SetHostname,
	"port":     (*url.Url).SetPort,
	"pathname": (*url.Url).SetPathname,
	"search":   (*url.Url).SetSearch,
	"hash":     (*url.Url).SetHash,
}

// change implements change(href, part, value). The method changes one part of a URL and returns all
// parts of the changed URL.
func (u urlAPI) change(call goja.FunctionCall) goja.Value {
	href, value := call.Argument(0).String(), call.Argument(2).String()
	set, ok := urlSetters[call.Argument(1).String()]
	if !ok || len(href)+len(value) > maxURLBytes {
		return goja.Null()
	}
	parsed, err := urlParser.Parse(href)
	if err != nil {
		return goja.Null()
	}
	set(parsed, value)
	return urlParts(u.vm, parsed)
}

func urlParts(vm *goja.Runtime, u *url.Url) goja.Value {
	object := vm.NewObject()
	for name, text := range map[string]string{
		"href": u.Href(false), "origin": originOf(u), "protocol": u.Protocol(), "username": u.Username(), "password": u.Password(),
		"host": u.Host(), "hostname": u.Hostname(), "port": u.Port(), "pathname": u.Pathname(), "search": u.Search(), "hash": u.Hash(),
	} {
		define(object, name, vm.ToValue(text))
	}
	return object
}

// originOf returns the origin of a URL as a string, or "null" for a scheme that has no origin.
func originOf(u *url.Url) string {
	switch u.Scheme() {
	case "http", "https", "ws", "wss", "ftp":
		return u.Protocol() + "//" + u.Host()
	case "blob":
		inner, err := urlParser.Parse(u.Pathname())
		if err == nil && (inner.Scheme() == "http" || inner.Scheme() == "https") {
			return originOf(inner)
		}
	}
	return "null"
}

// formDecode implements formDecode(text). formDecode decodes the name or the value of a query
// parameter. Invalid escapes are kept.
func (u urlAPI) formDecode(call goja.FunctionCall) goja.Value {
	text := call.Argument(0).String()
	data := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '+':
			data = append(data, ' ')
		case c == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]):
			data = append(data, unhex(text[i+1])<<4|unhex(text[i+2]))
			i += 2
		default:
			data = append(data, c)
		}
	}
	return u.vm.ToValue(validUTF8(data))
}

func unhex(c byte) byte {
	if isDecimal(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// formEncode implements formEncode(text). formEncode escapes the special characters in the name or
// the value of a query parameter.
func (u urlAPI) formEncode(call goja.FunctionCall) goja.Value {
	const upper = "0123456789ABCDEF"
	text := call.Argument(0).String()
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c == ' ':
			b.WriteByte('+')
		case isDecimal(c), 'a' <= c|0x20 && c|0x20 <= 'z', strings.IndexByte("*-._", c) >= 0:
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', upper[c>>4], upper[c&0xF]})
		}
	}
	return u.vm.ToValue(b.String())
}
