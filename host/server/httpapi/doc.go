// Package httpapi serves apps over HTTP: a platform's backend runs tools, keeps sessions and files, and its operators look
// after what is remembered. The description of the API, in OpenAPI 3.1, is made from the code.
//
// Every request carries credentials, which say for which tenant, apps and user it may act; see package access. Errors are
// problem documents (RFC 9457) with the code of a fault, whose texts hold nothing of anybody else.
package httpapi
