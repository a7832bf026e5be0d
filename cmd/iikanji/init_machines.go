package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/fleet"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/discover"
	"github.com/iikanji/iikanji/internal/site/target"
)

// thisMachine names the machine on which the command runs, among machines of a site.
const thisMachine = "local"

// machines divides the arguments of init: the site's URL, and its machines in their order.
func (c *initCmd) machines() (url string, hosts []target.Host, err error) {
	for _, word := range c.Where {
		switch {
		case word == thisMachine:
			name, err := os.Hostname()
			if err != nil {
				return "", nil, fmt.Errorf("asking this machine's name: %w", err)
			}
			hosts = append(hosts, target.Host{Name: plainWord(name)})
		case strings.HasPrefix(word, "ssh://"):
			a, err := target.ParseSSH(word)
			if err != nil {
				return "", nil, usageError("%v", err)
			}
			hosts = append(hosts, target.Host{Name: plainWord(a.Name), Address: word})
		case url == "":
			if !isSiteURL(word) {
				return "", nil, &exitError{Status: exitUsage, Err: fmt.Errorf("%q is not the address of a site: want http://HOST[:PORT] or https://HOST[:PORT]", word),
					Hints: []string{"iikanji init http://127.0.0.1:8080; a machine is written ssh://NAME"}}
			}
			url = word
		default:
			return "", nil, usageError("%q and %q are two addresses of the site; a machine is written ssh://NAME", url, word)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Via)) {
		hosts = append(hosts, target.Host{Name: name, Via: strings.Fields(c.Via[name])})
	}
	return url, hosts, nil
}

// isSiteURL reports whether a word is the address of a site.
func isSiteURL(word string) bool {
	u, err := url.Parse(word)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return false
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return u.Port() == "" || err == nil && port > 0
}

// several asks machines that are reached from here.
func (c *initCmd) several(ctx context.Context, e *env, path, url string, hosts []target.Host) (*discover.Site, error) {
	f := &target.File{Path: path, Hosts: hosts}
	progress := report.NewProgress(e.Stderr, e.TTY, e.width, e.Now)
	defer progress.Done()
	progress.Say("reaching %d machines", len(hosts))
	machines, err := fleet.Open(ctx, f, fleet.Options{AcceptNew: c.AcceptNew, Ask: askSecret(e)})
	if err != nil {
		return nil, err
	}
	site, err := c.askAll(ctx, machines, f, url)
	return site, errors.Join(err, machines.Close())
}

func (c *initCmd) askAll(ctx context.Context, machines *fleet.Fleet, f *target.File, url string) (*discover.Site, error) {
	down := machines.Down()
	for _, name := range machines.Names() { // the first in order, with its own hints
		if err := down[name]; err != nil {
			return nil, fmt.Errorf("machine %s: %w", name, err)
		}
	}
	mine, err := fleet.IdentityOf(host.Local{})
	if err != nil {
		return nil, err
	}
	var places []discover.Place
	for _, h := range f.Hosts {
		p := discover.Place{As: h, Host: host.Local{}}
		if m := machines.Member(h.Name); m != nil && m.Identity() != mine {
			p.Host = m
			p.As.Name = spoken(h.Name, plainWord(m.Hostname()), places)
		} else if m != nil { // its address is this machine's
			p.As.Address, p.As.Via = "", nil
		}
		places = append(places, p)
	}
	return discover.AskAll(ctx, places, discover.Options{URL: url, Bench: c.Bench, Dir: c.Into, Self: os.Getpid(), Policy: c.Policy})
}

// spoken is the name of a machine for people: its own where it was given by its address.
func spoken(given, own string, others []discover.Place) string {
	taken := slices.ContainsFunc(others, func(p discover.Place) bool { return p.As.Name == own })
	if _, err := netip.ParseAddr(given); err != nil || own == "" || taken {
		return given
	}
	return own
}

// askSecret asks a person at the terminal for a passphrase; nil where there is none.
func askSecret(e *env) func(prompt string) (string, error) {
	in, ok := e.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil
	}
	var one sync.Mutex
	return func(prompt string) (string, error) {
		one.Lock()
		defer one.Unlock()
		if _, err := io.WriteString(e.Stderr, prompt); err != nil {
			return "", err
		}
		secret, err := term.ReadPassword(int(in.Fd()))
		_, werr := io.WriteString(e.Stderr, "\n")
		return string(secret), errors.Join(err, werr)
	}
}

