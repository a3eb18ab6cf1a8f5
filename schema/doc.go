// Package schema compiles JSON Schemas and validates documents against them. The package supports
// drafts 4, 6, 7, 2019-09 and 2020-12. The time and memory use of the package is bounded, even for
// hostile schemas and documents.
//
// [Compile] compiles the text of a schema and reports every mistake in the text with its position.
// [Schema.Validate] reports every violation in a document. [Schema.Defaults] adds defaults to a
// document. A [Cache] avoids compiling the same text again. A compiled schema is safe for
// concurrent use.
//
// # Differences from JSON Schema
//
// If a schema has no $schema, its draft is 2020-12. In every draft, a string must match the format
// that the keyword format requires. A date-time without a time zone is valid and means UTC. The
// keywords contentEncoding, contentMediaType and contentSchema are never checked. A $ref must refer
// to the same document. Regular expressions follow RE2, which has no lookaheads and no
// backreferences. \s, \cX, \uXXXX, [] and [^] have the same meaning as in JavaScript. Host names
// follow RFC 5892, except for the rules about text direction and compatibility forms. A default
// that does not match its own schema is not used.
//
// # Mistakes
//
// In JSON Schema an unknown keyword or format has no effect. [Schema.Mistakes] reports unknown
// keywords and formats, and suggests the name that was probably meant.
//
// # Strict
//
// A strict schema rejects undeclared names. If a schema with the keyword properties applies to an
// object, the object is closed. Each name in a closed object must be evaluated by at least one of
// the schemas that apply to the object. For example, if each of two branches of an allOf lists one
// name, both names are accepted. The same rule applies to nested objects.
//
//   - A schema evaluates the names that its properties list or that its patternProperties match. If
//     additionalProperties or unevaluatedProperties is true or a schema, the schema evaluates all
//     other names too, and the object stays open.
//   - Schemas under the keywords $ref, allOf, then, else and dependentSchemas apply, and so do the
//     branches of anyOf and oneOf that the value matches.
//   - Schemas under the keywords if and contains are tests. If the value matches such a schema, the
//     names in the schema are evaluated, but the schema does not close the object. A test that
//     fails has no effect, and neither has a schema under the keyword not.
//   - Strict checks run last: a value matches the same branches as without strict, and a value that
//     is rejected without strict is also rejected with strict.
//
// # Bounds
//
// Compile rejects a schema if there can be a document in which it would check one value more than
// 10,000 times. An example is a schema that refers to itself twice for the same value, which
// doubles the work with every level. Validate counts its steps and stops when they exceed
// [Limits].Work.
//
// The package uses the library jsonschema/v5 only to compile schemas: the library implements the
// drafts with their metaschemas, names and references. The package does not use the library to
// validate documents. The library's validation cannot be stopped or bounded, it panics or stalls on
// some numbers, and it creates an error text for each violation. The error texts of the library
// quote the document.
package schema
