// Package template renders the templates of prompts: text with expressions in double braces that read memory.
//
//	Hello {{memory.sessionMeta.metadata.userName}}!
//	Your last order: {{ memory.userPrefs.recentOrders[0].title }}
//	All of them: {{memory.userPrefs.recentOrders}}
//
// An expression is memory, a store and a path into the store's content. A step of a path is a name or an
// index after a point (a.0.b), an index in brackets (a[0]) or any name in brackets and quotes
// (a["odd name"]). Without a path it stands for the whole content.
//
// A string renders as it is, a number with its literal, true and false as these words, an object or an array
// as compact JSON; null, a path that leads nowhere and a store that holds nothing render as nothing. Nothing
// is escaped, for HTML or otherwise, and what a store holds is never itself read as a template.
//
// Two literal braces are written \{{, and \\{{ is a backslash before an expression. Everything else is text:
// single braces, $ before an expression, backslashes elsewhere, }} outside of an expression. Three opening
// braces are a mistake, since other template languages give them a meaning that would mislead here.
package template
