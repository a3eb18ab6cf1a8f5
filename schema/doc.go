// Package schema compiles JSON Schemas for memory and checks documents against them: drafts 4, 6, 7,
// 2019-09 and 2020-12, within bounds that neither a hostile schema nor a hostile document can break.
//
// [Compile] takes the text of a schema and reports every mistake in it with its place; [Schema.Validate]
// reports every place where a document does not fit; [Schema.Defaults] fills in defaults. A [Cache] compiles
// each text once. A compiled schema is safe for concurrent use.
//
// # What differs from plain JSON Schema
//
// Without $schema a schema is one of draft 2020-12. The keyword format is asserted in every draft, and a
// date-time may lack its zone, which then is UTC; contentEncoding, contentMediaType and contentSchema are
// never asserted. A $ref, however it is spelled, stays in the document. Regular expressions are those of RE2,
// which has no lookaheads and no backreferences; \s, \cX, \uXXXX, [] and [^] mean what they mean in JavaScript. Names of hosts
// are held to RFC 5892, but for the rules about the direction of scripts and about compatible forms.
// A default that does not fit the schema it stands in is not filled in.
//
// # Mistakes
//
// A keyword or a format that does not exist has no effect in JSON Schema. [Schema.Mistakes] reports them, with the name
// that was probably meant.
//
// # Strict
//
// A strict schema refuses names that it does not declare. In one sentence: where a schema with the keyword
// properties applies to an object, a name that no schema evaluates is refused, with all schemas together that
// apply to that object. So two branches of an allOf that list a name each accept both names, also deeper down.
//
//   - A schema evaluates the names that its properties list or its patternProperties match; with
//     additionalProperties or unevaluatedProperties, true or a schema, all other names too. That leaves the
//     object open.
//   - Schemas under $ref, allOf, then, else and dependentSchemas apply, and those branches of anyOf and oneOf
//     that the value fits.
//   - What stands under if and contains is a question: where the answer is yes the names in it are known, but
//     it closes nothing. What stands under not, or was answered with no, counts for nothing.
//   - Strict comes last: which branches a value takes is the same as without it, and what is refused without
//     it stays refused.
//
// # Bounds
//
// A schema in which one value can be checked over 10,000 times, over all documents, is not compiled: such are
// those that refer to themselves twice for the same value, which double their work with every level. Checking
// a document counts its steps and ends at [Limits].Work.
//
// The library jsonschema/v5 compiles: it knows the drafts, their metaschemas, names and references. It does
// not check documents. It can neither be stopped nor counted, panics or stalls on numbers that a guest can
// write, makes an error text for each of a million mistakes, and quotes in it what the document holds.
package schema
