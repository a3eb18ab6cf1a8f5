package model

import (
	"sync"
	"time"

	"github.com/toolrun/toolrun/abi"
)

// A Consumer is the caller of a request. The tokens of the request are counted for the Consumer.
// User is "" if the user is unknown.
type Consumer struct{ Tenant, App, User string }

// maxUsers limits how many users have separate counts. The limit applies to one day. If more than
// maxUsers users use tokens, all further users of an app share one count.
const maxUsers = 100_000

// spending counts the tokens that were used on the current UTC day. spending is safe for concurrent
// use. The counts are lost when the process ends.
type spending struct {
	mu    sync.Mutex
	day   int64
	used  map[account]int64
	users int
	// These fields contain the totals of chat models and of embedders since the start of the
	// process.
	chats, embeddings Totals
}

// Totals describes the use of all models in a section since the start of the process.
type Totals struct {
	// Calls is the number of requests to the models.
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

// Totals returns the total use of the models in a section. It includes all callers.
func (s *Set) Totals(section Section) Totals {
	s.spent.mu.Lock()
	defer s.spent.mu.Unlock()
	return *s.spent.totals(section)
}

// An account counts the use of a model. An account belongs to a tenant, an app or a user.
type account struct {
	section Section
	model   string
	Consumer
	level string
}

// accounts returns the accounts of a consumer and the budget of each account.
func (b Budget) accounts(s Section, model string, c Consumer) (all [3]account, budgets [3]int64, names [3]string) {
	all = [3]account{
		{s, model, Consumer{Tenant: c.Tenant}, "tenant"}, {s, model, Consumer{Tenant: c.Tenant, App: c.App}, "app"}, {s, model, c, "user"},
	}
	return all, [3]int64{b.Tenant, b.App, b.User}, [3]string{"the tenant", "the app", "the user"}
}

// CheckBudget checks the budgets of the tenant, the app and the user for a model in a section. If
// one of them is exhausted for the day, CheckBudget returns the fault quota_exceeded. Tokens of
// requests that are in progress are not counted yet.
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

// Count counts the tokens of one request. The request was sent to a model in a section.
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

// The method turn deletes the counts of the previous day if a new day has begun.
func (s *spending) turn(now time.Time) {
	if day := now.UTC().Unix() / int64(24*60*60); s.used == nil || day != s.day {
		s.day, s.used, s.users = day, map[account]int64{}, 0
	}
}

// shared returns the account that counts the use of a consumer's account. If maxUsers is reached,
// the method returns the account that all further users of an app share.
func (s *spending) shared(a account) account {
	if _, known := s.used[a]; known || a.level != "user" || s.users < maxUsers {
		return a
	}
	a.User = ""
	return a
}
