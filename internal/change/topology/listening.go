package topology

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/settings"
)

// everywhere is the address at which an app listens for all hosts.
const everywhere = "0.0.0.0"

// listensThere has an instance listen for other hosts, where the app on its own host listens at
// a loopback address only: by the variable that decides its address. A variable that the user
// gave for it stays.
func (s *spread) listensThere(i *instance, variables map[string]string) error {
	if name, _, err := net.SplitHostPort(s.svc.Address); err != nil || !loopback(name) || s.reachesHome(i) {
		return err
	}
	for _, value := range s.args.Variables {
		if name, _, err := net.SplitHostPort(value); err == nil && !loopback(name) && strings.HasSuffix(value, ":"+s.port) || value == everywhere || value == i.address {
			return nil
		}
	}
	has := s.site.Services[s.svc.Name]
	files, err := sourceFiles(s.home, cmp.Or(has.Source, has.SourceThere))
	if err != nil {
		return err
	}
	env, err := s.environment(&client{svc: s.svc, on: s.home})
	if err != nil {
		return err
	}
	name, value := listenVariable(files, env, s.port, variables)
	if name == "" {
		return fmt.Errorf("%s listens at %s only, which the front does not reach on %s, and no variable of its source decides that: have it listen on all addresses, or give env.NAME=%s:%s",
			s.svc.Name, s.svc.Address, i.name, everywhere, s.port)
	}
	variables[name] = value
	return nil
}

// reachesHome reports whether an instance's host reaches the app on its own host: it listens for
// others then, whatever the file of the site has.
func (s *spread) reachesHome(i *instance) bool {
	private := s.site.Target.PrivateOf(s.svc.Host)
	if private == "" {
		return false
	}
	conn, err := i.on.Dial(s.ctx, "tcp", net.JoinHostPort(private, s.port))
	if err != nil {
		return false
	}
	conn.Close() // nothing was written
	return true
}

// loopback reports whether an address is reached on its own host only.
func loopback(name string) bool {
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.IsLoopback()
}

var (
	// listenCall is a call that begins to listen, and listenName a variable named for it.
	listenCall = regexp.MustCompile(`(?i)\b(?:listen\w*|serve\w*|start|run|bind)\s*\(|\baddr\s*[:=]`)
	listenName = regexp.MustCompile(`(?i)^(?:.*_)?(?:listen|bind|server|http|web|app)(?:_.*)?$`)
)

// listenVariable is the variable that decides where an app listens, with its value for all
// hosts; "" where none or several may. taken are variables that decide something else.
func listenVariable(files []settings.File, env map[string]string, port string, taken map[string]string) (name, value string) {
	wide := map[string]string{}
	for _, n := range slices.Sorted(maps.Keys(env)) {
		v := env[n]
		if taken[n] != "" {
			continue
		}
		if h, p, err := net.SplitHostPort(v); err == nil && loopback(h) && p == port {
			wide[n] = net.JoinHostPort(everywhere, port)
		} else if loopback(v) && (listensBy(files, n) || listenName.MatchString(n)) && hasName(files, n) {
			wide[n] = everywhere
		}
	}
	if len(wide) == 0 { // one that is not set, beside what the source has instead
		unset := regexp.MustCompile(`["'\x60]([A-Z][A-Z0-9_]{2,})["'\x60]\]?\s*[,)|?:]{1,3}.{0,12}?["'\x60](?:localhost|127\.0\.0\.1):` + regexp.QuoteMeta(port) + `["'\x60]`)
		for _, f := range files {
			for _, m := range unset.FindAllStringSubmatch(f.Text, -1) {
				if taken[m[1]] == "" && env[m[1]] == "" {
					wide[m[1]] = net.JoinHostPort(everywhere, port)
				}
			}
		}
	}
	if len(wide) != 1 {
		return "", ""
	}
	for name, value = range wide {
	}
	return name, value
}

// listensBy reports whether the source has a variable in a line that begins to listen.
func listensBy(files []settings.File, name string) bool {
	word := asWord(name)
	return slices.ContainsFunc(files, func(f settings.File) bool {
		for line := range strings.Lines(f.Text) {
			if word.MatchString(line) && listenCall.MatchString(line) {
				return true
			}
		}
		return false
	})
}

// hasName reports whether the source has a variable at all.
func hasName(files []settings.File, name string) bool {
	word := asWord(name)
	return slices.ContainsFunc(files, func(f settings.File) bool { return word.MatchString(f.Text) })
}

// asWord matches a variable's name as a word.
func asWord(name string) *regexp.Regexp {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
}
