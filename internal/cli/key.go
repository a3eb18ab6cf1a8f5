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

// keyCommands implements the commands that manage a file of API keys.
type keyCommands struct{ baseCommand }

func (kc keyCommands) command() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "key",
		Short: "Create, list and revoke the API keys of a server",
		Example: `  toolrun key create --keys keys.json --role runtime backend
  toolrun key list --keys keys.json
  toolrun key revoke --keys keys.json 7fq2k4m3xa`,
	})
	cmd.AddCommand(kc.create(), kc.list(), kc.revoke())
	return cmd
}

// keysFlag registers the flag --keys.
func keysFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "keys", "", "the key `file`, which contains only hashes; a running server reloads it when it changes")
	_ = cmd.MarkFlagFilename("keys", "json") // an error is possible only if the flag does not exist
}

// keyFlags contains the flags that describe the new key.
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
		Short: "Create a key and print its secret, which is shown only once",
		Long: `Create a key and print its secret, which is shown only once. The key file contains only a hash of the
key. If the key file does not exist, the command creates it. NAME identifies the key in logs and listings. The roles
have the following permissions:

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
	cmd.Flags().StringVar(&f.role, "role", "", "the role of the key: `"+auth.KeyRoleList()+"`")
	cmd.Flags().StringArrayVar(&f.grant.Apps, "app", nil, "the `id` of an app that the key may use; may be repeated (default: all apps of the tenant)")
	cmd.Flags().BoolVar(&f.grant.Code, "code", false, "allow a runtime key to run code that is sent with a request")
	cmd.Flags().StringVar(&f.expires, "expires", "", "the time for which the key is valid, such as `90d` or 12h (default: until it is revoked)")
	return cmd
}

// roles prints the permissions of each role from auth.Table.
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

// complete sets the remaining fields of the grant from the flags.
func (f *keyFlags) complete(now time.Time) error {
	if f.role == "" {
		return usagef("add --role with "+auth.KeyRoleList(), "the key has no role")
	}
	f.grant.Role, f.grant.Tenant = auth.Role(f.role), f.tenant
	if f.expires == "" {
		return nil
	}
	good, err := declare.ParseRetention(f.expires)
	if err != nil || good.For == 0 {
		return usagef("use a number and a unit, such as 90d or 12h", "--expires %q is not a duration", f.expires)
	}
	f.grant.Expires = now.Add(good.For).Truncate(time.Second)
	return nil
}

// createdKey describes a new key and contains the secret of the key. The key file does not contain
// the secret.
type createdKey struct {
	auth.Key
	Secret string `json:"secret"`
}

func (kc keyCommands) createKey(f keyFlags) error {
	if err := f.grant.Check(kc.env.Now()); err != nil { // check the grant before creating the file
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
		kc.out.note(dim, "", "created the key "+key.ID+"; its secret is not shown again")
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
		Short:   "Revoke a key, so that servers reject the key within a second",
		Example: `  toolrun key revoke --keys keys.json 7fq2k4m3xa`,
		Args:    takes(1, 1, "the id of a KEY"),
		RunE: func(_ *cobra.Command, args []string) error {
			keys, err := kc.open(file, auth.OpenKeys)
			if err != nil {
				return err
			}
			err = keys.Revoke(args[0])
			if errors.Is(err, abi.NotFound) {
				return abi.FaultOf(err).WithHint("list the IDs with `toolrun key list`")
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

// open opens the key file that a command specifies.
func (kc keyCommands) open(written string, open func(string) (*auth.Keys, error)) (*auth.Keys, error) {
	if written == "" {
		return nil, usagef("add --keys FILE", "the command requires a key file")
	}
	keys, err := open(kc.env.path(written))
	if err != nil {
		return nil, keysFault(written, err)
	}
	keys.Now, keys.Logger = kc.env.Now, kc.out.logger()
	return keys, nil
}

func keysFault(written string, err error) error {
	f := abi.Faultf(abi.Unavailable, "cannot use the key file %s: %v", written, err)
	if errors.Is(err, fs.ErrNotExist) {
		return f.WithHint("create the file with `toolrun key create`; the folder of the file must exist")
	}
	return f
}
