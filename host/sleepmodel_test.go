package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/storage/mem"
	"github.com/toolrun/toolrun/host/storage/storagetest"
)

// collector is the tool that the type "sequence" uses. The tool reads a transcript and adds its
// messages to a store of the user.
const collector = `
	const seen = (await memory.get_content("runs"))?.seen ?? [];
	await memory.set_content("runs", {seen: [...seen, ...input.transcript.map(m => m.content)]});
	return [{block: "archival", scope: "user", content: "- " + seen.length}];
`

// sequence is a random sequence of conversations, runs and backend failures.
type sequence struct {
	*sleeper
	faulty *storagetest.Faulty
	random *rand.Rand
	// For each user, the fields "acked" and "unsure" contain the texts of messages. The messages in
	// "acked" were acknowledged. It is not known whether the messages in "unsure" were stored.
	acked, unsure map[string][]string
	ended         map[string]int
	count         int
	// mu guards interrupt, a function that is called once during a run, before an update of the
	// backend.
	mu        sync.Mutex
	interrupt func()
}

// Whatever fails, each acknowledged message must be processed exactly once, and every other message
// at most once.
func TestSleepSequences(t *testing.T) {
	processed := 0
	for seed := range uint64(30) {
		processed += testSleepSequence(t, seed)
	}
	if processed < 150 {
		t.Errorf("only %d messages were processed", processed)
	}
}

func testSleepSequence(t *testing.T, seed uint64) (processed int) {
	t.Helper()
	faulty := storagetest.NewFaulty(mem.New())
	q := &sequence{
		faulty: faulty, random: rand.New(rand.NewPCG(seed, 1)),
		acked: map[string][]string{}, unsure: map[string][]string{}, ended: map[string]int{},
	}
	faulty.Before = q.before
	q.sleeper = openSleeper(t, sleepFiles("tool: dream", collector), func(o *host.Options) { o.Backend, o.Ledger = faulty, 0 })
	for range 40 {
		q.step()
	}
	faulty.Revive()
	for range 20 {
		q.clock.advance(time.Hour)
		q.runDue()
	}
	for _, user := range []string{"ann", "bob"} {
		processed += q.check(user, seed)
	}
	return processed
}

// step performs a random step. In some steps, the backend fails at one of its next updates.
func (q *sequence) step() {
	if q.random.IntN(3) == 0 {
		failures := []storagetest.Failure{storagetest.NotApplied, storagetest.LostReply, storagetest.Unknown}
		q.faulty.Fail(storagetest.OpUpdate, 1+q.random.IntN(4), failures[q.random.IntN(len(failures))])
	}
	user := []string{"ann", "bob"}[q.random.IntN(2)]
	session := fmt.Sprintf("%s-%d-%d", user, q.random.IntN(2), q.ended[user])
	c := host.Caller{User: user, Session: session}
	switch q.random.IntN(6) {
	case 0, 1, 2:
		q.converse(c)
	case 3:
		q.clock.advance(time.Duration(q.random.IntN(120)) * time.Second)
	default:
		q.clock.advance(declare.DefaultSleepAfter / 2)
		if q.random.IntN(2) == 0 {
			q.interruptAfter(q.random.IntN(4), func() { q.converse(c) })
		}
		_, _ = q.Sleep().RunDue(context.Background()) // it may fail
		q.interruptAfter(0, nil)
	}
}

// converse adds a message to a session, or ends the session.
func (q *sequence) converse(c host.Caller) {
	if q.random.IntN(3) > 0 {
		q.add(c)
		return
	}
	if _, err := q.Sessions().End(context.Background(), c); err == nil {
		q.ended[c.User]++
	}
}

// interruptAfter makes the backend call the function "do" before an update, after n further
// updates.
func (q *sequence) interruptAfter(n int, do func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.interrupt = do; n > 0 && do != nil {
		q.interrupt = func() { q.interruptAfter(n-1, do) }
	}
}

// The function "before" is called before each operation of the backend.
func (q *sequence) before(op string) {
	if op != storagetest.OpUpdate {
		return
	}
	q.mu.Lock()
	do := q.interrupt
	q.interrupt = nil
	q.mu.Unlock()
	if do != nil {
		do()
	}
}

// add adds a message to a session. The text of the message is unique.
func (q *sequence) add(c host.Caller) {
	q.count++
	text := fmt.Sprint("message ", q.count)
	if _, err := q.Sessions().AddMessages(context.Background(), c, []host.Message{{Role: "user", Content: text}}); err != nil {
		q.unsure[c.User] = append(q.unsure[c.User], text)
		return
	}
	q.acked[c.User] = append(q.acked[c.User], text)
}

// check compares the messages that were added for a user with the messages that were processed.
func (q *sequence) check(user string, seed uint64) int {
	q.t.Helper()
	var stored struct{ Seen []string }
	if text := content(q.t, q.Host, host.Caller{User: user}, abi.GetContent, "runs"); text != "null" {
		if err := json.Unmarshal([]byte(text), &stored); err != nil {
			q.t.Fatal(err)
		}
	}
	times := map[string]int{}
	for _, text := range stored.Seen {
		times[text]++
	}
	for _, text := range q.acked[user] {
		if times[text] != 1 {
			q.t.Errorf("seed %d: %s of %s was processed %d times; want once", seed, text, user, times[text])
		}
		delete(times, text)
	}
	for _, text := range q.unsure[user] {
		if times[text] > 1 {
			q.t.Errorf("seed %d: the unsure %s of %s was processed %d times", seed, text, user, times[text])
		}
		delete(times, text)
	}
	for text := range times {
		q.t.Errorf("seed %d: %s was processed, but %s did not add it", seed, text, user)
	}
	return len(stored.Seen)
}