// printSite shows the machines of a site, a line each, and what is to do.
func (c *initCmd) printSite(e *env, site *discover.Site, path string) error {
	out := &output{w: e.Stdout}
	out.limits(site.Limits, e.Cols)
	names, addresses, services := 0, 0, 0
	for _, m := range site.Machines {
		names, addresses = max(names, len(m.Name)), max(addresses, len(m.Address))
		services += len(m.Services)
	}
	spares := 0
	for _, m := range site.Machines {
		spares += len(m.Spares)
		out.line("%-*s  %-*s  %s  %s  %s", names, m.Name, addresses, m.Address, report.Number(m.Cores, "core"), iikanji.Bytes(m.Memory), machineLine(site, m))
	}
	if len(site.Machines) > 1 {
		out.line("%s", pathsLine(site))
	}
	for line := range strings.Lines(keptLine(site)) {
		out.line("%s", strings.TrimSuffix(line, "\n"))
	}
	out.line("wrote %s: %s, %s, %s", filepath.Base(path), report.Number(len(site.Machines), "machine"), report.Number(len(site.File.Services), "service"), report.Number(spares, "spare"))
	for _, f := range site.Findings {
		if f.Service == "" {
			out.line("%s: %s", report.Clean(f.What), report.Clean(f.How))
		}
	}
	for _, todo := range site.Todo {
		out.line("to do: %s", report.Clean(todo))
	}
	out.line("then: iikanji doctor %s", targetName(path))
	return out.err
}

// machineLine is what runs on a machine, and what is installed there only.
func machineLine(site *discover.Site, m discover.MachineFound) string {
	var parts []string
	if len(m.Services) > 0 {
		parts = append(parts, strings.Join(m.Services, " "))
	}
	if len(m.Spares) > 0 {
		text := "spare: " + strings.Join(m.Spares, " ")
		if len(m.Twins) == len(m.Spares) {
			text += "  (twins)"
		} else if len(m.Twins) > 0 {
			text += "  (twins: " + strings.Join(m.Twins, " ") + ")"
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		parts = append(parts, "nothing of the site")
	}
	if m.Front {
		parts = append(parts, "answers "+site.File.URL)
	}
	return report.Clean(strings.Join(parts, "  "))
}

// pathsLine is how the machines reach each other.
func pathsLine(site *discover.Site) string {
	text := fmt.Sprintf("round trips %.2f–%.2f ms", site.Least.Seconds()*1e3, site.Most.Seconds()*1e3)
	var reaches []string
	for _, r := range site.Reaches {
		reaches = append(reaches, fmt.Sprintf("%d %s", r.Port, reachWords(r)))
	}
	if len(reaches) > 0 {
		text += "; reachable: " + strings.Join(reaches, ", ")
	}
	return text
}

// reachWords say whether other machines reach a port, and if not, why.
func reachWords(r discover.PortReach) string {
	switch r.State {
	case discover.ReachOpen:
		return "yes"
	case discover.ReachRefused:
		if a, err := netip.ParseAddrPort(r.Listens); err == nil && a.Addr().IsLoopback() {
			return fmt.Sprintf("no (%s listens on %s)", r.Service, a.Addr())
		}
		return "no (refused)"
	case discover.ReachSilent:
		return "no (no answer: a firewall or a security group)"
	}
	return "no (" + report.Clean(r.State) + ")"
}

// keptLine names units that stay as they are, and those that would race for a port.
func keptLine(site *discover.Site) string {
	var b strings.Builder
	if len(site.Keep) > 0 {
		fmt.Fprintf(&b, "kept as they are: %s\n", report.Clean(strings.Join(site.Keep, ", ")))
	}
	seen := map[string]bool{}
	for _, r := range site.Races {
		if !seen[r.Unit] {
			fmt.Fprintf(&b, "%s is enabled too and would race for port %d at a boot (BOOT103)\n", report.Clean(r.Unit), r.Port)
		}
		seen[r.Unit] = true
	}
	return b.String()
}
