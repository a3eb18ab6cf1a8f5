// Command order_history_go is the tool order_history as a plug-in in Go.
package main

import (
	"fmt"
	"math"

	toolrun "github.com/toolrun/toolrun/abi/guest/go"
)

//go:generate env GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -trimpath -buildvcs=false -ldflags=-s -o tool.wasm .
//go:generate sh -c "go env GOVERSION >toolchain.txt"

// maxOrders is the maximum number of stored orders. The oldest orders are removed first.
const maxOrders = 50

// input is the input of the tool. If the input contains an item and a price, the tool adds an
// order.
type input struct {
	Item  *string  `json:"item"`
	Price *float64 `json:"price"`
}

// order is a stored order.
type order struct {
	Item   string  `json:"item"`
	Number int     `json:"number"`
	Price  float64 `json:"price"`
}

// history is the content of the store orderHistory.
type history struct {
	Orders []order `json:"orders"`
}

// summary is the output of the tool.
type summary struct {
	Orders []order `json:"orders"`
	Total  string  `json:"total"`
}

func init() { toolrun.Handle(add) }

func main() {}

func add(in input) (summary, error) {
	stored := history{Orders: []order{}} // an empty list, because a nil list would be null in JSON
	if _, err := toolrun.GetContent("orderHistory", &stored); err != nil {
		return summary{}, err
	}
	if in.Item != nil && in.Price != nil {
		stored.Orders = latest(append(stored.Orders, next(stored.Orders, *in.Item, *in.Price)))
		// A merge replaces the whole array, so the value contains all orders.
		if _, err := toolrun.SetContent("orderHistory", stored); err != nil {
			return summary{}, err
		}
	}
	context, err := toolrun.GetContext()
	return summary{Orders: stored.Orders, Total: total(stored.Orders, context.Env["CURRENCY"])}, err
}

// The function "next" returns a new order. The number of the new order follows the number of the
// last order.
func next(orders []order, item string, price float64) order {
	number := 1
	if len(orders) > 0 {
		number = orders[len(orders)-1].Number + 1
	}
	return order{Item: item, Number: number, Price: price}
}

func latest(orders []order) []order { return orders[max(0, len(orders)-maxOrders):] }

// total returns the sum of the prices. total adds whole cents, because 0.1 + 0.2 is
// 0.30000000000000004 in floating point.
func total(orders []order, symbol string) string {
	var cents int64
	for _, o := range orders {
		cents += int64(math.Round(o.Price * 100))
	}
	return fmt.Sprintf("%s%s.%02d", symbol, grouped(cents/100), cents%100)
}

// grouped formats a number with commas between groups of three digits.
func grouped(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}
