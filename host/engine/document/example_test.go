package document_test

import (
	"context"
	"fmt"

	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/cell"
	"github.com/toolrun/toolrun/host/engine/document"
	"github.com/toolrun/toolrun/host/languages"
)

func Example() {
	upload := []byte("What the file says.")
	name, err := document.CleanName(`C:\Users\me\notes.txt`)
	if err != nil {
		fmt.Println(err)
		return
	}
	format, mediaType, err := document.Identify(name, "", upload)
	if err != nil {
		fmt.Println(err)
		return
	}
	pool, err := languages.NewDocumentPool(cell.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	reader := document.Reader{Engine: pool.Engines()[0]}
	defer reader.Close()
	text, err := reader.Read(context.Background(), admission.Party{Tenant: "tenant 1"}, format, upload)
	fmt.Println(name, mediaType, text.Text, err)
	_, _, err = document.Identify("invoice.pdf", "application/pdf", []byte("<html><script>alert(1)</script>"))
	fmt.Println(err)
	// Output:
	// notes.txt text/plain What the file says. <nil>
	// invalid_argument: the file claims to be pdf (application/pdf), but what is in it is text/html
}
