package schema_test

import (
	"errors"
	"fmt"

	"github.com/toolrun/toolrun/internal/strictjson"
	"github.com/toolrun/toolrun/schema"
)

func Example() {
	text := []byte(`{
		"type": "object",
		"required": ["userId"],
		"properties": {
			"userId":      {"type": "string"},
			"visits":      {"type": "integer", "default": 0},
			"preferences": {"type": "object", "default": {}}
		}
	}`)
	s, err := schema.Compile(text, schema.Options{Strict: true})
	if err != nil {
		fmt.Println(err)
		return
	}

	doc, err := strictjson.Decode([]byte(`{"visits": "many", "nick": "Jo"}`), strictjson.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, violation := range s.Validate(s.Defaults(doc)) {
		fmt.Println(violation)
	}
	// Output:
	// /nick: is not a property that the schema declares
	// /userId: is required
	// /visits: must be of type "integer"
}

func ExampleCompile() {
	_, err := schema.Compile([]byte(`{"allOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]}`), schema.Options{})
	if mistake, ok := errors.AsType[*schema.Error](err); ok {
		fmt.Println(mistake.Message)
		fmt.Println("hint:", mistake.Hint)
	}
	// Output:
	// the schema is too expensive: the schema checks a value 12 levels deep more than 10000 times; this subschema causes 4096 of the checks
	// hint: apply each schema to a value only once; if several branches refer to the same schema, distinguish the branches by a required property with a const
}
