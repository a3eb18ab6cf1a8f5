package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/metering"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/server/tenants"
)

type usageInput struct {
	apitypes.Target
	apitypes.UsageQuery
}

// usageHandler serves requests for usage data of apps.
type usageHandler struct{ apps *tenants.Apps }

func (h *usageHandler) register(s *Server) {
	addPlain(s, auth.Usage, huma.Operation{
		OperationID: "read-usage", Method: http.MethodGet, Path: "/usage", Tags: []string{"service"}, Summary: "Read the usage of apps",
		Description: "Returns, for each app of the tenant, the current storage, and the runs, CPU time and tokens of models in a range of days (UTC). With the role metering, the response contains the apps of all tenants. Runs of the last 30 seconds may be missing.",
	}, h.read)
}

// read returns usage data for the principal's tenant, or for all tenants if the role is metering.
func (h *usageHandler) read(ctx context.Context, in *usageInput) (*listOutput[apitypes.AppUsage], error) {
	p, _ := ctx.Value(principalKey{}).(auth.Principal)
	q := metering.Query{Tenant: p.Tenant, Apps: p.Apps, After: in.After, Limit: in.Limit}
	if p.Role == auth.Metering {
		q.Tenant = ""
	}
	if in.App != "" {
		if !p.CanUseApp(in.App) {
			return nil, abi.Faultf(abi.NotFound, "the app %q does not exist", in.App) // same error as for apps of other tenants
		}
		q.Apps = []string{in.App}
	}
	for _, bound := range []struct {
		name, text string
		to         *time.Time
	}{{"since", in.Since, &q.Since}, {"until", in.Until, &q.Until}} {
		if bound.text == "" {
			continue
		}
		day, err := time.Parse(time.DateOnly, bound.text)
		if err != nil {
			return nil, abi.Faultf(abi.InvalidArgument, "the parameter %q is not a date: %q", bound.name, bound.text).WithHint("use the format 2006-01-02")
		}
		*bound.to = day
	}
	found, next, err := h.apps.Usage(ctx, q)
	page := apitypes.List[apitypes.AppUsage]{Items: make([]apitypes.AppUsage, len(found)), Next: next}
	for i, usage := range found {
		page.Items[i] = apitypes.AppUsage(usage)
	}
	return &listOutput[apitypes.AppUsage]{page}, err
}
