package intl

import (
	"slices"
	"strings"
)

// PluralRules implements Intl.PluralRules, which selects a plural category for a number.
type PluralRules struct {
	name, kind string
	rounding   rounding
	rules      *pluralRules
}

// NewPluralRules returns a PluralRules for the options of the Intl.PluralRules constructor.
func NewPluralRules(tags []Tag, o Options) (*PluralRules, error) {
	p := &PluralRules{}
	if err := matcher(o, "PluralRules"); err != nil {
		return nil, err
	}
	var err error
	if p.kind, err = choice(o, "PluralRules", "type", "cardinal", "cardinal", "ordinal"); err != nil {
		return nil, err
	}
	if p.rounding, err = readRounding(o, "PluralRules", "standard", 0, 3); err != nil {
		return nil, err
	}
	p.name = pluralLocale(tags)
	p.rules = pluralsOf(p.kind, p.name)
	return p, nil
}

// pluralLocale returns the locale for the first tag that has plural rules. Except for pt-PT, all
// locales of a language have the same plural rules.
func pluralLocale(tags []Tag) string {
	languages := strings.Fields(supplemental("plural/languages"))
	for _, tag := range tags {
		if tag.Language == "pt" && tag.Region == "PT" && tag.Script == "" {
			return "pt-PT"
		}
		if slices.Contains(languages, tag.Language) {
			return tag.Language
		}
	}
	return DefaultLocale
}

// Select returns the plural category of a number. For a large number, ICU uses more digits than a
// float has. If the additional digits can change the category, Select returns an error.
func (p *PluralRules) Select(d Decimal) (string, error) {
	if !d.finite() {
		return "other", nil
	}
	if p.rules.unsure(d) || len(d.digits) > 15 && p.rounding.maxFraction > 15 && !p.rules.simple() {
		return "", errUnsure()
	}
	return p.category(d), nil
}

func (p *PluralRules) category(d Decimal) string {
	d.digits = slices.Clone(d.digits)
	minFraction := p.rounding.apply(&d)
	integer, fraction := d.places()
	return p.rules.of(operands{integer: integer, fraction: padded(fraction, minFraction)})
}

// Resolved returns the result of resolvedOptions: the options that the PluralRules uses.
func (p *PluralRules) Resolved() []Option {
	options := append([]Option{{"locale", p.name}, {"type", p.kind}}, p.rounding.resolved()...)
	categories := slices.Clone(p.rules.categories)
	slices.Sort(categories)
	return append(options, Option{"pluralCategories", append(categories, "other")})
}
