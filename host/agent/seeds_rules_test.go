package agent_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/abl"
	"github.com/toolrun/toolrun/host/agent/agenttest"
)

// ruleCases contains the code blocks about facts, triggers and recalls from the documentation page
// about memory and state.
var ruleCases = []seedCase{
	{6, "001-6 persistent variables", func(block string) string {
		return block + `FLOW:
  show:
    REASONING: false
    RESPOND: "{{user.notification_preference}} {{user.preferred_language}}"
    SET:
      - user.preferred_language = input
      - user.booking_history = input
    THEN: COMPLETE
`
	}, nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		o := say(t, e, set, "de")
		wantMessages(t, o, "email ")
		if len(o.Warnings) != 1 {
			t.Errorf("warnings = %q; want one about the type of user.booking_history", o.Warnings)
		}
		if _, ok := e.Stored("user.notification_preference"); ok {
			t.Error("a default is stored")
		}
		e.SessionID = "s2"
		wantMessages(t, say(t, e, set, "fr"), "email de")
		e.User, e.SessionID = "bob", "s3"
		wantMessages(t, say(t, e, set, "it"), "email ")
	}},
	{7, "001-7 scopes", agentWith("", "FLOW:\n  show:\n    REASONING: false\n    RESPOND: \"{{user.wire_history_30d.length}} {{project.exchange_rates}}\"\n    THEN: COMPLETE\n"), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		e.SetStored("user.wire_history_30d", []any{1.0, 2.0}, 0, "")
		e.SetStored("project.exchange_rates", 1.5, 0, "")
		wantMessages(t, say(t, e, set, "hello"), "2 1.5")
		e.User, e.SessionID = "bob", "s2"
		wantMessages(t, say(t, e, set, "hello"), "0 1.5")
	}},
	{8, "001-8 access", agentWith("", `FLOW:
  use:
    REASONING: false
    SET:
      - user.preferences = input
      - user.interaction_log = input
    RESPOND: "{{user.preferences}} {{user.account_status}}"
    THEN: COMPLETE
`), nil, checkAccess},
	{10, "001-10 triggers", func(block string) string {
		return block + `FLOW:
  ask:
    REASONING: false
    GATHER:
      - user_name: required
    CALL: language(user_name)
      AS: preferred_language
    THEN: COMPLETE
`
	}, []string{"language"}, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		say(t, e, set, "hello")
		say(t, e, set, "Ann")
		if name, _ := e.Stored("user.name"); name != "Ann" || !e.Expires("user.name").Equal(e.Clock.Add(90*24*time.Hour)) {
			t.Errorf("user.name = %v until %v", name, e.Expires("user.name"))
		}
		if language, _ := e.Stored("user.language"); !reflect.DeepEqual(language, map[string]any{"user_name": "Ann"}) || !e.Expires("user.language").IsZero() {
			t.Errorf("user.language = %v until %v; want the result of the tool", language, e.Expires("user.language"))
		}
		e.SessionID = "s2"
		if name, _ := e.Stored("user.name"); name != "Ann" {
			t.Errorf("user.name = %v in another session", name)
		}
		e.Clock = e.Clock.Add(90 * 24 * time.Hour)
		if _, ok := e.Stored("user.name"); ok {
			t.Error("user.name outlives its TTL")
		}
	}},
	{11, "001-11 computed value", agentWith("", `FLOW:
  act:
    REASONING: false
    SET:
      - selected_booking = input
      - action_type = "cancel"
      - action_completed = input != "b0"
    THEN: COMPLETE
`), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		say(t, e, set, "b0")
		if got, ok := e.Stored("user.booking_history"); ok {
			t.Errorf("user.booking_history = %v although the condition is false", got)
		}
		say(t, e, set, "b1")
		want := map[string]any{"booking_id": "b1", "action": "cancel", "date": "2026-11-23T10:00:00.000Z"}
		if got, _ := e.Stored("user.booking_history"); !reflect.DeepEqual(got, want) {
			t.Errorf("user.booking_history = %v; want %v", got, want)
		}
	}},
	{12, "001-12 recalls at the start", agentWith("", ""), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		e.SetStored("user.language", "de", 0, "")
		o := begin(t, e, set)
		if want := map[string]any{"user.name": nil, "user.language": "de", "user.preferred_agent": nil}; !reflect.DeepEqual(o.Injected, want) {
			t.Errorf("injected = %v; want %v", o.Injected, want)
		}
		if !slices.Equal(o.Instructions, []string{"Greet the user by name if known"}) {
			t.Errorf("instructions = %q", o.Instructions)
		}
		if o = begin(t, e, set); len(o.Injected)+len(o.Instructions) > 0 {
			t.Errorf("the second turn injects %v and %q", o.Injected, o.Instructions)
		}
	}},
	{13, "001-13 recall before a search", agentWith("", "FLOW:\n  show:\n    REASONING: false\n    RESPOND: \"{{user.travel_preferences.seat}}\"\n    THEN: COMPLETE\n"), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		e.SetStored("user.travel_preferences.seat", "aisle", 0, "")
		e.SetStored("user.meal", "vegan", 0, "travel_preferences")
		e.SetStored("user.home.city", "Bern", 0, "")
		wantMessages(t, say(t, e, set, "hello"), "")
		o, err := e.Turn(context.Background(), set, agent.Request{Event: "search:before"})
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]any{"user.travel_preferences.seat": "aisle", "user.meal": "vegan"}; !reflect.DeepEqual(o.Injected, want) {
			t.Errorf("injected = %v; want %v", o.Injected, want)
		}
		wantMessages(t, say(t, e, set, "hello"), "aisle")
	}},
	{14, "001-14 instruction", agentWith("", ""), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		want := "Check if you have the user's name and preferences from previous\nconversations. If so, greet them personally and reference their\npast interactions. If not, introduce yourself and start fresh."
		if o := begin(t, e, set); !slices.Equal(o.Instructions, []string{want}) {
			t.Errorf("instructions = %q; want %q", o.Instructions, want)
		}
	}},
	{15, "001-15 remember and recall", agentWith("", `FLOW:
  prefer:
    REASONING: false
    SET: user_preference = input
    CALL: list_user_bookings()
    RESPOND: "{{user.preferences}}"
    THEN: choose
  choose:
    REASONING: false
    ON_INPUT:
      - ELSE:
        SET:
          - selected_booking = input
          - action_type = "change"
          - action_completed = true
        THEN: COMPLETE
`), []string{"list_user_bookings"}, checkRememberRecall},
}

