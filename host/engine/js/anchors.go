package js

import (
	"strings"

	"github.com/toolrun/toolrun/host/engine/js/internal/anchor"
	"github.com/toolrun/toolrun/host/engine/js/internal/property"
)

// anchored finds what may be a regular expression that has the flag m or u, or \b or \B.
var anchored = lazyRegexp(`\\[bB]|/[dgisvy]*[mu]`)

// mayMend reports whether code may hold a regular expression that mendPattern changes.
func mayMend(code string) bool {
	return property.Changes(code) || strings.Contains(code, `\k`) || anchored().MatchString(code)
}

// mendPattern returns an expression that matches for goja what the given one matches by the language, or says what is wrong
// with it.
func mendPattern(pattern, flags string) (string, error) {
	unicode := strings.Contains(flags, "u")
	if err := property.CheckGroups(pattern, unicode); err != nil {
		return "", err
	}
	if unicode {
		if err := property.CheckUnicode(pattern); err != nil {
			return "", err
		}
	}
	if unicode && property.Changes(pattern) {
		expanded, err := property.Expand(pattern)
		if err != nil {
			return "", err
		}
		pattern = expanded
	}
	if anchor.Used(pattern, flags) {
		return anchor.Rewrite(pattern, flags), nil
	}
	return pattern, nil
}
