package model_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/model"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/model/openai"
)

const fullConfig = `# models
chat:
  local:
    base_url: http://127.0.0.1:11434/v1
    model: llama3
  large:
    provider: openai
    base_url: "https://api.example.com/v1"
    model: large-1
    api_key_env: LARGE_KEY
    proxy: http://proxy.example.com:3128
    timeout: 30s
    answer_bytes: 1MiB
    tenants: [acme, globex]
    tokens_per_day: {tenant: 1000, user: 10}
embeddings:
  e5:
    base_url: http://127.0.0.1:8080/v1
    model: e5
    dim: 384
    query_prefix: "query: "
    document_prefix: "passage: "
`

func TestReadConfig(t *testing.T) {
	defaults := model.Budget{Tenant: model.DefaultTenantTokens, App: model.DefaultAppTokens, User: model.DefaultUserTokens}
	want := &model.Config{
		Chat: map[string]model.Entry{
			"local": {Provider: "openai", BaseURL: "http://127.0.0.1:11434/v1", Model: "llama3", TokensPerDay: defaults},
			"large": {
				Provider: "openai", BaseURL: "https://api.example.com/v1", Model: "large-1", KeyEnv: "LARGE_KEY",
				Proxy: "http://proxy.example.com:3128", Timeout: 30 * time.Second, AnswerBytes: 1 << 20,
				Tenants:      []string{"acme", "globex"},
				TokensPerDay: model.Budget{Tenant: 1000, App: model.DefaultAppTokens, User: 10},
			},
		},
		Embeddings: map[string]model.Entry{
			"e5": {Provider: "openai", BaseURL: "http://127.0.0.1:8080/v1", Model: "e5", TokensPerDay: defaults, Dim: 384, QueryPrefix: "query: ", DocumentPrefix: "passage: ", Batch: model.DefaultBatch},
		},
	}
	got, err := model.ReadConfig("models.yaml", []byte(fullConfig))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ReadConfig() differs (-want +got):\n%s", diff)
	}
	if empty, err := model.ReadConfig("models.yaml", []byte("# nothing\n")); err != nil || len(empty.Chat)+len(empty.Embeddings) > 0 {
		t.Errorf("ReadConfig of an empty file = %v, %v; want no models", empty, err)
	}
}

