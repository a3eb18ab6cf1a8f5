package search_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/search"
)

func ExampleTokenizer_Tokens() {
	english, err := search.FindLanguage("english")
	if err != nil {
		panic(err)
	}
	for token := range english.Tokenizer().Tokens("It's the Renewals!") {
		fmt.Println(token.Word, token.Stem, token.Common)
	}
	// Output:
	// it it true
	// the the true
	// renewals renew false
}

// The stems that a Tokenizer returns for a text must not depend on earlier texts.
func TestTokensAfterOtherTexts(t *testing.T) {
	english := language(t, "english")
	used := english.Tokenizer()
	var many strings.Builder
	for i := range 40_000 {
		many.WriteString("words" + strconv.Itoa(i) + " ")
	}
	stems := func(tokenizer *search.Tokenizer, text string) (stems []string) {
		for token := range tokenizer.Tokens(text) {
			stems = append(stems, token.Stem)
		}
		return stems
	}
	if n := len(stems(used, many.String())); n != 40_000 {
		t.Errorf("Tokens returned %d words; want 40000", n)
	}
	for _, text := range []string{"", "Renewed contracts", "words1 words2", "東京タワー", "Ünïcode's"} {
		if got, want := stems(used, text), stems(english.Tokenizer(), text); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the stems of %q are %q after other texts; want %q", text, got, want)
		}
	}
}
