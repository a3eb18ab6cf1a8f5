package block

import (
	"cmp"

	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/search"
)

// Declaration is the declaration of a block in the form for JSON encoding.
type Declaration struct {
	// Name is the name of the block, such as "core".
	Name        string `json:"block_type"`
	Description string `json:"description,omitempty"`
	// Use is either "context" or "recall".
	Use string `json:"use"`
	// Characters is the maximum number of characters (Unicode code points) of the text. Entries is
	// the maximum number of lines. Blank lines do not count. If Entries is nil, the number of lines
	// is not limited.
	Characters int  `json:"characters"`
	Entries    *int `json:"entries"`
	// Language is the language of the text. Searches compare word stems of this language.
	Language string `json:"language"`
	// If Shared is true, all apps of the tenant share the user's text.
	Shared bool `json:"shared"`
}

// DeclarationOf returns the Declaration of a block. The Declaration contains the defaults of
// omitted fields.
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
