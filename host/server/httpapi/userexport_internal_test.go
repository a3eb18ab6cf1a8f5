package httpapi

import "testing"

// The number of concurrent exports is limited, and each tenant can run only one export at a time.
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
			t.Errorf("two concurrent exports of %s", tenant)
		}
	}
	if _, err := x.begin("e"); err == nil {
		t.Errorf("%d concurrent exports", len(ends)+1)
	}
	ends["a"]()
	if _, err := x.begin("e"); err != nil {
		t.Errorf("an export after another one has ended: %v", err)
	}
}
