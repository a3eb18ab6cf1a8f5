package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/schema"
)

func fits(t testing.TB, keyword, value string, doc string) bool {
	t.Helper()
	text, err := json.Marshal(map[string]string{keyword: value})
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(text, schema.Options{})
	if err != nil {
		t.Fatalf("Compile(%s): %v", text, err)
	}
	return len(s.Validate(doc)) == 0
}

func TestFormatsOfAddresses(t *testing.T) {
	tests := []struct {
		format    string
		good, bad []string
	}{
		{"uri", []string{"http://example.com/a?b#c", "urn:isbn:0451450523", "http://[::1]:80/", "http://[v1.a:b]/", "mailto:a@b.c", "tel:+1-816-555-1212", "http://a/%20", "file:///a", "http://u:p@h:8/"},
			[]string{"", "/a", "http://a b", "http://a/{b}", `http://a/"`, "http://a/<b>", "http://a/b|c", `http://a/b\c`, "http://a/^", "http://a/`", "http://a/%2", "http://a/%zz",
				"http://a/[b]", "http://a#b#c", "http://[::1", "http://[1.2.3.4]/", "http://[fe80::1%25a]/", "http://h:8a/", "http://é/", "1http://a", "http://a@b@c/"}},
		{"iri", []string{"http://é.example/ü?ß#ö"}, []string{"/é", "http://a\u0080/", "http://a/\ufdd0"}},
		{"uri-reference", []string{"", "/a", "a/b:c", "#a", "?a", "//h/p", "../a"}, []string{"a:b c", "1a:b", ":a", "//h:x/", "/a b", "é"}},
		{"iri-reference", []string{"é/ü"}, []string{`\\é`}},
		{"uri-template", []string{"", "http://a/{b}", "{#var}", "{/var,x*}", "{?a.b:1000}", "{;a}", "{&a%20}", "a{|x}"},
			[]string{"{", "}", "{}", "{a", "a}", "{{a}}", "{a:0}", "{a:10000}", "{a:}", "{a*:3}", "{$a}", "{a-b}", "{.}", "{a,}", "a b", "{a%2}", "%"}},
		{"ipv4", []string{"0.0.0.0", "255.255.255.255"}, []string{"", "+1.2.3.4", "256.1.1.1", "01.1.1.1", "1.2.3", "1.2.3.4.5", "::1", "1.2.3.4/8", "١.2.3.4"}},
		{"hostname", []string{"a", "a-b.c1", "xn--4gbwdl.xn--wgbh1c", "a--b.example", strings.Repeat("a", 63)},
			[]string{"", ".", "a.", "-a", "a-", "b.-a", "a_b", "ab--c", "xn--", "xn--X", "xn--a", "xn--999999999", "a..b", strings.Repeat("a", 64), strings.Repeat("a.", 130) + "a", "é"}},
		{"idn-hostname", []string{"a", "실례.테스트", "ßς་〇", "l·l", "ア・イ", "a。b", "क्\u200dष", "xn--4gbwdl"},
			[]string{"", "〮실례", "-é", "é-", "ab--é", "a·b", "·é", "é\u200d", "é\u200dé", "٠۰", "Éa\u302e", "e\u0640", "\u0300é", strings.Repeat("é", 60), strings.Repeat("é", 500), "É"}},
		{"idn-email", []string{"실례@실례.테스트", "a@b", `"ü ö"@b`}, []string{"", "@b", "a@", "a b@c", "2962", "a@b c", "(ü)@b"}},
	}
	for _, tt := range tests {
		for _, text := range tt.good {
			if !fits(t, "format", tt.format, text) {
				t.Errorf("%s rejects %q", tt.format, text)
			}
		}
		for _, text := range tt.bad {
			if fits(t, "format", tt.format, text) {
				t.Errorf("%s takes %q", tt.format, text)
			}
		}
	}
}

// TestPatternsOfJavaScript checks that expressions have JavaScript's meaning if RE2 interprets them
// differently.
func TestPatternsOfJavaScript(t *testing.T) {
	tests := []struct {
		pattern   string
		good, bad []string
	}{
		{`^\s$`, []string{" ", "\t", "\v", "\u00a0", "\u2028", "\ufeff", "\u3000"}, []string{"a", "\u200b", ""}},
		{`^\S$`, []string{"a", "\u200b"}, []string{" ", "\u00a0"}},
		{`^[\s\d]+$`, []string{"1\u00a02"}, []string{"a"}},
		{`^[\s\S]$`, []string{"a", "\n", "\u00a0"}, []string{""}},
		{`^[^\s]$`, []string{"a"}, []string{"\u2003"}},
		{`^\cA\cz$`, []string{"\x01\x1a"}, []string{"cAcz"}},
		{`^[\cJ]$`, []string{"\n"}, []string{"c", "J"}},
		{`^\u00e9[\u0041-\u0043]$`, []string{"éB"}, []string{"éD"}},
		{`^a[^]b$`, []string{"a\nb", "a]b"}, []string{"ab"}},
		{`^a[]b$`, nil, []string{"ab", "a]b"}},
		{`^\\s[[]\]$`, []string{`\s[]`}, []string{`\ []`}},
		{`^\[\]$`, []string{"[]"}, []string{""}},
	}
	for _, tt := range tests {
		for _, text := range tt.good {
			if !fits(t, "pattern", tt.pattern, text) {
				t.Errorf("%s does not match %q", tt.pattern, text)
			}
		}
		for _, text := range tt.bad {
			if fits(t, "pattern", tt.pattern, text) {
				t.Errorf("%s matches %q", tt.pattern, text)
			}
		}
	}
	text := []byte(`{"patternProperties": {"^\\s": {"type": "integer"}}, "properties": {"a": {"pattern": "^\\s\\cA$"}}}`)
	s, err := schema.Compile(text, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := strictjson.Decode([]byte("{\"\u00a0x\": \"1\", \"a\": \"b\"}"), strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	found := s.Validate(doc)
	if len(found) != 2 || string(found[0].Limit) != `"^\\s\\cA$"` && string(found[1].Limit) != `"^\\s\\cA$"` {
		t.Errorf("Validate = %v; want two violations, one with the original pattern", found)
	}
}

// FuzzFormats checks that no string makes a format panic.
func FuzzFormats(f *testing.F) {
	for _, seed := range []string{"", "http://[::1]:80/%20?a#b", "{?a.b:1000*}", "xn--4gbwdl", "실례.테스트", "a@b", "xn--99999999", "٠\u200d", "\xff"} {
		f.Add(seed)
	}
	formats := []string{"uri", "iri", "uri-reference", "iri-reference", "uri-template", "ipv4", "hostname", "idn-hostname", "idn-email", "regex"}
	compiled := map[string]*schema.Schema{}
	for _, format := range formats {
		s, err := schema.Compile([]byte(`{"format": "`+format+`"}`), schema.Options{})
		if err != nil {
			f.Fatal(err)
		}
		compiled[format] = s
	}
	f.Fuzz(func(t *testing.T, text string) {
		took := map[string]bool{}
		for format, s := range compiled {
			took[format] = len(s.Validate(text)) == 0
		}
		for narrow, wide := range map[string]string{"uri": "iri", "uri-reference": "iri-reference", "hostname": "idn-hostname"} {
			if took[narrow] && !took[wide] {
				t.Errorf("%q is a %s but not a %s", text, narrow, wide)
			}
		}
		if took["uri"] && !took["uri-reference"] {
			t.Errorf("%q is a uri but not a uri-reference", text)
		}
	})
}
