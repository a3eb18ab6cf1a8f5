package abi

// Shape is the kind of value that a Type describes.
type Shape string

// The shapes. The zero Shape is any JSON value.
const (
	Any     Shape = ""
	Content Shape = "content" // the content of a record, whose type only the tool knows
	Text    Shape = "text"
	Boolean Shape = "boolean"
	Integer Shape = "integer"
	Success Shape = "success" // always true
	Object  Shape = "object"
	List    Shape = "list"
	Named   Shape = "named" // a type that typed bindings declare by hand
)

// Type is the shape of a value of an operation, as bindings declare it.
type Type struct {
	Shape    Shape
	Nullable bool
	// Name is the name of an Object or of a Named type. Objects with the same name have the same
	// fields.
	Name string
	// Fields are the members of an Object, and Items is the type of a List's elements.
	Fields []Field
	Items  *Type
	// Doc is a noun phrase, such as "the content, or null if there is no record".
	Doc string
}

// Field is a member of an Object.
type Field struct {
	Name     string
	Type     Type
	Optional bool
	// Doc is a phrase, such as "whether there was a record".
	Doc string
}

// Variant is an alternative reply of an operation, returned if an argument has a certain value.
type Variant struct {
	// Param is the name of the parameter. Member is the name of a member of its object; "" means
	// the argument itself.
	Param, Member string
	// Value is the value as JSON.
	Value string
	Reply Type
	Doc   string
}
