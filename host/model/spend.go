package model

import (
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// Consumer is the caller for which a request is counted. User is "" if the user is unknown.
type Consumer struct{ Tenant, App, User string }

// maxUsers is the maximum number of users whose tokens are counted separately in a day. All further
// users share one budget.
const maxUsers = 100_000

// spending counts the tokens that were used on the current UTC day. spending is safe for concurrent
// use. The counts are lost when the process ends.
type spending struct {
	mu    sync.Mutex
	day   int64
	used  map[account]int64
	users int
	// chats and embeddings are the totals since the start of the process.
	chats, embeddings Totals
}

// Totals is the use of the models of a section since the start of the process.
type Totals struct {
	// Calls is the number of requests.
	Calls                     int64
	InputTokens, OutputTokens int64
}

func (t *Totals) add(used Usage) {
	t.Calls++
	t.InputTokens += int64(used.InputTokens)
	t.OutputTokens += int64(used.OutputTokens)
}

func (s *spending) totals(section Section) *Totals {
	if section == Embeddings {
		return &s.embeddings
	}
	return &s.chats
}

// Totals returns the use of the models of a section by all callers.
func (s *Set) Totals(section Section) Totals {
	s.spent.mu.Lock()
	defer s.spent.mu.Unlock()
	return *s.spent.totals(section)
}

// account identifies a tenant, an app or a user whose use of a model is counted.
type account struct {
	section Section
	model   string
	Consumer
	level string
}

// accounts returns the accounts of a consumer, with their budgets.
func (b Budget) accounts(s Section, model string, c Consumer) (all [3]account, budgets [3]int64, names [3]string) {
	all = [3]account{
		{s, model, Consumer{Tenant: c.Tenant}, "tenant"}, {s, model, Consumer{Tenant: c.Tenant, App: c.App}, "app"}, {s, model, c, "user"},
	}
	return all, [3]int64{b.Tenant, b.App, b.User}, [3]string{"the tenant", "the app", "the user"}
}

// CheckBudget returns the fault quota_exceeded if the tenant, the app or the user has used the
// tokens of the day for a model in a section. The tokens of requests in flight are not counted yet.
func (s *Set) CheckBudget(section Section, name string, c Consumer, now time.Time) error {
	s.spent.mu.Lock()
	defer s.spent.mu.Unlock()
	s.spent.turn(now)
	all, budgets, names := s.config.section(section)[name].TokensPerDay.accounts(section, name, c)
	for i, a := range all {
		if a.level == "user" && c.User == "" {
			continue
		}
		if budget := budgets[i]; budget > 0 && s.spent.used[s.spent.shared(a)] >= budget {
			return abi.Faultf(abi.QuotaExceeded, "%s has used all of its %d tokens per day for the model %s", names[i], budget, name).
				WithHint("retry after midnight UTC, or ask the operator for a higher tokens_per_day")
		}
	}
	return nil
}

// Count counts the tokens of a request to a model in a section.
func (s *Set) Count(section Section, name string, c Consumer, used Usage, now time.Time) {
	s.spent.mu.Lock()
	defer s.spent.mu.Unlock()
	s.spent.turn(now)
	s.spent.totals(section).add(used)
	all, _, _ := Budget{}.accounts(section, name, c)
	for _, a := range all {
		if a.level == "user" && c.User == "" {
			continue
		}
		a = s.spent.shared(a)
		if _, known := s.spent.used[a]; !known && a.level == "user" {
			s.spent.users++
		}
		s.spent.used[a] += int64(used.InputTokens) + int64(used.OutputTokens)
	}
}

// turn deletes the counts of an earlier day.
func (s *spending) turn(now time.Time) {
	if day := now.UTC().Unix() / int64(24*60*60); s.used == nil || day != s.day {
		s.day, s.used, s.users = day, map[account]int64{}, 0
	}
}

// shared returns the account that counts the use of the account a. If too many users are counted,
// shared returns the account that all further users of an app share.
func (s *spending) shared(a account) account {
	if _, known := s.used[a]; known || a.level != "user" || s.users < maxUsers {
		return a
	}
	a.User = ""
	return a
}
