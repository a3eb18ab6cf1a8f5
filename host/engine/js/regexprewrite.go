package js

import (
	"strings"

	"github.com/toolrun/toolrun/host/engine/js/internal/anchor"
	"github.com/toolrun/toolrun/host/engine/js/internal/property"
	"github.com/toolrun/toolrun/internal/lazyregexp"
)

// anchored matches code that can contain a regular expression with the flag m or u, or with \b or
// \B.
var anchored = lazyregexp.New(`\\[bB]|/[dgisvy]*[mu]`)

// mayRewrite reports whether code can contain a regular expression that rewritePattern changes.
func mayRewrite(code string) bool {
	return property.Changes(code) || strings.Contains(code, `\k`) || anchored().MatchString(code)
}

// rewritePattern translates a JavaScript regular expression for goja. With the translated
// expression, goja finds the same matches as JavaScript. rewritePattern returns an error if the
// expression is invalid.
func rewritePattern(pattern, flags string) (string, error) {
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
