package main

import (
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
)

// appFlag is the flag for the app of an arena. chooseApp replaces it before the command
// line is parsed.
type appFlag struct {
	TLS overTLS `name:"tls" help:"The arena over HTTPS and HTTP/2, as its contest was, if it has that: isucondition --tls is the target isucondition-tls."`
	App appName `help:"App of an arena with several, as in isuports --app ruby, which is the target isuports-ruby." placeholder:"NAME"`
}

// appName is the value of --app. One that reaches the parser belongs to no arena.
type appName string

// Validate refuses the flag.
func (appName) Validate() error {
	return usageError("no arena is named; those with several apps are: %s", strings.Join(withApps(), ", "))
}

// overTLS is the value of --tls. One that reaches the parser belongs to no arena.
type overTLS bool

// Validate refuses the flag.
func (on overTLS) Validate() error {
	if !on {
		return nil
	}
	return usageError("--tls: no arena is named; those over TLS are: %s", strings.Join(withTLS(), ", "))
}

// withTLS lists the arenas that run over TLS, too.
func withTLS() (out []string) {
	for _, name := range arena.Names() {
		if _, ok := arena.TLSName(name); ok {
			out = append(out, name)
		}
	}
	return out
}

// chooseTLS replaces an arena's name and --tls by the name of the arena over TLS.
func chooseTLS(args []string) ([]string, error) {
	at := slices.IndexFunc(args, func(arg string) bool { _, ok := arena.Find(arg); return ok })
	end := slices.Index(args, "--")
	flag := slices.Index(args, "--tls")
	if at < 0 || flag < 0 || end >= 0 && flag > end {
		return args, nil
	}
	name, ok := arena.TLSName(args[at])
	if !ok {
		return nil, usageError("arena %s does not run over TLS; those that do are: %s", args[at], strings.Join(withTLS(), ", "))
	}
	out := slices.Clone(args)
	out[at] = name
	return slices.Delete(out, flag, flag+1), nil
}

// chooseApp replaces an arena's name and --app NAME by the name of the arena's variant
// with this app, as in isuports --app ruby by isuports-ruby. The arena's own app has the
// name of its engine, as in go.
func chooseApp(args []string) ([]string, error) {
	args, err := chooseTLS(args)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(args, func(arg string) bool { _, ok := arena.Find(arg); return ok })
	if at < 0 {
		return args, nil
	}
	flag, name, length := findAppFlag(args)
	if flag < 0 {
		return args, nil
	}
	if name == "" {
		return nil, usageError("--app: want the name of an app, as in ruby")
	}
	chosen, err := arenaWithApp(args[at], name)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(args)
	out[at] = chosen
	return slices.Delete(out, flag, flag+length), nil
}

// findAppFlag returns the place of --app among the arguments, its value, and the number
// of arguments that it takes; place -1 if it is not there.
func findAppFlag(args []string) (at int, name string, length int) {
	for i, arg := range args {
		switch value, ok := strings.CutPrefix(arg, "--app="); {
		case arg == "--":
			return -1, "", 0
		case ok:
			return i, value, 1
		case arg == "--app" && i+1 < len(args):
			return i, args[i+1], 2
		case arg == "--app":
			return i, "", 1
		}
	}
	return -1, "", 0
}

// arenaWithApp returns the name of an arena with one of its apps.
func arenaWithApp(name, app string) (string, error) {
	for _, family := range families() {
		if !slices.Contains(family.targets, name) {
			continue
		}
		if i := slices.Index(family.apps, app); i >= 0 {
			return family.targets[i], nil
		}
		return "", usageError("arena %s has no app %q; its apps are: %s", family.targets[0], app, strings.Join(family.apps, ", "))
	}
	return "", usageError("arena %s has one app only; those with several apps are: %s", name, strings.Join(withApps(), ", "))
}

// A family is an arena with several apps. The first app and the first target are those
// of the arena itself.
type family struct{ targets, apps []string }

// families returns the arenas with several apps.
func families() (out []family) {
	for _, name := range arena.Names() {
		a, _ := arena.Find(name)
		if len(a.Variants) == 0 {
			continue
		}
		f := family{a.Targets(), []string{ownApp(a)}}
		for _, v := range a.Variants {
			f.apps = append(f.apps, v.Name)
		}
		out = append(out, f)
	}
	return out
}

// ownApp is the engine of the app that the variants of an arena replace.
func ownApp(a *arena.Arena) string {
	for _, v := range a.Variants {
		for _, s := range v.Services {
			if own := a.Service(s.Name); own != nil && own.Role == iikanji.RoleApp {
				return string(own.Engine)
			}
		}
	}
	return ""
}

// withApps lists the arenas with several apps, as in isuports (go, ruby).
func withApps() (out []string) {
	for _, f := range families() {
		out = append(out, f.targets[0]+" ("+strings.Join(f.apps, ", ")+")")
	}
	return out
}
