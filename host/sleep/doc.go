// Package sleep contains the exchange with the tool or the model that updates blocks after a
// conversation has settled. The exchange consists of the request with the transcript, the proposals
// in the answer, and the rules for proposals. The package performs no I/O.
package sleep
