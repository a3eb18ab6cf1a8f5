package lexical_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/model/lexical"
)

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func Example() {
	vectors := lexical.Vectors([]string{"The contract was renewed.", "Renewal of contracts", "A recipe for bread"})
	fmt.Println(cosine(vectors[0], vectors[1]) > 0.5, cosine(vectors[0], vectors[2]) > 0.5)
	// Output: true false
}

// The vector of every text has unit length.
func TestUnitLength(t *testing.T) {
	texts := []string{
		"", " \n\t", "the", "a", "Acme renewal", "👍", "👍 👎", "++ -- ++", "\xff\xfe", "東京タワー", "ﷺ", "x\x00y",
		strings.Repeat("ü", lexical.MaxBytes), strings.Repeat("a ", lexical.MaxBytes), strings.Repeat("word", 1<<16),
	}
	for i, vector := range lexical.Vectors(texts) {
		if len(vector) != lexical.Dim || math.Abs(cosine(vector, vector)-1) > 1e-6 {
			t.Errorf("the vector of %.20q has %d dimensions and the length %g; want %d and 1", texts[i], len(vector), math.Sqrt(cosine(vector, vector)), lexical.Dim)
		}
	}
}

// The vector of a text must not depend on the other texts of a request.
func TestOtherTexts(t *testing.T) {
	texts := []string{"Acme renewal", "", "the renewal of the acme contract", "👍"}
	together := lexical.Vectors(texts)
	for i, text := range texts {
		if single := lexical.Vectors([]string{text})[0]; !slices.Equal(single, together[i]) {
			t.Errorf("the vector of %q depends on the other texts", text)
		}
	}
}

// If a part of a text is beyond the limits, it does not change the vector. The work for a text is
// limited.
func TestLimits(t *testing.T) {
	for name, text := range map[string]string{
		"bytes": strings.Repeat("longer-word-", lexical.MaxBytes/12+1)[:lexical.MaxBytes],
		"words": strings.Repeat("a b c d ", lexical.MaxWords/4),
	} {
		vectors := lexical.Vectors([]string{text, text + " and something entirely different at the end"})
		if !slices.Equal(vectors[0], vectors[1]) {
			t.Errorf("%s: the text beyond the limit changed the vector", name)
		}
	}
}

// The cosine of similar texts is higher than the cosine of other texts.
func TestSimilarity(t *testing.T) {
	for _, tc := range []struct{ text, similar, other string }{
		{"renewed contracts", "the renewal of a contract", "the invoice of a customer"},
		{"postgres", "PostgreSQL database", "file system"},
		{"Datenbankverbindung", "Verbindung zur Datenbank", "Rechnung an den Kunden"},
		{"recieve a messsage", "receive a message", "delete an account"},
		{"東京タワー", "東京", "大阪"},
		{"👍", "👍 👍", "👎"},
		{"the who", "who is the", "when was it"},
	} {
		v := lexical.Vectors([]string{tc.text, tc.similar, tc.other})
		if near, far := cosine(v[0], v[1]), cosine(v[0], v[2]); near <= far+0.1 {
			t.Errorf("%q: the cosine is %.2f with %q and %.2f with %q; want the first to be higher", tc.text, near, tc.similar, far, tc.other)
		}
	}
}

// Stored vectors are compared with new vectors. Therefore the vectors of an ID must never change.
func TestVectorsOfID(t *testing.T) {
	texts := []string{"", "Acme renewal, renewal; the contract's end", "東京タワー ünïcode", "👍 ++", strings.Repeat("lorem ipsum dolor ", 1000)}
	digest := sha256.New()
	for _, vector := range lexical.Vectors(texts) {
		binary.Write(digest, binary.LittleEndian, vector)
	}
	got := hex.EncodeToString(digest.Sum(nil)[:8])
	if want := vectorDigests[lexical.ID]; got != want {
		t.Errorf("the digest of the vectors of %s is %s; want %s. If the change is intended, change the ID", lexical.ID, got, want)
	}
}

// vectorDigests maps the ID of an embedder to a digest of vectors.
var vectorDigests = map[string]string{"lexical-1": "d8160424c98bb446"}

func FuzzVectors(f *testing.F) {
	f.Add("Acme renewal", "")
	f.Add("\xff\xfe", "東京タワー ก า")
	f.Fuzz(func(t *testing.T, a, b string) {
		vectors := lexical.Vectors([]string{a, b})
		for _, vector := range vectors {
			if math.Abs(cosine(vector, vector)-1) > 1e-6 {
				t.Errorf("the vectors of %q and %q have the lengths %g and %g; want 1", a, b, cosine(vectors[0], vectors[0]), cosine(vectors[1], vectors[1]))
			}
		}
	})
}

func BenchmarkVectors(b *testing.B) {
	text := strings.Repeat("The connection to the database was closed because the certificate had expired. ", 6)
	for b.Loop() {
		lexical.Vectors([]string{text})
	}
}