// checkAccess checks how each value of ACCESS affects reads in messages and recalls, and writes by
// SET and triggers.
func checkAccess(t *testing.T, e *agenttest.Env, set *agent.Set) {
	e.SetStored("user.account_status", "gold", 0, "")
	wantMessages(t, say(t, e, set, "a"), "a gold")
	if log, _ := e.Stored("user.interaction_log"); log != "a" {
		t.Errorf("user.interaction_log = %v", log)
	}
	block := seedBlocks(t, "001_abl_memory_and_state.txt")[7]
	for _, tt := range []struct {
		use     string
		allowed []string
	}{
		{"ON_START:\n  SET: x = PATH\n", []string{"user.preferences", "user.account_status"}},
		{"ON_START:\n  RESPOND: \"{{PATH}}\"\n", []string{"user.preferences", "user.account_status"}},
		{"  recall:\n    - ON: session:start\n      ACTION: inject_context\n      PATHS: [PATH]\n", []string{"user.preferences", "user.account_status"}},
		{"ON_START:\n  SET: PATH = 1\n", []string{"user.preferences", "user.interaction_log"}},
		{"ON_START:\n  CLEAR: [PATH]\n", []string{"user.preferences", "user.interaction_log"}},
		{"  remember:\n    - WHEN: x IS SET\n      STORE: x -> PATH\n", []string{"user.preferences", "user.interaction_log"}},
	} {
		for _, path := range []string{"user.preferences", "user.account_status", "user.interaction_log"} {
			source := "AGENT: Sample\n" + block + replacePath(tt.use, path)
			_, problems := abl.Parse("a.abl", []byte(source))
			if allowed := slices.Contains(tt.allowed, path); allowed != (problems.Err() == nil) {
				t.Errorf("%s\nallowed = %v; problems: %v", source, allowed, problems)
			}
		}
	}
}

func checkRememberRecall(t *testing.T, e *agenttest.Env, set *agent.Set) {
	o := say(t, e, set, "window")
	wantMessages(t, o, "") // the trigger stores the fact after the turn
	if want := map[string]any{"user.booking_history": nil, "user.preferences": nil}; !reflect.DeepEqual(o.Injected, want) {
		t.Errorf("injected = %v; want %v", o.Injected, want)
	}
	if preferences, _ := e.Stored("user.preferences"); preferences != "window" {
		t.Errorf("user.preferences = %v", preferences)
	}
	say(t, e, set, "b7")
	want := map[string]any{"booking_id": "b7", "action": "change", "date": "2026-11-23T10:00:00.000Z"}
	if history, _ := e.Stored("user.booking_history"); !reflect.DeepEqual(history, want) {
		t.Errorf("user.booking_history = %v; want %v", history, want)
	}
	e.SessionID = "s2"
	o = say(t, e, set, "aisle")
	if got := map[string]any{"user.booking_history": want, "user.preferences": "window"}; !reflect.DeepEqual(o.Injected, got) {
		t.Errorf("injected in the second session = %v; want %v", o.Injected, got)
	}
	wantMessages(t, o, "window")
	recalled := 0
	for _, entry := range o.Trace {
		if entry.Kind == "recall" && entry.Name == "user.preferences" {
			recalled++
		}
	}
	if recalled != 2 {
		t.Errorf("user.preferences was recalled %d times; want 2, at the start and after the tool", recalled)
	}
}

func replacePath(text, path string) string {
	for i := 0; i+4 <= len(text); i++ {
		if text[i:i+4] == "PATH" && (i+4 == len(text) || text[i+4] != 'S') {
			return text[:i] + path + text[i+4:]
		}
	}
	return text
}
