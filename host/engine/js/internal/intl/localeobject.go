package intl

import (
	"slices"
	"strings"
)

// NewLocale returns the tag of a new Intl.Locale. NewLocale applies the options to the first
// argument of the constructor.
func NewLocale(tag Tag, o Options) (Tag, error) {
	wrong := rangeErrorf("Incorrect locale information provided")
	if language, ok := o.Text("language"); ok {
		if !isAlpha(language) || len(language) < 2 || len(language) > 8 || len(language) == 4 {
			return Tag{}, wrong
		}
		tag.Language = strings.ToLower(language)
	}
	if script, ok := o.Text("script"); ok {
		if !isAlpha(script) || len(script) != 4 {
			return Tag{}, wrong
		}
		tag.Script = strings.ToUpper(script[:1]) + strings.ToLower(script[1:])
	}
	if region, ok := o.Text("region"); ok {
		if len(region) != 2 && len(region) != 3 || len(region) == 2 && !isAlpha(region) || len(region) == 3 && !isDigits(region) {
			return Tag{}, wrong
		}
		tag.Region = strings.ToUpper(region)
	}
	tag.keywords = slices.Clone(tag.keywords)
	tag.replaceAliases()
	return tag, tag.readKeywords(o)
}

func (t *Tag) readKeywords(o Options) error {
	for _, k := range []struct{ option, key string }{{"calendar", "ca"}, {"collation", "co"}} {
		if value, ok := o.Text(k.option); ok {
			if !isKeywordType(value) {
				return rangeErrorf("Invalid %s : %s", k.option, quoted(value))
			}
			t.setKeyword(k.key, strings.ToLower(value))
		}
	}
	hourCycle, err := choice(o, "Locale", "hourCycle", "", "h11", "h12", "h23", "h24")
	if err != nil {
		return err
	}
	if hourCycle != "" {
		t.setKeyword("hc", hourCycle)
	}
	caseFirst, err := choice(o, "Locale", "caseFirst", "", "upper", "lower", "false")
	if err != nil {
		return err
	}
	if caseFirst != "" {
		t.setKeyword("kf", caseFirst)
	}
	if numeric, ok := o.Bool("numeric"); ok {
		t.setKeyword("kn", map[bool]string{true: "", false: "false"}[numeric])
	}
	system, err := systemOption(o)
	if system != "" {
		t.setKeyword("nu", system)
	}
	return err
}

func (t *Tag) setKeyword(key, value string) {
	t.keywords = slices.DeleteFunc(t.keywords, func(k keyword) bool { return k.key == key })
	t.keywords = append(t.keywords, keyword{key, value})
	slices.SortFunc(t.keywords, func(a, b keyword) int { return strings.Compare(a.key, b.key) })
}

// Keyword returns the value of a key in the tag's -u- extension. The result ok is false if the tag
// does not contain the key.
func (t Tag) Keyword(key string) (value string, ok bool) { return t.keyword(key) }

// Maximize adds the likely script and the likely region to a tag. If the data lacks the
// language, Maximize returns an error.
func (t Tag) Maximize() (Tag, error) {
	if supplemental("likely/"+t.Language) == "" {
		return Tag{}, unsupported("the likely script of the language "+t.Language, "name the script and the region")
	}
	return t.maximized(), nil
}

// Minimize removes the script and the region from a tag if the rest of the tag implies them.
func (t Tag) Minimize() (Tag, error) {
	full, err := t.Maximize()
	if err != nil {
		return Tag{}, err
	}
	for _, try := range []Tag{{Language: full.Language}, {Language: full.Language, Region: full.Region}, {Language: full.Language, Script: full.Script}} {
		if m := try.maximized(); m.Script == full.Script && m.Region == full.Region {
			t.Language, t.Script, t.Region = try.Language, try.Script, try.Region
			return t, nil
		}
	}
	return full, nil
}
