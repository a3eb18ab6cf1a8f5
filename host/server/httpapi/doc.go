// Package httpapi serves apps over HTTP. Platform backends run tools and manage sessions and files.
// Operators inspect and edit stored records. The OpenAPI 3.1 document of the API is generated from
// the code.
//
// Every request contains credentials, which determine the tenant, the apps and the user that the
// request may access. Package auth verifies the credentials. Errors are problem documents (RFC
// 9457) with a fault code. Problem documents contain no data of other users.
package httpapi
