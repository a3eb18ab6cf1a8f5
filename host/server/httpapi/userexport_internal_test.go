package httpapi

import "testing"

// A tenant makes one export at a time, and a service a few.
func TestExportsAreBounded(t *testing.T) {
	var x exports
	ends := map[string]func(){}
	for _, tenant := range []string{"a", "b", "c", "d"} {
		end, err := x.begin(tenant)
		if err != nil {
			t.Fatalf("the first export of %s: %v", tenant, err)
		}
		ends[tenant] = end
		if _, err := x.begin(tenant); err == nil {
			t.Errorf("two exports of %s at a time", tenant)
		}
	}
	if _, err := x.begin("e"); err == nil {
		t.Errorf("%d exports at a time", len(ends)+1)
	}
	ends["a"]()
	if _, err := x.begin("e"); err != nil {
		t.Errorf("an export where another one has ended: %v", err)
	}
}
