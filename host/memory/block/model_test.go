package block_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/memory/block"
	"github.com/toolrun/toolrun/host/partition"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/host/storage/mem"
)

// model is a reference implementation of blocks. model is a map from an owner and a name to a text.
type model struct {
	rand   *rand.Rand
	stored map[string]modelBlock // by owner and name
	// highest contains the highest revision of each key. Revisions of deleted blocks count too.
	highest map[string]int64
}

type modelBlock struct {
	content  string
	revision int64
}

// change is a random change of a block. change contains the version that the change expects.
type change struct {
	caller   partition.Caller
	block    declare.Block
	agent    bool
	content  string
	options  map[string]any
	matches  bool // whether the expected version equals the stored version
	deletion bool
}

func (c change) key() string {
	if c.agent {
		return c.caller.User + "/" + c.caller.Agent + "/" + c.block.Name
	}
	return c.caller.User + "//" + c.block.Name
}

// The method "next" returns a random change.
func (m *model) next(declared []declare.Block) change {
	c := change{
		caller: as([]string{"ann", "anna", "bob"}[m.rand.IntN(3)], []string{"a", "ab"}[m.rand.IntN(2)]),
		block:  declared[m.rand.IntN(len(declared))], agent: m.rand.IntN(2) == 0, deletion: m.rand.IntN(4) == 0, options: map[string]any{},
	}
	if c.agent {
		c.options["agent"] = true
	}
	c.content = m.text(c.block)
	stored := m.stored[c.key()]
	c.matches = m.expect(c.options, stored.revision)
	return c
}

// text returns a random text. The text often slightly exceeds a limit.
func (m *model) text(b declare.Block) string {
	unit := []string{"- x\n", "ä", "\u2028y", " \n", "1. z\r\n"}[m.rand.IntN(5)]
	n := m.rand.IntN(25)
	if m.rand.IntN(3) == 0 {
		n = b.Characters/utf8.RuneCountInString(unit) - 1 + m.rand.IntN(3)
	}
	return strings.Repeat(unit, n)
}

// expect adds a random expected version to the options. expect reports whether the expected version
// matches the stored revision.
func (m *model) expect(options map[string]any, revision int64) bool {
	other := revision + int64(m.rand.IntN(3)) - 1
	switch m.rand.IntN(6) {
	case 0:
		return revision == 0
	case 1:
		options["expected_updated_at"] = nil
		return revision == 0
	case 2:
		options["if_revision"] = max(other, 0)
		return max(other, 0) == revision
	case 3:
		if other <= 0 {
			other = 1
		}
		options["expected_updated_at"] = strings.TrimSuffix(block.FormatTime(time.UnixMilli(other)), "Z")
		return other == revision
	}
	if revision > 0 {
		options["expected_updated_at"] = time.UnixMilli(revision).In(time.FixedZone("", 7200)).Format(time.RFC3339Nano)
	}
	return true
}

// fits reports whether a text is within the limits of a block. The code of fits is separate from
// the code of the package.
func fits(b declare.Block, text string) bool {
	entries := 0
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n\r\u2028", r) }) {
		if line = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line)+" ", "- "), "1. ")); line != "" {
			entries++
		}
	}
	return len([]rune(text)) <= b.Characters && (b.Entries == 0 || entries <= b.Entries)
}

// step performs one random change. Then it compares the reply and the stored block with the
// reference.
func (m *model) step(t *testing.T, b *blocks, declared []declare.Block) {
	c := m.next(declared)
	key := c.key()
	want := stored
	switch {
	case c.deletion && c.matches:
		want = fmt.Sprintf(`{"success":true,"deleted":%t}`, m.stored[key].revision > 0)
	case !c.deletion && !fits(c.block, c.content):
		want = "too_large: "
	case !c.matches:
		want = "conflict: "
	}
	options, _ := json.Marshal(c.options)
	content, _ := json.Marshal(c.content)
	op, args := abi.UpdateBlock, fmt.Sprintf("%q, %s, %s", c.block.Name, content, options)
	if c.deletion {
		op, args = abi.DeleteBlock, fmt.Sprintf("%q, %s", c.block.Name, options)
	}
	reply := b.call(c.caller, memory.Operator(), op, args)
	if !strings.HasPrefix(reply, want) {
		t.Fatalf("%s(%.200s) of %s = %s; want %s", op, args, key, reply, want)
	}
	switch {
	case c.deletion && c.matches:
		delete(m.stored, key)
	case want == stored:
		m.write(t, key, c.content, reply, b.now)
	}
	m.compare(t, b, c)
}

// write applies a write to the reference. The new revision must be higher than all earlier
// revisions of the key. The time in the revision must not be earlier than the time of the clock.
func (m *model) write(t *testing.T, key, content, reply string, now time.Time) {
	var r struct {
		Revision int64
		Updated  string `json:"updated_at"`
	}
	if err := json.Unmarshal([]byte(reply), &r); err != nil {
		t.Fatal(err)
	}
	if at := block.FormatTime(time.UnixMilli(r.Revision)); r.Revision <= m.highest[key] || r.Revision < now.UnixMilli() || at != r.Updated {
		t.Fatalf("the reply for %s at %s is %s; the highest revision was %d", key, now, reply, m.highest[key])
	}
	m.stored[key], m.highest[key] = modelBlock{content, r.Revision}, r.Revision
}

// compare compares the stored block with the reference.
func (m *model) compare(t *testing.T, b *blocks, c change) {
	options, _ := json.Marshal(map[string]bool{"agent": c.agent})
	reply := b.call(c.caller, memory.Operator(), abi.GetBlock, fmt.Sprintf("%q, %s", c.block.Name, options))
	var got *block.Block
	if err := json.Unmarshal([]byte(reply), &got); err != nil {
		t.Fatalf("%s: %v", reply, err)
	}
	want := m.stored[c.key()]
	if got == nil && want.revision == 0 {
		return
	}
	if got == nil || got.Content != want.content || got.Revision != want.revision || got.Updated.UnixMilli() != want.revision || (got.Agent != "") != c.agent {
		t.Fatalf("%s = %s; want %+v", c.key(), reply, want)
	}
}

// TestModel performs random sequences of operations on two backends. TestModel compares the results
// with a plain map. A sequence also sets the clock back and opens the app again.
func TestModel(t *testing.T) {
	steps := 400
	if testing.Short() {
		steps = 100
	}
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := &model{rand: rand.New(rand.NewPCG(seed, 1)), stored: map[string]modelBlock{}, highest: map[string]int64{}}
			backend := storage.Backend(mem.New())
			if seed%4 == 0 {
				file, err := bolt.Open(filepath.Join(t.TempDir(), "db"), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer file.Close()
				backend = file
			}
			b := openWith(t, func(c *memory.Config) { c.Backend = backend })
			for range steps {
				switch m.rand.IntN(12) {
				case 0:
					b.now = b.now.Add(time.Duration(m.rand.IntN(3000)-1000) * time.Millisecond)
				case 1:
					b.now = b.now.Add(time.Duration(m.rand.IntN(1500)) * time.Microsecond)
				case 2:
					now := b.now
					b = openWith(t, func(c *memory.Config) { c.Backend = backend })
					b.now = now
				}
				m.step(t, b, declared())
			}
		})
	}
}
