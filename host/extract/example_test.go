package extract_test

import (
	"context"
	"fmt"

	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/engines"
	"github.com/toolrun/toolrun/host/extract"
	"github.com/toolrun/toolrun/host/sandbox"
)

func Example() {
	upload := []byte("What the file says.")
	name, err := extract.CleanName(`C:\Users\me\notes.txt`)
	if err != nil {
		fmt.Println(err)
		return
	}
	format, mediaType, err := extract.Identify(name, "", upload)
	if err != nil {
		fmt.Println(err)
		return
	}
	pool, err := engines.NewDocumentPool(sandbox.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	reader := extract.Reader{Engine: pool.Engines()[0]}
	defer reader.Close()
	text, err := reader.Read(context.Background(), admission.Flow{Tenant: "tenant 1"}, format, upload)
	fmt.Println(name, mediaType, text.Text, err)
	_, _, err = extract.Identify("invoice.pdf", "application/pdf", []byte("<html><script>alert(1)</script>"))
	fmt.Println(err)
	// Output:
	// notes.txt text/plain What the file says. <nil>
	// invalid_argument: the file is declared as pdf (application/pdf), but its content is text/html
}
