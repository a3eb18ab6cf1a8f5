// Package template renders the templates of prompts: text with expressions in double braces that read memory.
//
//	Hello {{memory.sessionMeta.metadata.userName}}!
//	Your last order: {{ memory.userPrefs.recentOrders[0].title }}
//	All of them: {{memory.userPrefs.recentOrders}}
//
// An expression is memory, a store and a path into the store's content. A step of a path is a name or
// an index after a dot (a.0.b), an index in brackets (a[0]), or any name in brackets and quotes
// (a["odd name"]). Without a path the expression refers to the whole content.
//
// A string renders without quotes, a number as its literal, a boolean as true or false, and an object
// or an array as compact JSON. Null, a path that does not exist and an empty store render as nothing.
// Nothing is escaped, for HTML or otherwise. The content of a store is never parsed as a template.
//
// Two literal braces are written \{{, and \\{{ is a backslash before an expression. Everything else is
// text: single braces, $ before an expression, backslashes elsewhere, }} outside an expression. Three
// opening braces are a mistake, since they have a different meaning in other template languages.
package template
