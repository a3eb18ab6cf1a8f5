package abi

// Shape is the kind of value that a Type describes.
type Shape string

// The shapes. The zero Shape is any JSON value.
const (
	Any     Shape = ""
	Content Shape = "content" // the content of a record, whose type the tool knows
	Text    Shape = "text"
	Boolean Shape = "boolean"
	Integer Shape = "integer"
	Success Shape = "success" // always true
	Object  Shape = "object"
	List    Shape = "list"
	Named   Shape = "named" // a type that the bindings with types declare by hand
)

// Type is the shape of a value of an operation, as bindings declare it.
type Type struct {
	Shape    Shape
	Nullable bool
	// Name is the name of an Object or of a Named type. Two objects of one name have the same fields.
	Name string
	// Fields are those of an Object, and Items is the shape of a List's elements.
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

// Variant is what an operation returns if the argument of a parameter has a certain value.
type Variant struct {
	// Param names the parameter, and Member a member of its object; "" is the argument itself.
	Param, Member string
	// Value is the value as JSON.
	Value string
	Reply Type
	Doc   string
}
