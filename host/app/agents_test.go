package app_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
)

const bookingAgent = `AGENT: Booking
GOAL: "Book hotels"
MEMORY:
  session:
    - nights
  persistent:
    - user.language
      TYPE: string
      DEFAULT: "en"
    - project.rates
    - user.flag
      SCOPE: project
  remember:
    - WHEN: nights IS SET
      STORE: nights -> user.last_stay
    - WHEN: nights IS SET
      STORE: nights -> user.language.detail
FLOW:
  ask:
    REASONING: false
    CALL: search(nights)
    RESPOND: "Hello"
    THEN: COMPLETE
`

// agentApp loads an app. The app consists of the given files and a tool named "search".
func agentApp(yaml string, more map[string]string) (*app.App, problem.List) {
	files := fstest.MapFS{
		"app.yaml":  {Data: []byte("app: shop\ntools: {search: {source: search.js, description: Search, grants: {user.last_stay: read}}}\n" + yaml)},
		"search.js": {Data: []byte("return 1;")},
	}
	for name, content := range more {
		files[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return app.Load(files, "app.yaml")
}

func TestAgents(t *testing.T) {
	a, problems := agentApp("", map[string]string{"agents/booking.abl": bookingAgent, "other.abl": "AGENT: Other\nGOAL: \"x\"\n", "deep/down/no.abl": "AGENT: No\n"})
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	if want := []string{"agents/booking.abl", "other.abl"}; !slices.Equal(a.AgentFiles, want) || len(a.Agents) != 2 || a.Agents[0].Agent.Value != "Booking" {
		t.Fatalf("the agents are in %q; want %q", a.AgentFiles, want)
	}
	facts := map[string]declare.Fact{}
	for _, f := range a.Facts {
		facts[f.Path] = f
	}
	language, flag := facts["user.language"], facts["user.flag"]
	if len(facts) != 4 || language.Type != declare.FactString || language.Default != nil || language.Scope != "" ||
		flag.Scope != declare.ScopeApplication || facts["user.last_stay"].Path == "" || facts["project.rates"].Scope != "" {
		t.Errorf("the facts are %+v; want the facts of the agent without their defaults, and the target of its trigger", a.Facts)
	}
	var names []string
	for _, st := range a.AllStores() {
		names = append(names, st.Name)
	}
	if !slices.Equal(names, []string{declare.Facts, declare.Agents}) {
		t.Errorf("the stores are %q", names)
	}
}

// If the app file has a section "agents", Load does not search for other agent files.
func TestListedAgents(t *testing.T) {
	files := map[string]string{"agents/booking.abl": bookingAgent, "x/other.abl": "AGENT: Other\nGOAL: \"x\"\n"}
	for section, want := range map[string][]string{
		"agents: [x/other.abl, agents/booking.abl]": {"agents/booking.abl", "x/other.abl"}, "agents: [agents/booking.abl]": {"agents/booking.abl"}, "": {"agents/booking.abl"},
	} {
		if a, problems := agentApp(section, files); problems.Err() != nil || !slices.Equal(a.AgentFiles, want) || len(a.Agents) != len(want) {
			t.Errorf("%q: the agents are in %q, %v; want %q", section, a.AgentFiles, problems, want)
		}
	}
	a, problems := agentApp("agents: []\nfacts: {user.last_stay: {}}", files)
	if problems.Err() != nil || len(a.Agents) != 0 || len(a.AllStores()) != 1 {
		t.Errorf("an empty list = %q, %v; want no agents", a.AgentFiles, problems)
	}
}

// If an agent file has an error, the agents of the app cannot be used. The rest of the app can
// still be used.
func TestAgentProblems(t *testing.T) {
	stay := "facts: {user.last_stay: {}"
	for _, tt := range []struct{ yaml, abl, want string }{
		{"", strings.Replace(bookingAgent, "CALL: search", "CALL: serch", 1), "agents/booking.abl:21:11: the tool serch"},
		{"", strings.Replace(bookingAgent, "nights IS SET", "nights IS SET AND (", 1), "agents/booking.abl:14:32:"},
		{stay + ", user.language: {scope: project}}", bookingAgent, "agents/booking.abl:7:7: the fact user.language has the scope user here, but the scope project in app.yaml"},
		{"agents: [agents/none.abl]\n" + stay + "}", bookingAgent, "agents/none.abl"},
		{"", strings.Replace(bookingAgent, "project.rates", "project.räte", 1), "is not a path of a fact"},
		{"", strings.Replace(bookingAgent, "THEN: COMPLETE", "THEN: HANDOFF Nowhere", 1), "Nowhere"},
	} {
		a, problems := agentApp(tt.yaml, map[string]string{"agents/booking.abl": tt.abl})
		if a == nil || len(a.BrokenAgents) == 0 || a.BrokenAgents[0].Agent == "" {
			t.Errorf("%q: the app is %v with the problems %v; want an app whose agents are broken", tt.want, a != nil, problems)
			continue
		}
		if !strings.Contains(a.BrokenAgents.Error(), tt.want) {
			t.Errorf("the problems are %v; want %q", a.BrokenAgents, tt.want)
		}
		if _, err := app.Export(a); err == nil {
			t.Errorf("%q: Export accepted broken agents; want an error", tt.want)
		}
	}
	for yaml, want := range map[string]string{
		stay + ", user.language: {type: number}}":                  "has the type string here, but the type number in app.yaml",
		stay + ", user.language: {type: string, default: \"de\"}}": "another default in app.yaml",
	} {
		a, problems := agentApp(yaml, map[string]string{"agents/booking.abl": bookingAgent})
		if a == nil || len(a.BrokenAgents) > 0 || !strings.Contains(problems.Warnings().Error(), want) {
			t.Errorf("%q: the problems are %v; want a warning", want, problems)
		}
	}
	if a, problems := agentApp("agents: x.abl", nil); a != nil || problems.Err() == nil {
		t.Errorf("a section agents of another type = %v", problems)
	}
}

// An exported app contains the names of its agent files. It also contains the facts of its agents.
func TestExportAgents(t *testing.T) {
	a, problems := agentApp("", map[string]string{"agents/booking.abl": bookingAgent})
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	text, err := app.Export(a)
	if err != nil {
		t.Fatal(err)
	}
	imported, problems := app.Import("export.json", text)
	if problems.Err() != nil || !slices.Equal(imported.AgentFiles, a.AgentFiles) || len(imported.Facts) != len(a.Facts) || len(imported.Agents) != 0 {
		t.Fatalf("Import = %+v, %v", imported, problems)
	}
	if again, err := app.Export(imported); err != nil || !bytes.Equal(again, text) {
		t.Errorf("the second export is %s, %v; want the same bytes as the first export", again, err)
	}
	files := fstest.MapFS{"app.yaml": {Data: text}, "search.js": {Data: []byte("return 1;")}, "agents/booking.abl": {Data: []byte(bookingAgent)}}
	if loaded, problems := app.Load(files, "app.yaml"); problems.Err() != nil || len(loaded.Agents) != 1 || len(loaded.Facts) != len(a.Facts) {
		t.Errorf("Load of the export = %+v, %v; want the same facts", loaded, problems)
	}
}
