package agent_test

import (
	"context"
	"testing"

	"github.com/toolrun/toolrun/host/agent"
	"github.com/toolrun/toolrun/host/agent/agenttest"
	"github.com/toolrun/toolrun/host/report"
)

// begin performs a turn without a message.
func begin(t *testing.T, e *agenttest.Env, set *agent.Set) *report.Outcome {
	t.Helper()
	o, err := e.Turn(context.Background(), set, agent.Request{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const hotelList = `[{name: "Astoria", price: 90, rating: 4}, {name: "Ritz", price: 400, rating: 5}, {name: "Budget Inn", price: 40, rating: 2}]`

// flowCases contains the code blocks about flows from the documentation page about memory and
// state.
var flowCases = []seedCase{
	{1, "001-1 typed declarations", func(block string) string {
		return block + "FLOW:\n  set:\n    REASONING: false\n    SET: quoted_fee = input\n    THEN: COMPLETE\n"
	}, nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		o := say(t, e, set, "many")
		wantVariables(t, o, map[string]any{"selected_booking": nil, "action_type": nil, "pending_changes": nil, "quoted_fee": "many"})
		if len(o.Warnings) != 1 {
			t.Errorf("warnings = %q; want one about the type", o.Warnings)
		}
	}},
	{2, "001-2 bare names", agentWith("", ""), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		wantVariables(t, begin(t, e, set), map[string]any{"customer_id": nil, "order_total": nil})
	}},
	{3, "001-3 initial values and resets", agentWith("", `FLOW:
  one:
    REASONING: false
    SET:
      - cart_items = [attempt_count]
      - attempt_count = attempt_count + 1
    RESPOND: "{{attempt_count}} {{cart_items.length}}"
    THEN: two
  two:
    REASONING: false
    RESPOND: "{{attempt_count}} {{cart_items.length}}"
    THEN: COMPLETE
`), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		wantMessages(t, begin(t, e, set), "1 1", "0 1")
		e.SessionID = "s2"
		o, err := e.Turn(context.Background(), set, agent.Request{Event: "search:before"})
		if err != nil {
			t.Fatal(err)
		}
		wantVariables(t, o, map[string]any{"cart_items": []any{}, "attempt_count": 0.0})
	}},
	{4, "001-4 message", agentWith(starting(`selected_hotel = {name: "Astoria"}`, "quoted_fee = 90"), ""), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		o := begin(t, e, set)
		wantMessages(t, o, "Booking summary:\nHotel: Astoria\nGuest: \nTotal: $90")
		if !o.Done {
			t.Error("the flow is not complete")
		}
	}},
	{5, "001-5 check", agentWith("MEMORY:\n  session:\n    - attempt_count\nON_START:\n  SET: attempt_count = 0\n", end("process_request")+`  too_many_attempts:
    REASONING: false
    RESPOND: "too many"
    THEN: COMPLETE
HOOKS:
  after_turn:
    SET: attempt_count = 3
`), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		wantMessages(t, begin(t, e, set), "process_request")
		wantMessages(t, begin(t, e, set), "too many")
	}},
	{9, "001-9 persistent values in expressions", inStep("MEMORY:\n  persistent:\n    - user.name\n    - user.loyalty_tier\n", ""), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		wantMessages(t, begin(t, e, set), "Welcome back, valued customer! Your tier is .")
		e.SetStored("user.name", "Ann", 0, "")
		e.SetStored("user.loyalty_tier", "gold", 0, "")
		wantMessages(t, begin(t, e, set), "Welcome back, Ann! Your tier is gold.")
	}},
	{16, "001-16 sequential SET", agentWith(starting("nights = 3", "price_per_night = 100"), end("confirm_booking")), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		o := begin(t, e, set)
		wantMessages(t, o, "Your total is $336 (including $36 tax).", "confirm_booking")
		wantVariables(t, o, map[string]any{"total_price": 300.0, "tax_amount": 36.0, "final_total": 336.0})
	}},
	{17, "001-17 tool result", agentWith(starting(`destination = "Rome"`, "num_guests = 2"), end("select_hotel")), []string{"search_hotels"}, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		e.Tools["search_hotels"] = func(context.Context, *agenttest.Env, map[string]any) (any, error) {
			return map[string]any{"hotels": []any{map[string]any{"price": 80}, map[string]any{"price": 120}}}, nil
		}
		o := begin(t, e, set)
		wantMessages(t, o, "Found 2 hotels. Prices start at $80.", "select_hotel")
		wantVariables(t, o, map[string]any{"hotel_count": 2.0, "cheapest_price": 80.0})
		if in := e.Calls[0].Input; len(in) != 2 || in["destination"] != "Rome" || in["num_guests"] != 2.0 {
			t.Errorf("input = %v", in)
		}
	}},
	{18, "001-18 nested objects", inStep(starting(`guest_name = "Ann"`, `checkin_date = "2026-12-24"`, "final_total = 336", `booking = {id: 7}`), ""), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		wantVariables(t, begin(t, e, set), map[string]any{"booking": map[string]any{"id": 7.0, "guest_name": "Ann", "check_in": "2026-12-24", "total": 336.0}})
	}},
	{19, "001-19 branches of input", agentWith(starting("hotels = "+hotelList), end("collect_guest_info")), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		if o := begin(t, e, set); deref(o.Step) != "select_hotel" || len(o.Messages) != 0 {
			t.Errorf("the step does not wait: %q", o.Messages)
		}
		for _, input := range []string{"9", "x", "0"} {
			wantMessages(t, say(t, e, set, input), "Please enter a valid hotel number.")
		}
		o := say(t, e, set, "2")
		wantMessages(t, o, "collect_guest_info")
		wantVariables(t, o, map[string]any{"selected_hotel": map[string]any{"name": "Ritz", "price": 400.0, "rating": 5.0}, "need_price_quote": true})
	}},
	{20, "001-20 clear", agentWith(starting(`destination = "Rome"`, `search_results = [1]`, `guest = "Ann"`), `  collect_trip_info:
    REASONING: false
    RESPOND: "[{{destination}}{{search_results}}]"
    THEN: COMPLETE
`), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		o := begin(t, e, set)
		wantMessages(t, o, "Let's start fresh. Where would you like to go?", "[]")
		if _, ok := o.Variables["destination"]; ok || o.Variables["guest"] != "Ann" {
			t.Errorf("variables = %v", o.Variables)
		}
	}},
	{21, "001-21 sub-intents", agentWith("", end("search_hotels")), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		converse(t, e, set,
			turn{say: "-", want: []string{"Please enter the destination."}, step: "collect_trip_info", field: "destination"},
			turn{say: "Rome", want: []string{"Please enter the checkin date."}, step: "collect_trip_info", field: "checkin_date"},
			turn{say: "2026-12-24", want: []string{"Please enter the checkout date."}, step: "collect_trip_info", field: "checkout_date"},
			turn{say: "I'd like to change the destination", want: []string{"What's the new destination?"}, step: "collect_trip_info", field: "destination"},
			turn{say: "Bern", want: []string{"Please enter the checkout date."}, step: "collect_trip_info", field: "checkout_date"},
			turn{say: "change dates", want: []string{"What are your new travel dates?"}, step: "collect_trip_info", field: "checkin_date"},
			turn{say: "2026-12-25", want: []string{"Please enter the checkout date."}, step: "collect_trip_info", field: "checkout_date"})
		o := converse(t, e, set, turn{say: "2026-12-27", want: []string{"search_hotels"}, done: true})
		wantVariables(t, o, map[string]any{"destination": "Bern", "checkin_date": "2026-12-25", "checkout_date": "2026-12-27"})
	}},
	{22, "001-22 transform", agentWith(starting("search_results = "+hotelList, "budget = 100"), end("select_hotel")), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		o := begin(t, e, set)
		wantMessages(t, o, "Here are 2 hotels within your budget:\n1. Budget Inn - $40/night (2 stars)\n2. Astoria - $90/night (4 stars)", "select_hotel")
		if n := len(o.Variables["search_results"].([]any)); n != 3 {
			t.Errorf("the source has %d items", n)
		}
	}},
	{23, "001-23 filter only", inStep(starting(`all_bookings = [{id: 1, status: "active"}, {id: 2, status: "done"}]`), ""), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		wantVariables(t, begin(t, e, set), map[string]any{"active_bookings": []any{map[string]any{"id": 1.0, "status": "active"}}})
	}},
	{24, "001-24 map only", inStep(starting(`raw_results = [{name: "a", description: "b", url: "c", other: 1}, {name: "d"}]`), ""), nil, func(t *testing.T, e *agenttest.Env, set *agent.Set) {
		wantVariables(t, begin(t, e, set), map[string]any{"formatted_results": []any{
			map[string]any{"title": "a", "summary": "b", "link": "c"}, map[string]any{"title": "d", "summary": nil, "link": nil}}})
	}},
}

// TestMemoryAndState executes the code blocks of the documentation page about memory and state.
func TestMemoryAndState(t *testing.T) {
	runSeedCases(t, "001_abl_memory_and_state.txt", flowCases, ruleCases)
}
