package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/metering"
)

type usageFlags struct {
	memoryFlags
	since, until string
}

// usageCommand shows the usage of apps.
type usageCommand struct{ baseCommand }

func (uc usageCommand) command() *cobra.Command {
	var f usageFlags
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "Show the usage of apps: runs, CPU time, models and storage",
		Long: `Show the usage of the apps of a tenant: the number of runs on the selected days (UTC), the CPU time
and the tokens of models on these days, and the current storage. With --server and a key of role metering, the output
covers all tenants, for billing.

RUNS counts runs whose tool was executed. FAILED counts executed runs that ended with a fault. REPEATED counts
repeated results of earlier runs. REFUSED counts runs that the platform rejected. NOT STARTED counts runs that did not
start for another reason, such as an invalid input. TOKENS counts the input and output tokens of models, also of
failed runs. Only toolrun serve counts runs.`,
		Example: `  toolrun usage --since 2026-11-01 --until 2026-12-01 --server https://tools.example --key-file key
  toolrun usage --json`,
		Args: takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := f.query()
			if err != nil {
				return err
			}
			return uc.apps.with(cmd, &f.memoryFlags, uc.projects.openApp, false, func(opened *openedApp, c host.Caller) error {
				return uc.show(cmd.Context(), opened.usage, c, q)
			})
		},
	}
	f.registerPlace(cmd)
	f.tenantFlag(cmd)
	cmd.Flags().StringVar(&f.since, "since", "", "the first `day`, such as 2026-11-01 (default: the oldest day on record)")
	cmd.Flags().StringVar(&f.until, "until", "", "the first `day` after the period (default: tomorrow)")
	return cmd
}

func (f *usageFlags) query() (q metering.Query, err error) {
	for _, flag := range []struct {
		name, text string
		to         *time.Time
	}{{"--since", f.since, &q.Since}, {"--until", f.until, &q.Until}} {
		if flag.text == "" {
			continue
		}
		if *flag.to, err = time.Parse(time.DateOnly, flag.text); err != nil {
			return q, usagef("use the format 2006-01-02", "%s %q is not a day", flag.name, flag.text)
		}
	}
	if !q.Until.IsZero() && !q.Since.Before(q.Until) {
		return q, usagef("set --until to a later day than --since", "--since %s is not before --until %s", f.since, f.until)
	}
	return q, nil
}

// maxUsage is the maximum number of apps whose usage a server returns in a page.
const maxUsage = 100

func (uc usageCommand) show(ctx context.Context, u usageBackend, c host.Caller, q metering.Query) error {
	all := []metering.Usage{}
	for {
		found, next, err := u.List(ctx, c, q)
		if err != nil {
			return err
		}
		if all = append(all, found...); next == "" {
			break
		}
		q.After = next
	}
	return uc.out.answer(all, func() error {
		rows := make([][]string, len(all))
		for i, u := range all {
			rows[i] = []string{
				u.Tenant, u.App, fmt.Sprint(u.Runs), fmt.Sprint(u.Failed), fmt.Sprint(u.Repeated), fmt.Sprint(u.Refused), fmt.Sprint(u.NotStarted),
				fmt.Sprintf("%.3fs", u.CPUMS/1000), fmt.Sprint(u.InputTokens + u.OutputTokens), fmt.Sprint(u.StoredBytes), fmt.Sprint(u.StoredRecords),
			}
		}
		return uc.out.table([]string{"TENANT", "APP", "RUNS", "FAILED", "REPEATED", "REFUSED", "NOT STARTED", "CPU", "TOKENS", "BYTES", "RECORDS"}, rows)
	})
}
