package discover

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// An AmbiguousError is a machine on which several web servers run, or none.
type AmbiguousError struct{ URLs []string }

func (e *AmbiguousError) Error() string {
	if len(e.URLs) == 0 {
		return "no web server listens on this machine"
	}
	return fmt.Sprintf("%d web servers listen on this machine: %s", len(e.URLs), strings.Join(e.URLs, ", "))
}

// Hints tells what to give.
func (e *AmbiguousError) Hints() []string {
	if len(e.URLs) == 0 {
		return []string{"start the site, and give its address, as in iikanji init http://127.0.0.1:8080; as another user than the site's, run iikanji as root"}
	}
	return []string{"give the address of the site, as in iikanji init " + e.URLs[0]}
}

// Ask asks the machine.
func Ask(ctx context.Context, h host.Host, o Options) (*Found, error) {
	s, err := begin(h, o)
	if err != nil {
		return nil, err
	}
	if err := s.fromFront(ctx); err != nil {
		return nil, err
	}
	if err := s.follow(ctx); err != nil {
		return nil, err
	}
	s.withoutDatabase()
	var folders []string
	for _, folder := range s.out.File.Policy.Folders {
		if folder = s.granted(folder); !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	s.out.File.Policy.Folders = folders
	for _, svc := range s.order {
		s.out.File.Services = append(s.out.File.Services, svc.Service)
	}
	s.finish(ctx)
	s.out.Limits = append(s.out.Limits, s.out.File.Limits()...)
	return s.out, nil
}

// begin reads what runs on a machine.
func begin(h host.Host, o Options) (*search, error) {
	m, err := process.ReadMachine(h)
	if err != nil {
		return nil, err
	}
	return &search{Options: o, host: h, m: m, byPID: map[int]*service{}, out: newFound()}, nil
}

func newFound() *Found {
	return &Found{File: &target.File{Version: target.Version}, Notes: map[string]string{}, Findings: []Finding{}, Limits: []target.Limit{}, Todo: []string{}}
}

// fromFront begins at the site's URL.
func (s *search) fromFront(ctx context.Context) error {
	front, address, err := s.front()
	if err != nil {
		return err
	}
	s.out.File.URL = s.URL
	if s.web(ctx, front, address) == nil && s.otherWeb(front, address) == nil {
		s.app(front, address)
	}
	s.knownName(ctx, address)
	if len(s.others) > 0 {
		s.todo("the web server also listens at %s: check url", strings.Join(s.others, ", "))
	}
	return nil
}

// lookupWait limits the question for the addresses of the site's name.
const lookupWait = 2 * time.Second

// LookUp returns an error for a name that leads to no address on this machine.
func LookUp(ctx context.Context, name string) error {
	if net.ParseIP(name) != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupWait)
	defer cancel()
	_, err := net.DefaultResolver.LookupHost(ctx, name)
	return err
}

// knownName asks for an entry in /etc/hosts where the name of the site leads nowhere: the
// benchmarker gets the name. address is where the site was found.
func (s *search) knownName(ctx context.Context, address string) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Hostname() == "" || LookUp(ctx, u.Hostname()) == nil {
		return
	}
	ip, _, err := net.SplitHostPort(target.Reachable(address))
	if err != nil {
		ip = "127.0.0.1"
	}
	s.todo("the name %s is not known on this machine, and the benchmarker gets it in IIKANJI_URL: write the line \"%s %s\" into /etc/hosts, or another address into bench.command", u.Hostname(), ip, u.Hostname())
}

// follow finds what the services that are known use, and describes all of them.
func (s *search) follow(ctx context.Context) error {
	for i := 0; i < len(s.order); i++ { // the list grows
		if s.order[i].Role == iikanji.RoleApp {
			s.needs(s.order[i])
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	s.jobs()
	s.loops()
	for _, svc := range s.order {
		s.source(svc)
		s.workers(svc)
		s.output(svc)
	}
	for _, svc := range s.order {
		switch {
		case svc.Engine.MySQLFamily():
			s.database(ctx, svc)
		case svc.Engine == target.EnginePostgreSQL:
			svc.Logs.Slow = s.ownLog(svc.proc.PID, isStatementLog)
		}
	}
	s.questions()
	s.sqliteFiles()
	return nil
}

// front finds the process at the site's URL.
func (s *search) front() (*process.Process, string, error) {
	if s.URL == "" {
		return s.onlyFront()
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" {
		return nil, "", fmt.Errorf("%q is not a URL", s.URL)
	}
	s.URL = u.Scheme + "://" + u.Host
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	address := net.JoinHostPort(u.Hostname(), port)
	p := s.m.Owner(address)
	if p == nil && net.ParseIP(u.Hostname()) == nil { // a name of this machine
		p = s.m.Owner(net.JoinHostPort("", port))
	}
	if p == nil {
		return nil, "", &NobodyError{address}
	}
	return p, address, nil
}

// A NobodyError is an address at which no process of this machine can be seen.
type NobodyError struct{ Address string }

func (e *NobodyError) Error() string {
	return "no process that can be seen here listens at " + e.Address
}

// Hints tells what to do.
func (e *NobodyError) Hints() []string {
	return []string{"start the site; as another user than the site's, run iikanji as root; a site on another machine is tuned there"}
}

// onlyFront finds the only web server of the machine: an nginx, or where none runs, another
// one.
func (s *search) onlyFront() (*process.Process, string, error) {
	fronts, urls := s.fronts(isNginx)
	if len(fronts) == 0 {
		fronts, urls = s.fronts(isOtherWeb)
	}
	if len(fronts) != 1 {
		e := &AmbiguousError{}
		for _, p := range fronts {
			slices.Sort(urls[p])
			e.URLs = append(e.URLs, urls[p][0])
		}
		slices.Sort(e.URLs)
		return nil, "", e
	}
	all := urls[fronts[0]]
	slices.SortFunc(all, func(a, b string) int { return len(a) - len(b) }) // port 80 first
	s.URL = all[0]
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, "", err
	}
	s.others = slices.Compact(all)[1:]
	address := u.Host
	if u.Port() == "" {
		address += ":80"
	}
	return fronts[0], address, nil
}

// fronts are the processes of a kind that listen, and the URLs of each.
func (s *search) fronts(kind func(*process.Process) bool) (fronts []*process.Process, urls map[*process.Process][]string) {
	urls = map[*process.Process][]string{}
	for _, l := range s.m.Listens {
		if l.Path != "" || len(l.PIDs) == 0 {
			continue
		}
		p := s.m.Owner(l.Address.String())
		if p == nil || !kind(p) {
			continue
		}
		if urls[p] == nil {
			fronts = append(fronts, p)
		}
		urls[p] = append(urls[p], loopbackURL(l.Address))
	}
	return fronts, urls
}

func isNginx(p *process.Process) bool {
	return slices.Contains([]string{"nginx", "openresty", "angie", "tengine"}, filepath.Base(p.Program)) || strings.HasPrefix(p.Command(), "nginx: master process ")
}
