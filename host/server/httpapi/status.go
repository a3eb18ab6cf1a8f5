package httpapi

import (
	"net/http"

	"github.com/toolrun/toolrun/abi"
)

// StatusOf returns the HTTP status of a problem document with a fault code. It is 422 for codes that
// only runs have.
func StatusOf(code abi.Code) int {
	if status, ok := statusOfCode[code]; ok {
		return status
	}
	return http.StatusUnprocessableEntity
}
