package intl_test

import (
	"fmt"
	"strconv"

	"github.com/toolrun/toolrun/host/engine/js/internal/intl"
)

// options maps the names of a test's options to their values. The values are strings, numbers and
// booleans.
type options map[string]any

func (o options) Text(name string) (string, bool) {
	value, ok := o[name]
	if !ok {
		return "", false
	}
	return fmt.Sprint(value), true
}

func (o options) Bool(name string) (value, ok bool) {
	v, ok := o[name]
	return v == true, ok
}

func (o options) Number(name string) (float64, bool) {
	switch v := o[name].(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	}
	return 0, false
}

func (o options) BoolOrText(name string) (string, bool, bool) {
	switch v := o[name].(type) {
	case bool:
		return strconv.FormatBool(v), true, true
	case string:
		return v, false, true
	}
	return "", false, false
}

func tags(names ...string) (list []intl.Tag) {
	for _, name := range names {
		tag, err := intl.ParseTag(name)
		if err != nil {
			panic(err)
		}
		list = append(list, tag)
	}
	return list
}
