package httpapi

import (
	"net/http"

	"github.com/toolrun/toolrun/abi"
)

// StatusOf returns the HTTP status of a problem document with the given fault code. StatusOf
// returns 422 for codes that only runs produce.
func StatusOf(code abi.Code) int {
	if status, ok := statusOfCode[code]; ok {
		return status
	}
	return http.StatusUnprocessableEntity
}
