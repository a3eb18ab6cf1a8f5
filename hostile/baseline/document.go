package baseline

import (
	"bytes"
	"encoding/json"
	"os"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// document checks an input against the schema that the tool's manifest declares.
func document(_ *host, file string, input []byte) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var manifest struct{ InputSchema json.RawMessage }
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, err
	}
	var name string
	if json.Unmarshal(manifest.InputSchema, &name) == nil {
		if manifest.InputSchema, err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	schema, err := jsonschema.CompileString("schema.json", string(manifest.InputSchema))
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(input))
	decoder.UseNumber() // the documentation of the library recommends the following call
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return nil, schema.Validate(value)
}

// declaration reads an app file.
func declaration(_ *host, file string, _ []byte) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var app any
	if err := yaml.Unmarshal(text, &app); err != nil {
		return nil, err
	}
	return nil, nil
}
