package declare

import (
	"fmt"
	"slices"
	"strings"
)

// KindBlock is the kind of stores that contain blocks. A block is a text about a user. It is always
// replaced as a whole, and can be part of prompts.
const KindBlock Kind = "block"

// These are the names of the built-in blocks. If an app has blocks, it has all built-in blocks.
const (
	Core     = "core"     // goes into prompts
	Archival = "archival" // is searched
)

// UserMemory is the name of the variable by which prompts insert the blocks of a user. The name is
// reserved.
const UserMemory = "user_memory"

// BlockUse determines how a block is used.
type BlockUse string

// The uses of blocks.
const (
	BlockContext BlockUse = "context" // the block is part of prompts
	BlockRecall  BlockUse = "recall"  // a search finds lines of the block
)

// Limits of blocks.
const (
	// CoreCharacters and CoreEntries are the default limits of a block whose use is BlockContext.
	CoreCharacters = 4000
	CoreEntries    = 20
	// ArchivalCharacters is the default limit of the characters of a block whose use is
	// BlockRecall. By default, the number of entries of such a block is not limited.
	ArchivalCharacters = 8000
	// MaxBlockCharacters is the maximum value of Block.Characters.
	MaxBlockCharacters = 32_000
)

// Block is the declaration of a block. For each block, a user has one text that all agents share,
// and one additional text for each agent.
type Block struct {
	Name        string
	Description string
	Use         BlockUse
	// Characters is the maximum number of characters in the text. Each Unicode code point counts as
	// a character. Entries is the maximum number of lines that are not blank. The value 0 means
	// that the number is not limited.
	Characters, Entries int
	// Language is the language in which the texts are written, such as english. When a search
	// compares words, Language determines how it compares them.
	Language string
	// If Shared is true, a user has the same text in all apps of the tenant. The texts of agents
	// are never shared between apps.
	Shared bool
}

// WithDefaults returns the block after replacing zero limits by default limits. The use of the
// block determines the default limits.
func (b Block) WithDefaults() Block {
	switch {
	case b.Use == BlockRecall && b.Characters == 0:
		b.Characters = ArchivalCharacters
	case b.Use == BlockContext && b.Characters == 0:
		b.Characters = CoreCharacters
	}
	if b.Use == BlockContext && b.Entries == 0 {
		b.Entries = CoreEntries
	}
	return b
}

// Store returns the declaration of the block's store.
func (b Block) Store() Store {
	return Store{Name: b.Name, Description: b.Description, Kind: KindBlock, Access: ScopeUser, Block: b}
}

// BuiltInBlocks returns the built-in blocks. If an app has blocks, it has all built-in blocks.
func BuiltInBlocks() []Block {
	return []Block{
		Block{Name: Core, Use: BlockContext}.WithDefaults(), Block{Name: Archival, Use: BlockRecall}.WithDefaults(),
	}
}

// IsBuiltInBlock reports whether a built-in block has the given name.
func IsBuiltInBlock(name string) bool { return name == Core || name == Archival }

// CheckBlock returns an error if the declaration of a block is invalid.
func CheckBlock(b Block) error {
	if !IsBuiltInBlock(b.Name) {
		if err := CheckName(b.Name); err != nil {
			return err
		}
	}
	switch {
	case b.Use != BlockContext && b.Use != BlockRecall:
		return fmt.Errorf("unknown use %q of a block: write %s or %s", b.Use, BlockContext, BlockRecall)
	case b.Name == Core && b.Use != BlockContext, b.Name == Archival && b.Use != BlockRecall:
		return fmt.Errorf("the use of the block %s cannot be changed", b.Name)
	case b.Characters < 1 || b.Characters > MaxBlockCharacters:
		return fmt.Errorf("the limit on characters must be from 1 to %d", MaxBlockCharacters)
	case b.Entries < 0 || b.Entries > MaxBlockCharacters:
		return fmt.Errorf("the limit on entries must be absent or from 1 to %d", MaxBlockCharacters)
	}
	return nil
}

// reservedForBlocks reports whether a name is reserved for blocks. Upper and lower case are not
// distinguished.
func reservedForBlocks(name string) bool {
	return slices.Contains([]string{Core, Archival, UserMemory}, strings.ToLower(name))
}
