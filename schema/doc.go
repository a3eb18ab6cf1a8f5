// Package schema compiles JSON Schemas for memory and validates documents against them: drafts 4, 6, 7,
// 2019-09 and 2020-12. Time and memory are bounded for hostile schemas and documents.
//
// [Compile] compiles the text of a schema and reports every mistake in it with its position.
// [Schema.Validate] reports every violation in a document, and [Schema.Defaults] adds defaults. A
// [Cache] compiles each text once. A compiled schema is safe for concurrent use.
//
// # Differences from JSON Schema
//
// Without $schema the draft is 2020-12. The keyword format is asserted in every draft. A date-time may
// omit its zone, which then is UTC. The keywords contentEncoding, contentMediaType and contentSchema
// are never asserted. A $ref must stay in the document. Regular expressions follow RE2, which has no
// lookaheads and no backreferences; \s, \cX, \uXXXX, [] and [^] have their meaning in JavaScript. Host
// names follow RFC 5892, except for the rules about text direction and compatibility forms. A default
// that does not fit its own schema is not used.
//
// # Mistakes
//
// In JSON Schema an unknown keyword or format has no effect. [Schema.Mistakes] reports them, with the
// name that was probably meant.
//
// # Strict
//
// A strict schema rejects names that it does not declare: if a schema with the keyword properties
// applies to an object, a name in the object that no applicable schema evaluates is rejected. All
// schemas that apply to the object count together. So if two branches of an allOf list one name each,
// both names are accepted, also in nested objects.
//
//   - A schema evaluates the names that its properties list or its patternProperties match. With
//     additionalProperties or unevaluatedProperties that are true or a schema, it evaluates all other
//     names too, which leaves the object open.
//   - Schemas under $ref, allOf, then, else and dependentSchemas apply, and so do the branches of anyOf
//     and oneOf that the value fits.
//   - Schemas under if and contains are tests: if the value fits, the names in them are evaluated, but
//     they do not close the object. Schemas under not, and tests that fail, have no effect.
//   - Strict checks come last: a value takes the same branches as without strict, and a value that is
//     rejected without strict is rejected with it too.
//
// # Bounds
//
// A schema that could check one value over 10,000 times in some document is rejected. An example is a
// schema that refers to itself twice for the same value, which doubles its work with every level. The
// check of a document counts its steps and ends at [Limits].Work.
//
// The library jsonschema/v5 compiles schemas: it implements the drafts, their metaschemas, names and
// references. It does not validate documents here, because it cannot be stopped or bounded, panics or
// stalls on numbers that a guest can write, creates an error text for each of a million violations, and
// quotes the document in them.
package schema
