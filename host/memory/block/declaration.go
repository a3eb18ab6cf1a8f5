package block

import (
	"cmp"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/search"
)

// Declaration is the form of the declaration of a block that is encoded as JSON.
type Declaration struct {
	// Name is the name of the block, such as "core".
	Name        string `json:"block_type"`
	Description string `json:"description,omitempty"`
	// Use is "context" or "recall".
	Use string `json:"use"`
	// Characters is the maximum number of characters (Unicode code points) of the text. Entries is
	// the maximum number of lines that are not blank, or nil if this number is not limited.
	Characters int  `json:"characters"`
	Entries    *int `json:"entries"`
	// Language is the language whose word stems searches compare.
	Language string `json:"language"`
	// Shared is true if all apps of the tenant share the text of a user.
	Shared bool `json:"shared"`
}

// DeclarationOf returns the Declaration of a block with its defaults.
func DeclarationOf(b declare.Block) Declaration {
	d := Declaration{
		Name: b.Name, Description: b.Description, Use: string(b.Use), Characters: b.Characters,
		Language: cmp.Or(b.Language, search.DefaultLanguage), Shared: b.Shared,
	}
	if b.Entries > 0 {
		d.Entries = &b.Entries
	}
	return d
}
