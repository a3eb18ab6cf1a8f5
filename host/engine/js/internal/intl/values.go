package intl

import (
	"slices"
	"strings"
)

// SupportedValues returns the result of Intl.supportedValuesOf.
func SupportedValues(key string) (values []string, err error) {
	switch key {
	case "calendar":
		return []string{"gregory"}, nil
	case "numberingSystem":
		return []string{"latn"}, nil
	case "collation":
		return []string{}, nil
	case "unit":
		return simpleUnits, nil
	case "currency":
		tableOf("en").each("currency/", func(path, _ string) {
			if code, _, ok := strings.Cut(path, "/"); ok && !slices.Contains(values, code) {
				values = append(values, code)
			}
		})
		return values, nil
	case "timeZone":
		for _, name := range zoneNames() {
			if !slices.Contains(values, name) && strings.Contains(name, "/") && !strings.HasPrefix(name, "Etc/") {
				values = append(values, name)
			}
		}
		slices.Sort(values)
		return values, nil
	}
	return nil, rangeErrorf("Invalid key : %s", quoted(key))
}
