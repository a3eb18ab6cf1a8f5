package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// MaxNameBytes is the maximum number of bytes of a file name. Most file systems have the same
// limit.
const MaxNameBytes = 255

// CleanName returns a client's file name in a form that is safe to display. The host must never
// create a file with this name.
//
// CleanName removes folders from the name. Both / and \ are separators of folders. CleanName also
// removes spaces and dots at both ends. Some names can deceive or harm a person who saves the file.
// For such a name, CleanName returns a fault with the code invalid_argument. CleanName rejects
// names that are not UTF-8, names longer than MaxNameBytes, and device names of Windows. CleanName
// also rejects control characters, line breaks, invisible characters, and characters that change
// the writing direction.
func CleanName(filename string) (string, error) {
	if !utf8.ValidString(filename) {
		return "", badName("is not valid UTF-8")
	}
	name := strings.TrimLeft(baseName(filename), " .\u00A0\u3000")
	name = strings.TrimRight(name, " .\u00A0\u3000")
	switch {
	case name == "":
		return "", badName("is empty")
	case len(name) > MaxNameBytes:
		return "", badName("has more than 255 bytes")
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", badName("contains a control character or a line break")
	case strings.ContainsFunc(name, hides):
		return "", badName("contains characters that are invisible or change the text direction")
	case deviceName().MatchString(name):
		return "", badName("is a reserved device name")
	}
	return name, nil
}

func badName(why string) error {
	return abi.Faultf(abi.InvalidArgument, "the file name %s", why)
}

// baseName returns the text after the last / or \.
func baseName(filename string) string { return filename[strings.LastIndexAny(filename, `/\`)+1:] }

// deviceName matches names that Windows treats as devices. The names can have any extension. The
// page "Naming Files, Paths, and Namespaces" of the Windows documentation lists these names.
var deviceName = lazyregexp.New(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\.|$)`)

// hides reports whether a character is invisible or changes how other characters are displayed.
// Words of many languages contain joiners, so the function returns false for joiners.
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
