package abi

// Shape is the kind of a JSON value.
type Shape string

// The shapes. Any is the zero Shape and allows every JSON value.
const (
	Any     Shape = ""
	Content Shape = "content" // the content of a record, whose type only the tool knows
	Text    Shape = "text"
	Boolean Shape = "boolean"
	Integer Shape = "integer"
	Number  Shape = "number"
	Success Shape = "success" // always true
	Object  Shape = "object"
	List    Shape = "list"
	Named   Shape = "named" // a type that bindings declare by hand
)

// Type is the type of an argument or a reply. Bindings generate declarations from the Type.
type Type struct {
	Shape    Shape
	Nullable bool
	// Name is the name of an Object or Named type. Two Objects with the same name must have the
	// same fields.
	Name string
	// Fields are the members of an Object. Items is the type of the elements of a List.
	Fields []Field
	Items  *Type
	// Doc is a noun phrase, such as "the content, or null if no record exists".
	Doc string
}

// Field is a member of an Object.
type Field struct {
	Name     string
	Type     Type
	Optional bool
	// Doc describes the field, such as "whether there was a record".
	Doc string
}

// Variant is the reply of an operation if an argument has a certain value.
type Variant struct {
	// Param is the name of the parameter. Member is the name of a member of the argument. The
	// variant depends on the value of this member. If Member is "", the variant depends on the
	// argument itself.
	Param, Member string
	// Value is the value that selects the variant, as JSON.
	Value string
	Reply Type
	Doc   string
}
