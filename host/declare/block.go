package declare

import (
	"fmt"
	"slices"
	"strings"
)

// KindBlock is the kind of stores that contain blocks: texts about a user that are replaced as a
// whole and go into prompts.
const KindBlock Kind = "block"

// These are the names of the built-in blocks. Every app with blocks has all built-in blocks.
const (
	Core     = "core"     // goes into prompts
	Archival = "archival" // is searched
)

// UserMemory is the name of the variable with which prompts insert the blocks of a user. The name
// is reserved.
const UserMemory = "user_memory"

// BlockUse is the use of a block.
type BlockUse string

// The uses of blocks.
const (
	BlockContext BlockUse = "context" // the block goes into prompts
	BlockRecall  BlockUse = "recall"  // the lines of the block are searched
)

// Limits of blocks.
const (
	// CoreCharacters and CoreEntries are the default limits of blocks with the use BlockContext.
	CoreCharacters = 4000
	CoreEntries    = 20
	// ArchivalCharacters is the default limit of blocks with the use BlockRecall, which have no limit
	// on entries.
	ArchivalCharacters = 8000
	// MaxBlockCharacters is the maximum of Block.Characters.
	MaxBlockCharacters = 32_000
)

// Block is the declaration of a block. For each block, a user has one text, and one more text for
// each agent.
type Block struct {
	Name        string
	Description string
	Use         BlockUse
	// Characters is the maximum number of characters (Unicode code points) of the text. Entries is the
	// maximum number of lines that are not blank; 0 means no limit.
	Characters, Entries int
	// Language is the language of the texts, such as english. Language determines how a search
	// compares words.
	Language string
	// If Shared is true, all apps of the tenant share the text of a user. Texts of agents are never
	// shared.
	Shared bool
}

// WithDefaults returns the block with the default limits of its use instead of zero limits.
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

// BuiltInBlocks returns the blocks that every app with blocks has.
func BuiltInBlocks() []Block {
	return []Block{
		Block{Name: Core, Use: BlockContext}.WithDefaults(), Block{Name: Archival, Use: BlockRecall}.WithDefaults(),
	}
}

// IsBuiltInBlock reports whether a name is the name of a built-in block.
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

// reservedForBlocks reports whether a name is reserved for blocks, regardless of case.
func reservedForBlocks(name string) bool {
	return slices.Contains([]string{Core, Archival, UserMemory}, strings.ToLower(name))
}
