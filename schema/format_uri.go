package schema

import (
	"net/netip"
	"strings"
	"unicode/utf8"
)

// The formats of URIs. The formats in this file replace the library's formats, which accept spaces
// and brackets in paths, and reject some valid templates (RFC 6570).

// isURI reports whether s is a URI (RFC 3986) or, if international is true, an IRI (RFC 3987). If
// relative is true, isURI also accepts relative references.
func isURI(s string, relative, international bool) bool {
	if !urlCharacters(s, international) {
		return false
	}
	scheme, rest, ok := cutScheme(s)
	if !ok && !relative {
		return false
	}
	if !ok {
		rest = s
	}
	rest, fragment, _ := strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	if strings.ContainsAny(fragment+query, "#[]") {
		return false
	}
	path := rest
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		end := strings.IndexByte(after, '/')
		if end < 0 {
			end = len(after)
		}
		if !isAuthority(after[:end]) {
			return false
		}
		path = after[end:]
	}
	first, _, _ := strings.Cut(path, "/")
	if scheme == "" && path == rest && strings.Contains(first, ":") { // the segment would be parsed as a scheme
		return false
	}
	return !strings.ContainsAny(path, "[]")
}

// cutScheme removes the scheme from a URI.
func cutScheme(s string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(s, ":")
	if !ok || scheme == "" || !isLetter(scheme[0]) {
		return "", s, false
	}
	for i := range len(scheme) {
		if c := scheme[i]; !isLetter(c) && !isDigit(c) && c != '+' && c != '-' && c != '.' {
			return "", s, false
		}
	}
	return scheme, rest, true
}

// isAuthority reports whether s is the authority of a URI: [userinfo@]host[:port].
func isAuthority(s string) bool {
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		if strings.ContainsAny(s[:at], "@[]") {
			return false
		}
		s = s[at+1:]
	}
	host, port := s, ""
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 || !isLiteralAddress(s[1:end]) {
			return false
		}
		host, port = "", s[end+1:]
		if port != "" && port[0] != ':' {
			return false
		}
		port = strings.TrimPrefix(port, ":")
	} else if colon := strings.LastIndexByte(s, ':'); colon >= 0 {
		host, port = s[:colon], s[colon+1:]
	}
	return !strings.ContainsAny(host, ":[]@") && strings.Trim(port, "0123456789") == ""
}

// isLiteralAddress reports whether s is an IP address in brackets.
func isLiteralAddress(s string) bool {
	if version, rest, ok := strings.Cut(s, "."); ok && len(version) > 1 && (version[0] == 'v' || version[0] == 'V') {
		return isHex(version[1:]) && rest != "" && !strings.ContainsAny(rest, "%/?#[]@")
	}
	address, err := netip.ParseAddr(s)
	return err == nil && address.Is6() && address.Zone() == ""
}

// urlCharacters reports whether s contains only characters that are allowed in a URI, and no
// incomplete escapes.
func urlCharacters(s string, international bool) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for i, r := range s {
		switch {
		case r == '%':
			if len(s) < i+3 || !isHex(s[i+1:i+3]) {
				return false
			}
		case r >= utf8.RuneSelf:
			if !international || !isInternational(r) {
				return false
			}
		case r <= ' ', r == 0x7f, strings.ContainsRune("\"<>\\^`{|}", r):
			return false
		}
	}
	return true
}

// isInternational reports whether a rune is allowed in an IRI, but not in a URI: the rules ucschar
// and iprivate of RFC 3987.
func isInternational(r rune) bool {
	return r >= 0xa0 && r&0xfffe != 0xfffe && (r < 0xfdd0 || r > 0xfdef) && (r < 0xfff0 || r > 0xffff)
}

// isURITemplate reports whether s is a URI template (RFC 6570).
func isURITemplate(s string) bool {
	for s != "" {
		literal, rest, found := strings.Cut(s, "{")
		if strings.Contains(literal, "}") || !urlCharacters(literal, true) {
			return false
		}
		if !found {
			return true
		}
		expression, after, closed := strings.Cut(rest, "}")
		if !closed || !isExpansion(expression) {
			return false
		}
		s = after
	}
	return true
}

// isExpansion reports whether s is a valid expression of a URI template, without its braces.
func isExpansion(s string) bool {
	if s != "" && strings.IndexByte("+#./;?&=,!@|", s[0]) >= 0 {
		s = s[1:]
	}
	for variable := range strings.SplitSeq(s, ",") {
		if !isTemplateVariable(variable) {
			return false
		}
	}
	return true
}

// isTemplateVariable reports whether s is a template variable with an optional modifier.
func isTemplateVariable(s string) bool {
	name, length, prefix := strings.Cut(s, ":")
	if prefix && (length == "" || len(length) > 4 || length[0] == '0' || strings.Trim(length, "0123456789") != "") {
		return false
	}
	if !prefix {
		name = strings.TrimSuffix(name, "*")
	}
	for part := range strings.SplitSeq(name, ".") {
		if part == "" {
			return false
		}
		for i := 0; i < len(part); i++ {
			switch c := part[i]; {
			case isLetter(c), isDigit(c), c == '_':
			case c == '%' && len(part) >= i+3 && isHex(part[i+1:i+3]):
				i += 2
			default:
				return false
			}
		}
	}
	return true
}

// isIPv4 reports whether s is an IPv4 address: four decimal numbers without signs or leading zeros.
func isIPv4(s string) bool {
	address, err := netip.ParseAddr(s)
	return err == nil && address.Is4()
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

func isHex(s string) bool {
	return s != "" && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}
