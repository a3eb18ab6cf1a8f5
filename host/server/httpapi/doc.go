// Package httpapi serves apps over HTTP. A platform's backend runs tools and manages sessions and
// files; operators inspect and edit stored records. The OpenAPI 3.1 document of the API is
// generated from the code.
//
// Every request carries credentials, which determine the tenant, apps and user that it may act for;
// see package auth. Errors are problem documents (RFC 9457) with the code of a fault. They contain
// no data of other users.
package httpapi
