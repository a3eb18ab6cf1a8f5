package js

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/dop251/goja"

	"github.com/toolrun/toolrun/host/engine"
)

var jsonTexts = []string{
	`null`, `true`, ` [false , "" ] `, `{}`, `[]`, `"a"`, `"\u00e9\n\"\\\ud83d\ude00"`, `"é😀"`,
	`0`, `-0`, `-0.0`, `7`, `-7`, `1.5`, `1e3`, `1E-3`, `123456789012345`, `1234567890123456789`, `9007199254740993`, `1e308`, `5e-324`, `9e308`,
	`{"a":{"b":[1,{"c":null}]},"":"empty","__proto__":{"x":1},"constructor":1,"b":2,"10":1,"9":2}`,
	"{ \"a\" :\t1 ,\n\"\\u0062\" : [ ] }", `[[[[[]]]],[1,2,3]]`, `{"toJSON":"no function","then":1}`,
}

// FuzzRead compares the results of the reader with the results of goja's JSON.parse.
func FuzzRead(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add(text)
	}
	p, err := newProgram(New(), engine.Source{Path: "t.js"}, &script{code: "(function () {})"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !checked(json.RawMessage(text)) {
			return
		}
		r := newRun(context.Background(), p, &engine.Input{}, &engine.Host{})
		r.prepare()
		got, err := readJSON(&r.realm, json.RawMessage(text))
		var want goja.Value
		refused := r.realm.vm.Try(func() {
			want = nativeParse(&r.realm)(goja.FunctionCall{Arguments: []goja.Value{r.realm.vm.ToValue(text)}})
		})
		if (err != nil) != (refused != nil) {
			t.Fatalf("read(%s) = %v; JSON.parse throws %v", text, err, refused)
		}
		if err == nil && show(t, r, got) != show(t, r, want) {
			t.Errorf("read(%s) = %s\nJSON.parse: %s", text, show(t, r, got), show(t, r, want))
		}
	})
}

// showProgram formats values. The function returns different texts for different values, including
// -0 and 0.
var showProgram = goja.MustCompile("show.js", `(function show(v) {
	if (Object.is(v, -0)) return "-0";
	if (Array.isArray(v)) return "[" + v.map(show) + "]";
	if (typeof v !== "object" || v === null) return typeof v + ":" + String(v) + ":" + (v && v.length);
	return "{" + Object.entries(Object.getOwnPropertyDescriptors(v)).map(([k, d]) =>
		k + d.writable + d.enumerable + d.configurable + "=" + show(d.value)) + "}" + (Object.getPrototypeOf(v) === Object.prototype);
})`, false)

func show(t *testing.T, r *run, v goja.Value) string {
	show, err := r.realm.vm.RunProgram(showProgram)
	if err != nil {
		t.Fatal(err)
	}
	call, _ := goja.AssertFunction(show)
	text, err := call(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}
