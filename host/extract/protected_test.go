package extract_test

import (
	"crypto/md5"
	"crypto/rc4"
	"fmt"
	"strings"
	"testing"

	"github.com/toolrun/toolrun/host/extract"
)

// protected returns an encrypted PDF that has one page. The encryption uses the standard security
// handler, revision 2 (ISO 32000-1, section 7.6.3). The user password can be empty. The PDF denies
// all permissions.
func protected(user, owner, content string) []byte {
	const padding = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"
	const id, keyBytes, permissions = "0123456789abcdef", 5, "\xC0\xFF\xFF\xFF" // -64
	padded := func(password string) string { return (password + padding)[:32] }
	sum := func(text string) string { s := md5.Sum([]byte(text)); return string(s[:]) }
	encrypt := func(key, text string) string {
		c, err := rc4.NewCipher([]byte(key))
		if err != nil {
			panic(err)
		}
		out := make([]byte, len(text))
		c.XORKeyStream(out, []byte(text))
		return string(out)
	}
	o := encrypt(sum(padded(owner))[:keyBytes], padded(user))
	key := sum(padded(user) + o + permissions + id)[:keyBytes]
	u := encrypt(key, padding)
	const number = 4 // the number of the object that contains the page's content
	body := encrypt(sum(key + string([]byte{number, 0, 0, 0, 0}))[:keyBytes+5], content)
	file := pdfOf(catalogue, "<< /Type /Pages /Kids [3 0 R] /Count 1 /Resources << /Font << /F1 5 0 R >> >> >>",
		"<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>", streamOf(body, false), helvetica)
	dictionary := fmt.Sprintf("/ID [<%x> <%x>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <%x> /U <%x> /P -64 >> /Root", id, id, o, u)
	return []byte(strings.Replace(string(file), "/Root", dictionary, 1))
}

func TestProtected(t *testing.T) {
	const content = "BT /F1 12 Tf (for your eyes) Tj ET"
	for user, want := range map[string]extract.Text{
		"":       {Text: "for your eyes"},
		"secret": {Reason: extract.Encrypted},
	} {
		if got, err := run(t, "pdf", protected(user, "owner", content), 0); err != nil || got != want {
			t.Errorf("a PDF with the user's password %q: Read = %+v, %v; want %+v", user, got, err, want)
		}
	}
}

// TestForm reads an annotation and two filled-in fields. One field has an appearance stream, and
// the other field has none.
func TestForm(t *testing.T) {
	const field = "<< /Type /Annot /Subtype /Widget /FT /Tx /T (%s) /V (%s) /DA (/F1 12 Tf 0 g) /Rect [100 %d 300 %d] /F 4 /P 3 0 R %s >>"
	appearance := strings.Replace(streamOf("/Tx BMC BT /F1 12 Tf 2 5 Td (Ann Example) Tj ET EMC", false), "<<",
		"<< /Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F1 5 0 R >> >>", 1)
	note := strings.Replace(appearance, "Ann Example", "checked", 1)
	note = strings.Replace(note, fmt.Sprint("/Length ", len("/Tx BMC BT /F1 12 Tf 2 5 Td (Ann Example) Tj ET EMC")), fmt.Sprint("/Length ", len("/Tx BMC BT /F1 12 Tf 2 5 Td (checked) Tj ET EMC")), 1)
	form := pdfOf(
		"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R 7 0 R] /NeedAppearances true /DA (/F1 12 Tf 0 g) /DR << /Font << /F1 5 0 R >> >> >> >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 /Resources << /Font << /F1 5 0 R >> >> >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Annots [6 0 R 7 0 R 8 0 R] >>",
		streamOf("BT /F1 12 Tf 72 700 Td (Name:) Tj ET", false), helvetica,
		fmt.Sprintf(field, "name", "Ann Example", 695, 715, "/AP << /N 9 0 R >>"),
		fmt.Sprintf(field, "town", "Bristol", 665, 685, ""),
		"<< /Type /Annot /Subtype /FreeText /Contents (checked) /Rect [100 600 300 620] /F 4 /AP << /N 10 0 R >> >>",
		appearance, note)
	got, err := run(t, "pdf", form, 0)
	for _, want := range []string{"Name:", "Ann Example", "Bristol", "checked"} {
		if err != nil || !strings.Contains(got.Text, want) {
			t.Errorf("Read = %+v, %v; want %q", got, err, want)
		}
	}
}