func TestReadConfigMistakes(t *testing.T) {
	entry := func(lines string) string { return "chat:\n  m:\n    base_url: http://h/v1\n    model: x\n" + lines }
	for name, tc := range map[string]struct{ content, want string }{
		"section":        {"chatt: {}\n", `f:1:1: the file has no key "chatt" (did you mean chat?)`},
		"not a mapping":  {"- a\n", `f:1:1: the file must be a mapping`},
		"empty section":  {"chat:\n", `f:1:1: chat must be a mapping`},
		"name":           {"chat:\n  a b: {}\n", `f:2:3: the text "a b" is not a valid name of a model`},
		"missing":        {"chat:\n  m: {model: x}\n", `f:2:3: m does not contain the key base_url`},
		"missing dim":    {"embeddings:\n  m: {model: x, base_url: http://h}\n", `f:2:3: m does not contain the key dim`},
		"built in":       {"embeddings:\n  lexical: {model: x, base_url: http://h, dim: 3}\n", `f:2:3: the embedder "lexical" is built in`},
		"batch":          {"embeddings:\n  m: {model: x, base_url: http://h, dim: 3, batch: 0}\n", `f:2:45: batch must be a whole number between 1 and 2048`},
		"dim of a chat":  {entry("    dim: 3\n"), `f:5:5: m has no key "dim"`},
		"duplicate":      {entry("    model: y\n"), `f:5:5: the key "model" occurs twice`},
		"provider":       {entry("    provider: acme\n"), `f:5:5: the provider "acme" does not exist`},
		"model":          {"chat:\n  m:\n    base_url: http://h/v1\n    model: 4\n", `f:4:5: model must be a non-empty string`},
		"base_url":       {"chat:\n  m:\n    base_url: ftp://user:secret@h\n    model: x\n", `f:3:5: base_url must be an http or https URL`},
		"query":          {"chat:\n  m:\n    base_url: http://h?key=secret\n    model: x\n", `f:3:5: base_url must be`},
		"proxy":          {entry("    proxy: secret\n"), `f:5:5: proxy must be`},
		"key, not a env": {entry("    api_key_env: sk-secret\n"), "f:5:5: the value of `api_key_env` must be the name of an environment variable"},
		"api_key":        {entry("    api_key: sk-secret\n"), `f:5:5: m has no key "api_key" (did you mean api_key_env?)`},
		"timeout":        {entry("    timeout: 30\n"), `f:5:5: timeout must be a duration between 100ms and 10m0s`},
		"long timeout":   {entry("    timeout: 11m\n"), `f:5:5: timeout must be`},
		"answer_bytes":   {entry("    answer_bytes: 1GiB\n"), `f:5:5: answer_bytes must be a size between 1KiB and 64MiB`},
		"tenants":        {entry("    tenants: acme\n"), `f:5:5: tenants must be a non-empty list`},
		"no tenants":     {entry("    tenants: []\n"), `f:5:5: tenants must be a non-empty list`},
		"tenant":         {entry("    tenants: [1]\n"), `f:5:5: tenants must be a list of non-empty strings`},
		"tokens":         {entry("    tokens_per_day: {user: 0}\n"), `f:5:22: user must be a whole number between 1 and`},
		"negative":       {entry("    tokens_per_day: {user: -1}\n"), `f:5:22: user must be a whole number between 1 and`},
		"token scope":    {entry("    tokens_per_day: {users: 1}\n"), `f:5:22: tokens_per_day has no key "users"`},
		"alias":          {"chat: &a\n  m: *a\n", `f:`},
		"documents":      {"chat: {}\n---\nchat: {}\n", `the file contains more than one YAML document`},
		"syntax":         {"chat: {secret\n", `the YAML is malformed`},
		"tab":            {"chat:\n\tm: secret\n", `f:2:`},
		"utf-8":          {"chat: \xff", `f:1:1: the file is not valid UTF-8`},
		"tokens of YAML": {"chat: " + strings.Repeat("[", 20_000), `the file has more than 16384 YAML tokens`},
		"nesting":        {"chat: " + strings.Repeat("[", 16_000), `f:1:`},
		"large":          {strings.Repeat("#", 300<<10), `f:1:1: the file is larger than 256 KiB`},
	} {
		config, err := model.ReadConfig("f", []byte(tc.content))
		if err == nil || config != nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: ReadConfig() = %v, %v; want %q", name, config, err, tc.want)
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: ReadConfig() = %v; want no value that may be a credential", name, err)
		}
	}
	_, err := model.ReadConfig("f", []byte(entry("    timeout: x\n    dimm: 1\n  n: {}\n")))
	if mistakes, ok := errors.AsType[model.Mistakes](err); !ok || len(mistakes) != 4 {
		t.Errorf("ReadConfig() = %v; want all four mistakes", err)
	}
}

