// Package template renders the templates of prompts. A template is text that contains expressions
// in double braces. Expressions read stores and facts.
//
//	Hello {{memory.sessionMeta.metadata.userName}}!
//	Your last order: {{ memory.userPrefs.recentOrders[0].title }}
//	All of them: {{memory.userPrefs.recentOrders}}
//
// The expression of a store consists of the word "memory", the name of the store, and an optional
// path into the content of the store. A step of a path is a name or an index after a dot (a.0.b),
// an index in brackets (a[0]), or any name in brackets and quotes (a["odd name"]). An expression
// without a path refers to the whole content.
//
//	Speak {{user.language}}. One euro is {{project.rates.USD}} dollars.
//
// The expression of a fact consists of the path of the fact and an optional path into the fact's
// value. If an expression begins with several declared paths, the longest declared path is the
// fact.
//
// Strings are rendered without quotes. All other values are rendered as compact JSON, and the
// literals of numbers stay unchanged. Null, a path that does not exist and an empty store are
// rendered as "". Values are not escaped for HTML or other formats. The content of a store is never
// parsed as a template.
//
// Write \{{ for two literal braces, and \\{{ for a backslash before an expression. All other
// characters are literal text: single braces, $ before an expression, all other backslashes, and }}
// outside of an expression. Three opening braces are an error, because they have a different
// meaning in other template languages.
package template
