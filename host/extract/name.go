package extract

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
)

// MaxNameBytes is how long the name of a file may be, as in most file systems.
const MaxNameBytes = 255

// CleanName returns the name that a file may be shown under, of the one that a client gave. It is still only a name: no
// file of the host is to be called so.
//
// Folders before it are dropped, of either kind of separator, and so are spaces and dots at its beginning and spaces and
// dots at its end: they mean nothing, or hide a file. What is made to deceive, or harm whoever saves the file, is refused
// with invalid_argument: names that are not UTF-8, control characters and line breaks, characters that turn the direction
// of what follows or cannot be seen, the names of devices on Windows, and more than MaxNameBytes.
func CleanName(filename string) (string, error) {
	if !utf8.ValidString(filename) {
		return "", badName("is not in UTF-8")
	}
	name := strings.TrimLeft(baseName(filename), " .\u00A0\u3000")
	name = strings.TrimRight(name, " .\u00A0\u3000")
	switch {
	case name == "":
		return "", badName("is empty")
	case len(name) > MaxNameBytes:
		return "", badName("has more than 255 bytes")
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", badName("has a control character or a line break")
	case strings.ContainsFunc(name, hides):
		return "", badName("has characters that cannot be seen or change the direction of the text")
	case deviceName.MatchString(name):
		return "", badName("is that of a device")
	}
	return name, nil
}

func badName(why string) error {
	return abi.Faultf(abi.InvalidArgument, "the name of the file %s", why)
}

// baseName is what follows the last separator of either kind.
func baseName(filename string) string { return filename[strings.LastIndexAny(filename, `/\`)+1:] }

// deviceName matches what Windows takes for a device, whatever its extension: see "Naming Files, Paths, and Namespaces" in
// its documentation.
var deviceName = regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\.|$)`)

// hides reports characters that change how others look, or carry text that nobody sees. Joiners, which words of many
// languages have, are none of them.
func hides(r rune) bool {
	switch {
	case r >= '\u202A' && r <= '\u202E', r >= '\u2066' && r <= '\u2069', r == '\u200E', r == '\u200F', r == '\u061C': // direction
		return true
	case r == '\u2028', r == '\u2029': // line and paragraph
		return true
	case r == '\u200B', r >= '\u2060' && r <= '\u2064', r == '\uFEFF', r >= 0xE0000 && r <= 0xE007F: // no width, tags
		return true
	}
	return false
}
