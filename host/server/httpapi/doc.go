// Package httpapi serves apps over HTTP. Platform backends run tools and manage sessions and files.
// Operators inspect and edit stored records. The OpenAPI 3.1 document of the API is generated from
// the code.
//
// Every request carries credentials, which determine the tenant, apps and user that the request may
// access; see package auth. Errors are problem documents (RFC 9457) with a fault code. The
// documents contain no data of other users.
package httpapi