func TestSet(t *testing.T) {
	config, err := model.ReadConfig("f", []byte(fullConfig))
	if err != nil {
		t.Fatal(err)
	}
	factories := map[string]model.Factory{"openai": openai.Factory()}
	env := func(name string) string { return map[string]string{"LARGE_KEY": "sk-secret"}[name] }
	set, err := model.NewSet(config, factories, env)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		tenant, name string
		ok           bool
	}{{"acme", "large", true}, {"globex", "large", true}, {"other", "local", true}, {"other", "large", false}, {"acme", "none", false}, {"acme", "e5", false}} {
		chat, entry, err := set.Chat(tc.tenant, tc.name)
		if (err == nil) != tc.ok || (chat != nil) != tc.ok || (entry.Model != "") != tc.ok {
			t.Errorf("Chat(%s, %s) = %v, %+v, %v; want a model: %t", tc.tenant, tc.name, chat, entry, err, tc.ok)
		}
	}
	_, _, denied := set.Chat("other", "large")
	_, _, unknown := (*model.Set)(nil).Chat("other", "large")
	if diff := cmp.Diff(denied, unknown); diff != "" || !errors.Is(denied, abi.Unavailable) {
		t.Errorf("the error for a model of another tenant is %v, and for an unknown model %v; want the same fault with the code unavailable", denied, unknown)
	}
	if e, _, err := set.Embedder("acme", "e5"); err != nil || e.Dim() != 384 {
		t.Errorf("Embedder(e5) = %v, %v; want an embedder with 384 dimensions", e, err)
	}
	for name, tc := range map[string]struct {
		factories map[string]model.Factory
		env       func(string) string
	}{
		"no provider": {nil, env},
		"no key":      {factories, func(string) string { return "" }},
	} {
		if _, err := model.NewSet(config, tc.factories, tc.env); err == nil || !strings.Contains(err.Error(), "chat model large: ") {
			t.Errorf("%s: NewSet() = %v; want an error with the model's name", name, err)
		}
	}
}

// Every tenant can use the built-in embedder, even if the operator has configured no models.
func TestLexical(t *testing.T) {
	configured, err := model.NewSet(&model.Config{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]*model.Set{"no models": nil, "no embedders": configured} {
		e, _, err := set.Embedder("acme", "lexical")
		if err != nil {
			t.Errorf("%s: Embedder(lexical) = %v; want an embedder", name, err)
			continue
		}
		vectors, usage, err := e.Embed(t.Context(), []string{"a", "b"}, model.Document)
		if err != nil || len(vectors) != 2 || len(vectors[1]) != e.Dim() || usage != (model.Usage{}) {
			t.Errorf("%s: Embed() = %d vectors, %+v, %v; want 2 vectors without usage", name, len(vectors), usage, err)
		}
		if _, _, err := set.Embedder("acme", "e5"); !errors.Is(err, abi.Unavailable) {
			t.Errorf("%s: Embedder(e5) = %v; want unavailable", name, err)
		}
	}
}

func FuzzReadConfig(f *testing.F) {
	f.Add([]byte(fullConfig))
	f.Add([]byte("chat: &a\n  m: *a\n"))
	f.Add([]byte("chat: {m: {base_url: http://h, model: x, tokens_per_day: {user: 1}}}"))
	f.Fuzz(func(t *testing.T, content []byte) {
		config, err := model.ReadConfig("f", content)
		if (config == nil) == (err == nil) {
			t.Fatalf("ReadConfig() = %v, %v; want either a configuration or an error", config, err)
		}
		mistakes, _ := errors.AsType[model.Mistakes](err)
		for _, m := range mistakes {
			if m.Line < 1 || m.Column < 1 || m.Message == "" {
				t.Errorf("ReadConfig() reports %+v; want a position and a message", m)
			}
		}
	})
}

func ExampleReadConfig() {
	server := modeltest.Start() // this server replaces a real provider
	defer server.Close()
	config, err := model.ReadConfig("models.yaml", []byte("chat:\n  local: {base_url: "+server.URL()+", model: small, tenants: [acme]}\n"))
	if err != nil {
		panic(err)
	}
	factories := map[string]model.Factory{"openai": openai.Factory()}
	set, err := model.NewSet(config, factories, func(string) string { return "" })
	if err != nil {
		panic(err)
	}
	_, entry, err := set.Chat("acme", "local")
	fmt.Println(entry.Model, err)
	_, _, err = set.Chat("globex", "local")
	fmt.Println(err)
	// Output:
	// small <nil>
	// unavailable: no model has the name "local"
}
