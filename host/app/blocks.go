package app

import (
	"slices"
	"strings"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/problem"
	"github.com/toolrun/toolrun/host/search"
)

// blockReader reads the section "blocks" of the app file.
type blockReader struct{ fieldReader }

// The section "blocks" has these keys, which are not names of blocks.
const (
	keyShared   = "shared"
	keyLanguage = "language"
)

var (
	// coreKeys are the keys that the blocks "core" and "archival" can have. The use of these two
	// blocks is fixed, so they cannot have the key "use".
	coreKeys  = []string{"characters", "entries", "description"}
	blockKeys = append([]string{"use"}, coreKeys...)
)

// maxBlocks is the maximum number of blocks that an app can declare in addition to the built-in
// blocks.
const maxBlocks = 10

// blocks returns the blocks "core" and "archival", followed by the other declared blocks. blocks
// adds the position of each block to the map "declared". The keys of this map are the names of the
// blocks. If the app has no blocks, the method returns nil.
func (r *blockReader) blocks(n *node, declared map[string]position) []declare.Block {
	if n == nil || n.kind == null {
		return nil
	}
	if n.kind == boolean {
		if n.value != "true" {
			return nil
		}
		addBuiltIn(declared, n.position)
		return declare.BuiltInBlocks()
	}
	if n.kind != object {
		r.errorf(n.position, problem.WrongType, "write `blocks: true`, or a mapping such as `blocks: {core: {characters: 2000}}`", "the value of `blocks` must be `true` or a mapping, not %s", n.kind)
		return nil
	}
	blocks := declare.BuiltInBlocks()
	builtIn := len(blocks)
	for _, m := range r.entries(n, "blocks", "block", nil) {
		switch m.key {
		case keyShared, keyLanguage:
		case declare.Core, declare.Archival:
			at := slices.IndexFunc(blocks, func(b declare.Block) bool { return b.Name == m.key })
			r.builtIn(m, &blocks[at])
		default:
			if b, ok := r.own(m, declared); ok {
				blocks = append(blocks, b)
				declared[m.key] = m.position
			}
		}
	}
	if own := len(blocks) - builtIn; own > maxBlocks {
		r.errorf(n.position, problem.OverLimit, "merge blocks with related texts", "an app can declare at most %d blocks, but this app declares %d", maxBlocks, own)
	}
	shared := r.flag(n.get(keyShared), keyShared)
	for i := range blocks {
		blocks[i].Shared = shared != nil && *shared
		blocks[i].Language = r.language(n.get(keyLanguage))
	}
	addBuiltIn(declared, n.position)
	return blocks
}

// addBuiltIn adds the positions of the built-in blocks. The file can omit the declarations of the
// built-in blocks.
func addBuiltIn(declared map[string]position, at position) {
	for _, b := range declare.BuiltInBlocks() {
		declared[b.Name] = at
	}
}

// builtIn reads the limits of a built-in block.
func (r *blockReader) builtIn(m member, b *declare.Block) {
	if m.value.kind != null && r.keys(m.value, "the block "+m.key, coreKeys) {
		r.limits(m.value, b)
	}
}

// own reads a block that is not a built-in block. If the name of the block is not valid, the result
// "ok" is false.
func (r *blockReader) own(m member, declared map[string]position) (b declare.Block, ok bool) {
	b = declare.Block{Name: m.key, Use: declare.BlockContext}
	if err := declare.CheckName(m.key); err != nil {
		r.errorf(m.position, problem.BadName, "", "%s", err)
		return b, false
	}
	for name, at := range declared {
		if strings.EqualFold(name, m.key) {
			r.errorf(m.position, problem.DuplicateName, "choose another name", "the block %s has the same name as the store on line %d", problem.Quote(m.key), at.line)
			return b, false
		}
	}
	if m.value.kind == null {
		return b.WithDefaults(), true
	}
	if !r.named(m, "a block", blockKeys) {
		return b, false
	}
	if use := m.value.get("use"); use != nil {
		b.Use = r.use(use)
	}
	b = b.WithDefaults()
	r.limits(m.value, &b)
	return b, true
}

// limits reads those keys that every block can have.
func (r *blockReader) limits(n *node, b *declare.Block) {
	if c := n.get("characters"); c != nil {
		b.Characters = int(r.count(c, "characters", declare.MaxBlockCharacters))
	}
	if c := n.get("entries"); c != nil {
		b.Entries = int(r.count(c, "entries", declare.MaxBlockCharacters))
	}
	b.Description = r.text(n.get("description"), "description")
}

func (r *blockReader) use(n *node) declare.BlockUse {
	known := []string{string(declare.BlockContext), string(declare.BlockRecall)}
	word := r.text(n, "use")
	if slices.Contains(known, word) {
		return declare.BlockUse(word)
	}
	if n.kind == text {
		r.errorf(n.position, problem.BadValue, didYouMean(word, known), "the value %s is not valid for the key `use` of a block", problem.Quote(word))
	}
	return declare.BlockContext
}

// language reads the language of the texts in a block.
func (r *blockReader) language(n *node) string {
	word := r.text(n, keyLanguage)
	if word == "" || slices.Contains(search.Languages(), word) {
		return word
	}
	r.errorf(n.position, problem.BadValue, didYouMean(word, search.Languages()), "the language %s is not supported for blocks", problem.Quote(word))
	return ""
}

// exportedBlock is a block in an exported app.
type exportedBlock struct {
	Use         declare.BlockUse `json:"use,omitempty"`
	Characters  int              `json:"characters"`
	Entries     int              `json:"entries,omitempty"`
	Description string           `json:"description,omitempty"`
}

// exportBlocks returns the section "blocks" of an exported app. If the app has no blocks,
// exportBlocks returns nil.
func exportBlocks(blocks []declare.Block) (ordered, error) {
	if len(blocks) == 0 {
		return nil, nil
	}
	out := ordered{}
	if blocks[0].Shared {
		out = append(out, pair{keyShared, true})
	}
	if blocks[0].Language != "" {
		out = append(out, pair{keyLanguage, blocks[0].Language})
	}
	all, err := section(blocks, func(b declare.Block) (string, any, error) {
		e := exportedBlock{b.Use, b.Characters, b.Entries, b.Description}
		if declare.IsBuiltInBlock(b.Name) {
			e.Use = ""
		}
		return b.Name, e, nil
	})
	return append(out, all...), err
}
