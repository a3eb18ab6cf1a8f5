package cli

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/server/auth"
)

// keyCommands are the commands on a file of API keys.
type keyCommands struct{ baseCommand }

func (kc keyCommands) command() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "key",
		Short: "Make, list and revoke the API keys of a server",
		Example: `  toolrun key create --keys keys.json --role runtime backend
  toolrun key list --keys keys.json
  toolrun key revoke --keys keys.json 7fq2k4m3xa`,
	})
	cmd.AddCommand(kc.create(), kc.list(), kc.revoke())
	return cmd
}

// keysFlag is the flag --keys.
func keysFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "keys", "", "the key `file`, which holds hashes alone; a server takes up changes by itself")
	_ = cmd.MarkFlagFilename("keys", "json") // fails only for a flag that does not exist
}

// keyFlags say what a key is for.
type keyFlags struct {
	callerFlags
	file    string
	role    string
	expires string
	grant   auth.Grant
}

func (kc keyCommands) create() *cobra.Command {
	var f keyFlags
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a key and print its secret, which is shown this once",
		Long: `Make a key and print its secret, which is shown this once. The file keeps a hash of it, and is made where there
is none. The name says in logs and lists who has the key. What a role may do:

` + roles(),
		Example: `  toolrun key create --keys keys.json --role runtime backend
  toolrun key create --keys keys.json --role read-only --tenant acme --app shop --expires 90d dashboard`,
		Args: takes(1, 1, "a NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			f.grant.Name = args[0]
			if err := f.complete(kc.env.Now()); err != nil {
				return err
			}
			return kc.createKey(f)
		},
	}
	keysFlag(cmd, &f.file)
	f.tenantFlag(cmd)
	cmd.Flags().StringVar(&f.role, "role", "", "what the key may do: `"+auth.KeyRoleList()+"`")
	cmd.Flags().StringArrayVar(&f.grant.Apps, "app", nil, "an app, by its `id`, that the key is for; may be repeated (default: all of the tenant's)")
	cmd.Flags().BoolVar(&f.grant.Code, "code", false, "let a runtime key run code that comes with the request")
	cmd.Flags().StringVar(&f.expires, "expires", "", "how long the key is good, such as `90d` or 12h (default: until it is revoked)")
	return cmd
}

// roles says what keys may do, from the table of package access.
func roles() string {
	var b strings.Builder
	for _, role := range auth.KeyRoles() {
		var rights []string
		for _, rule := range auth.Table {
			if (auth.Principal{Role: role}).Allows(rule.Permission) {
				rights = append(rights, strings.ReplaceAll(string(rule.Permission), "_", " "))
			}
		}
		b.WriteString("  " + string(role) + ": " + strings.Join(rights, ", ") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// complete makes a grant of the flags.
func (f *keyFlags) complete(now time.Time) error {
	if f.role == "" {
		return usagef("add --role with "+auth.KeyRoleList(), "a key needs a role")
	}
	f.grant.Role, f.grant.Tenant = auth.Role(f.role), f.tenant
	if f.expires == "" {
		return nil
	}
	good, err := declare.ParseRetention(f.expires)
	if err != nil || good.For == 0 {
		return usagef("write a count and a unit, such as 90d or 12h", "--expires %q is not a time", f.expires)
	}
	f.grant.Expires = now.Add(good.For).Truncate(time.Second)
	return nil
}

// createdKey is a key with what nobody can see again.
type createdKey struct {
	auth.Key
	Secret string `json:"secret"`
}

func (kc keyCommands) createKey(f keyFlags) error {
	if err := f.grant.Check(kc.env.Now()); err != nil { // before the file is made
		return &usageError{abi.FaultOf(err)}
	}
	keys, err := kc.open(f.file, auth.CreateKeys)
	if err != nil {
		return err
	}
	secret, key, err := keys.Create(f.grant)
	if errors.Is(err, abi.InvalidArgument) {
		return &usageError{abi.FaultOf(err)}
	}
	if err != nil {
		return keysFault(f.file, err)
	}
	return kc.out.answer(createdKey{key, secret}, func() error {
		kc.out.note(dim, "", "made the key "+key.ID+"; its secret is not shown again")
		return kc.out.say("%s", secret)
	})
}

func (kc keyCommands) list() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the keys of a file, without their secrets",
		Example: `  toolrun key list --keys keys.json --json`,
		Args:    takes(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			keys, err := kc.open(file, auth.OpenKeys)
			if err != nil {
				return err
			}
			list := keys.List()
			return kc.out.answer(list, func() error { return kc.printKeys(list) })
		},
	}
	keysFlag(cmd, &file)
	return cmd
}

func (kc keyCommands) printKeys(keys []auth.Key) error {
	rows := make([][]string, len(keys))
	for i, k := range keys {
		role, apps, expires := string(k.Role), strings.Join(k.Apps, ","), when(&k.Expires)
		if k.Code {
			role += "+code"
		}
		if apps == "" {
			apps = "all"
		}
		if expires == "" {
			expires = "never"
		}
		rows[i] = []string{k.ID, k.Name, role, k.Tenant, apps, when(&k.Created), expires}
	}
	return kc.out.table([]string{"KEY", "NAME", "ROLE", "TENANT", "APPS", "CREATED", "EXPIRES"}, rows)
}

func (kc keyCommands) revoke() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:     "revoke KEY",
		Short:   "Revoke a key: servers refuse it within a second",
		Example: `  toolrun key revoke --keys keys.json 7fq2k4m3xa`,
		Args:    takes(1, 1, "the id of a KEY"),
		RunE: func(_ *cobra.Command, args []string) error {
			keys, err := kc.open(file, auth.OpenKeys)
			if err != nil {
				return err
			}
			err = keys.Revoke(args[0])
			if errors.Is(err, abi.NotFound) {
				return abi.FaultOf(err).WithHint("toolrun key list shows the ids")
			}
			if err != nil {
				return keysFault(file, err)
			}
			return kc.out.answer(map[string]string{"revoked": args[0]}, func() error { return kc.out.say("revoked %s", args[0]) })
		},
	}
	keysFlag(cmd, &file)
	return cmd
}

// open opens the key file that a command is about.
func (kc keyCommands) open(written string, open func(string) (*auth.Keys, error)) (*auth.Keys, error) {
	if written == "" {
		return nil, usagef("add --keys FILE", "the command needs a key file")
	}
	keys, err := open(kc.env.path(written))
	if err != nil {
		return nil, keysFault(written, err)
	}
	keys.Now, keys.Logger = kc.env.Now, kc.out.logger()
	return keys, nil
}

func keysFault(written string, err error) error {
	f := abi.Faultf(abi.Unavailable, "the key file %s cannot be used: %v", written, err)
	if errors.Is(err, fs.ErrNotExist) {
		return f.WithHint("toolrun key create makes it, in a folder that there is")
	}
	return f
}
