package intl

import (
	"slices"
	"strings"
)

// Tag is a canonical language tag.
type Tag struct {
	Language, Script, Region string
	variants                 []string
	keywords                 []keyword // the keywords of the -u- extension, sorted by key
	attributes               []string  // of -u-
	others                   []string  // all other extensions with their singletons; -x- is last
}

type keyword struct{ key, value string }

// maxTag is the maximum length of a language tag.
const maxTag = 255

// ParseTag parses a language tag and converts the tag to canonical form. Intl.getCanonicalLocales
// uses the same form.
func ParseTag(text string) (Tag, error) {
	wrong := rangeErrorf("Incorrect locale information provided")
	if len(text) > maxTag {
		return Tag{}, wrong
	}
	parts := strings.Split(strings.ToLower(text), "-")
	for _, p := range parts {
		if len(p) == 0 || len(p) > 8 || !isAlnum(p) {
			return Tag{}, wrong
		}
	}
	if n := len(parts[0]); !isAlpha(parts[0]) || n < 2 || n == 4 {
		return Tag{}, wrong
	}
	t := Tag{Language: parts[0]}
	parts = parts[1:]
	if len(parts) > 0 && len(parts[0]) == 4 && isAlpha(parts[0]) {
		t.Script, parts = strings.ToUpper(parts[0][:1])+parts[0][1:], parts[1:]
	}
	if len(parts) > 0 && (len(parts[0]) == 2 && isAlpha(parts[0]) || len(parts[0]) == 3 && isDigits(parts[0])) {
		t.Region, parts = strings.ToUpper(parts[0]), parts[1:]
	}
	for len(parts) > 0 && (len(parts[0]) >= 5 || len(parts[0]) == 4 && isDigits(parts[0][:1])) {
		if slices.Contains(t.variants, parts[0]) {
			return Tag{}, wrong
		}
		t.variants, parts = append(t.variants, parts[0]), parts[1:]
	}
	slices.Sort(t.variants)
	if slices.Contains(t.variants, "posix") || slices.Contains(parts, "t") {
		return Tag{}, unsupported("a language tag with posix or -t-", "omit them")
	}
	if !t.extensions(parts) {
		return Tag{}, wrong
	}
	t.replaceAliases()
	return t, nil
}

// extensions parses the extensions of a language tag.
func (t *Tag) extensions(parts []string) bool {
	seen := map[string]bool{}
	var private []string
	for len(parts) > 0 {
		singleton := parts[0]
		if len(singleton) != 1 || seen[singleton] {
			return false
		}
		seen[singleton] = true
		end := 1
		for end < len(parts) && (len(parts[end]) > 1 || singleton == "x") {
			end++
		}
		if end == 1 {
			return false
		}
		switch singleton {
		case "u":
			if !t.unicode(parts[1:end]) {
				return false
			}
		case "x":
			private = parts[:end]
		default:
			t.others = append(t.others, strings.Join(parts[:end], "-"))
		}
		parts = parts[end:]
	}
	slices.Sort(t.others)
	if private != nil {
		t.others = append(t.others, strings.Join(private, "-"))
	}
	return true
}

func (t *Tag) unicode(parts []string) bool {
	for len(parts) > 0 && len(parts[0]) > 2 {
		t.attributes, parts = append(t.attributes, parts[0]), parts[1:]
	}
	slices.Sort(t.attributes)
	t.attributes = slices.Compact(t.attributes)
	for len(parts) > 0 {
		if !isAlpha(parts[0][1:]) {
			return false
		}
		end := 1
		for end < len(parts) && len(parts[end]) > 2 {
			end++
		}
		k := keyword{parts[0], strings.Join(parts[1:end], "-")}
		if k.value == "true" || k.value == "yes" && (k.key == "kn" || k.key == "kb" || k.key == "kc" || k.key == "kh" || k.key == "kk") {
			k.value = ""
		}
		if !slices.ContainsFunc(t.keywords, func(o keyword) bool { return o.key == k.key }) {
			t.keywords = append(t.keywords, k)
		}
		parts = parts[end:]
	}
	slices.SortFunc(t.keywords, func(a, b keyword) int { return strings.Compare(a.key, b.key) })
	return true
}

// replaceAliases replaces deprecated names.
func (t *Tag) replaceAliases() {
	if to := supplemental("alias/language/" + t.Language); to != "" {
		parts := strings.Split(to, "-")
		t.Language = parts[0]
		for _, p := range parts[1:] {
			if len(p) == 4 && t.Script == "" {
				t.Script = p
			}
			if len(p) < 4 && t.Region == "" {
				t.Region = p
			}
		}
	}
	if to := supplemental("alias/region/" + t.Region); to != "" && t.Region != "" {
		t.Region = t.successor(strings.Fields(to))
	}
}

// successor returns the region that replaces a former region. If several regions replace the former
// region, successor returns the region that is most likely for the language.
func (t *Tag) successor(regions []string) string {
	if likely := (Tag{Language: t.Language, Script: t.Script}).maximized().Region; slices.Contains(regions, likely) {
		return likely
	}
	return regions[0]
}

// Base returns the tag without extensions.
func (t Tag) Base() string {
	parts := []string{t.Language}
	for _, p := range append([]string{t.Script, t.Region}, t.variants...) {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "-")
}

// String returns the whole tag.
func (t Tag) String() string {
	parts := []string{t.Base()}
	u := slices.Clone(t.attributes)
	for _, k := range t.keywords {
		u = append(u, k.key)
		if k.value != "" {
			u = append(u, k.value)
		}
	}
	others := slices.Clone(t.others)
	if len(u) > 0 {
		text := "u-" + strings.Join(u, "-")
		i := 0
		for i < len(others) && others[i] < text && !strings.HasPrefix(others[i], "x-") {
			i++
		}
		others = slices.Insert(others, i, text)
	}
	return strings.Join(append(parts, others...), "-")
}

// keyword returns the value of a key in the -u- extension.
func (t Tag) keyword(key string) (string, bool) {
	for _, k := range t.keywords {
		if k.key == key {
			return k.value, true
		}
	}
	return "", false
}

// maximized adds the likely script and the likely region to a tag.
func (t Tag) maximized() Tag {
	for _, try := range []string{
		joinTag(t.Language, t.Script, t.Region), joinTag(t.Language, "", t.Region),
		joinTag(t.Language, t.Script, ""), t.Language, joinTag("und", t.Script, ""),
	} {
		likely := supplemental("likely/" + try)
		if likely == "" {
			continue
		}
		parts := strings.Split(likely, "-")
		if len(parts) != 3 {
			continue
		}
		if t.Language == "und" {
			t.Language = parts[0]
		}
		if t.Script == "" {
			t.Script = parts[1]
		}
		if t.Region == "" {
			t.Region = parts[2]
		}
		return t
	}
	return t
}

func joinTag(language, script, region string) string {
	text := language
	if script != "" {
		text += "-" + script
	}
	if region != "" {
		text += "-" + region
	}
	return text
}

func isAlpha(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) < 0
}

func isDigits(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

func isAlnum(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) < 0
}
