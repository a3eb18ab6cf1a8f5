package main

import (
	"slices"
	"sort"
	"strings"
)

// supplemental returns a table with the data that does not belong to a locale.
func (s *source) supplemental(locales []string) table {
	t := table{}
	known, defaults := s.known()
	t["locales"], t["locales/default"] = strings.Join(known, " "), strings.Join(defaults, " ")
	for kind, file := range map[string]string{"cardinal": "plurals", "ordinal": "ordinals"} {
		rules := s.read("cldr-core/supplemental/"+file+".json", "supplemental", "plurals-type-"+kind)
		if kind == "cardinal" {
			t["plural/languages"] = strings.Join(sortedKeys(rules), " ")
		}
		for _, language := range sortedKeys(rules) {
			for category, rule := range at(rules, language) {
				text, _, _ := strings.Cut(rule.(string), "@")
				t["plural/"+kind+"/"+language+"/"+strings.TrimPrefix(category, "pluralRule-count-")] = strings.TrimSpace(text)
			}
		}
	}
	for region, hours := range s.read("cldr-core/supplemental/timeData.json", "supplemental", "timeData") {
		t["hours/"+region] = hours.(object)["_preferred"].(string)
	}
	for region, order := range s.read("cldr-core/supplemental/calendarPreferenceData.json", "supplemental", "calendarPreferenceData") {
		if list, ok := order.([]any); ok && list[0] != "gregorian" {
			t["calendar/"+region] = list[0].(string)
		}
	}
	for code, value := range s.read("cldr-core/supplemental/currencyData.json", "supplemental", "currencyData", "fractions") {
		t["fraction/"+code] = value.(object)["_digits"].(string)
	}
	flatten(t, "dayperiod", s.read("cldr-core/supplemental/dayPeriods.json", "supplemental", "dayPeriodRuleSet"), nil)
	for system, value := range s.read("cldr-core/supplemental/numberingSystems.json", "supplemental", "numberingSystems") {
		digits, ok := value.(object)["_digits"].(string)
		if ok {
			t["digits/"+system] = digits
		}
	}
	s.likely(t, locales)
	var former []string
	for code := range s.read("cldr-numbers-full/main/en/currencies.json", "main", "en", "numbers", "currencies") {
		if !s.currentCurrencies()[code] {
			former = append(former, code)
		}
	}
	sort.Strings(former)
	t["currencies/former"] = strings.Join(former, " ")
	s.metaZones(t)
	s.zoneAliases(t)
	for alias, value := range s.read("cldr-core/supplemental/aliases.json", "supplemental", "metadata", "alias", "languageAlias") {
		t["alias/language/"+alias] = value.(object)["_replacement"].(string)
	}
	for alias, value := range s.read("cldr-core/supplemental/aliases.json", "supplemental", "metadata", "alias", "territoryAlias") {
		if len(alias) == 2 {
			t["alias/region/"+alias] = value.(object)["_replacement"].(string)
		}
	}
	return t
}

// known returns all locales of ICU, including locales without a table. The result "defaults"
// contains each locale whose data equals the data of another locale that has a shorter name.
func (s *source) known() (names, defaults []string) {
	list, _ := s.read("cldr-core/availableLocales.json", "availableLocales")["full"].([]any)
	same, _ := s.read("cldr-core/defaultContent.json")["defaultContent"].([]any)
	for _, name := range same {
		if !slices.Contains(missing, name.(string)) {
			defaults = append(defaults, name.(string))
		}
	}
	defaults = append(defaults, "no-NO")
	for _, name := range list {
		if !slices.Contains(missing, name.(string)) {
			names = append(names, name.(string))
		}
	}
	names = append(names, defaults...)
	sort.Strings(names)
	return names, defaults
}

func (s *source) likely(t table, locales []string) {
	languages := map[string]bool{"und": true}
	for _, name := range locales {
		languages[strings.Split(name, "-")[0]] = true
	}
	for tag, value := range s.read("cldr-core/supplemental/likelySubtags.json", "supplemental", "likelySubtags") {
		if language := strings.Split(tag, "-")[0]; languages[language] {
			t["likely/"+tag] = value.(string)
		}
	}
}

// metaZones adds the metazones of each zone. A zone's metazones have the form
// "metazone,from,to;..." and are ordered by time.
func (s *source) metaZones(t table) {
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch v := value.(type) {
		case object:
			for name, inner := range v {
				walk(path+"/"+name, inner)
			}
		case []any:
			var uses []string
			for _, entry := range v {
				use := at(entry, "usesMetazone")
				from, _ := use["_from"].(string)
				to, _ := use["_to"].(string)
				uses = append(uses, use["_mzone"].(string)+","+from+","+to)
			}
			t["metazones"+path] = strings.Join(uses, ";")
		}
	}
	walk("", s.read("cldr-core/supplemental/metaZones.json", "supplemental", "metaZones", "metazoneInfo")["timezone"])
	preferred, _ := s.read("cldr-core/supplemental/metaZones.json", "supplemental", "metaZones")["metazones"].([]any)
	for _, entry := range preferred {
		m := at(entry, "mapZone")
		if m["_territory"] == "001" {
			t["golden/"+m["_other"].(string)] = m["_type"].(string)
		}
	}
}

// zoneAliases adds the names of zones. A line contains the names of one zone and begins with the
// canonical name.
func (s *source) zoneAliases(t table) {
	var lines []string
	for _, value := range s.read("cldr-bcp47/bcp47/timezone.json", "keyword", "u", "tz") {
		entry, ok := value.(object)
		if !ok {
			continue
		}
		if alias, ok := entry["_alias"].(string); ok {
			lines = append(lines, alias)
		}
	}
	sort.Strings(lines)
	t["zones"] = strings.Join(lines, "\n")
}

// currentCurrencies returns the currencies that are legal tender in at least one country.
func (s *source) currentCurrencies() map[string]bool {
	if s.current != nil {
		return s.current
	}
	s.current = map[string]bool{}
	for _, value := range s.read("cldr-core/supplemental/currencyData.json", "supplemental", "currencyData", "region") {
		list, _ := value.([]any)
		for _, entry := range list {
			for code, use := range entry.(object) {
				_, ended := use.(object)["_to"]
				_, tender := use.(object)["_tender"]
				if !ended && !tender {
					s.current[code] = true
				}
			}
		}
	}
	return s.current
}
