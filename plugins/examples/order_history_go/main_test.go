package main

import (
	"encoding/json"
	"testing"

	"github.com/toolrun/toolrun/abi/guest/go/toolruntest"
)

func TestAdd(t *testing.T) {
	h := toolruntest.New(t)
	h.SetContext(map[string]any{"env": map[string]string{"CURRENCY": "€"}})
	tests := []struct{ input, total string }{
		{`{}`, "€0.00"},
		{`{"item":"tea","price":0.1}`, "€0.10"},
		{`{"item":"milk","price":0.2}`, "€0.30"},
		{`{"item":"house","price":1234567}`, "€1,234,567.30"},
		{`{}`, "€1,234,567.30"},
	}
	for _, tt := range tests {
		out, err := toolruntest.Run(h, add, json.RawMessage(tt.input))
		if err != nil {
			t.Fatal(err)
		}
		var got summary
		if err := json.Unmarshal(out, &got); err != nil || got.Orders == nil || got.Total != tt.total {
			t.Errorf("add(%s) = %s, %v; want orders and the total %s", tt.input, out, err, tt.total)
		}
	}
}

func TestAddKeepsTheLatest(t *testing.T) {
	toolruntest.New(t)
	item, price := "tea", 1.0
	var got summary
	for range maxOrders + 2 {
		var err error
		if got, err = add(input{Item: &item, Price: &price}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(got.Orders); n != maxOrders || got.Orders[0].Number != 3 || got.Orders[n-1].Number != maxOrders+2 {
		t.Errorf("orders = %+v; want the latest %d", got.Orders, maxOrders)
	}
}
