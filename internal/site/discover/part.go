package discover

import (
	"context"
	"net"
	"net/netip"
	"os"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A Need is an address that a service uses and at which no process of its machine listens.
type Need struct {
	Address string // IP:PORT
	Name    string // the host as the service names it
	Service string // that uses it
	How     string // by which evidence
	Schema  string // of a database, "" if unknown
}

// A Question is what is looked for on one machine of a site.
type Question struct {
	// Front: the search begins at the site's URL, "" for that of the only web server.
	Front bool
	URL   string
	// Needs are addresses of this machine at which it begins otherwise.
	Needs []Need
}

// A Part is what was found on one machine of a site.
type Part struct {
	URL      string
	Services []target.Service
	Folders  []string // in which files may be written
	Findings []Finding
	Todo     []string
	Needs    []Need   // on other machines
	Nobody   []string // addresses of Question.Needs at which no process listens
}

// ask carries a Question out where the machine's files are.
func ask(ctx context.Context, h host.Host, q Question) (Part, error) {
	s, err := begin(h, Options{URL: q.URL, Self: os.Getpid(), Several: true})
	if err != nil {
		return Part{}, err
	}
	var out Part
	if q.Front {
		if err := s.fromFront(ctx); err != nil {
			return Part{}, err
		}
	}
	for _, need := range q.Needs {
		if !s.at(ctx, need) {
			out.Nobody = append(out.Nobody, need.Address)
		}
	}
	if err := s.follow(ctx); err != nil {
		return Part{}, err
	}
	for _, svc := range s.order {
		out.Services = append(out.Services, svc.Service)
		for _, d := range svc.dsns {
			for i := range s.away {
				if s.away[i].Schema == "" && s.away[i].is(d.address) {
					s.away[i].Schema = d.schema
				}
			}
		}
	}
	out.URL, out.Folders, out.Findings, out.Todo, out.Needs = s.out.File.URL, s.out.File.Policy.Folders, s.out.Findings, s.out.Todo, s.away
	return out, nil
}

// at makes a service of the process at an address that services of other machines use.
func (s *search) at(ctx context.Context, need Need) bool {
	p := s.m.Owner(need.Address)
	if p == nil {
		return false
	}
	how := "service " + need.Service + " uses it from another machine: " + need.How
	if data, ok := dataEngines[p.Name]; ok {
		if s.byPID[p.PID] == nil {
			in := s.add(p, data.role, data.engine, string(data.engine))
			s.listens(in, need.Address)
			in.Database.Schema = need.Schema
			s.note(in, string(in.Engine)+" at "+need.Address, Sure, "%s", how)
		}
		return true
	}
	if s.web(ctx, p, need.Address) == nil {
		s.note(s.app(p, need.Address), "used by "+need.Service, Likely, "%s", how)
	}
	return true
}

// elsewhere notes an address that no process of this machine listens at, unless it is of
// this machine alone.
func (s *search) elsewhere(svc *service, address, how string) bool {
	name, port, err := net.SplitHostPort(address)
	if !s.Several || err != nil || name == "" {
		return false
	}
	ips := []string{name}
	if _, err := netip.ParseAddr(name); err != nil {
		if ips, err = net.LookupHost(name); err != nil || len(ips) == 0 { // a name of this machine's network
			return false
		}
	}
	ip, err := netip.ParseAddr(ips[0])
	if err != nil || ip.IsLoopback() || ip.IsUnspecified() {
		return false
	}
	need := Need{Address: net.JoinHostPort(ip.Unmap().String(), port), Name: name, Service: svc.Name, How: how}
	if !slices.ContainsFunc(s.away, func(n Need) bool { return n.Address == need.Address && n.Service == need.Service }) {
		s.away = append(s.away, need)
	}
	return true
}

// is reports whether an address as a service writes it is that of the need.
func (n Need) is(address string) bool {
	name, port, err := net.SplitHostPort(address)
	_, own, _ := net.SplitHostPort(n.Address) // made by JoinHostPort
	return err == nil && name == n.Name && port == own
}

// farConnections notes the addresses of other machines to which an app has opened
// connections.
func (s *search) farConnections(svc *service) {
	if !s.Several {
		return
	}
	owners, err := hoststat.Owners(s.host, map[string][]int{"": {svc.proc.PID}})
	if err != nil {
		return
	}
	all, err := hoststat.Established(s.host)
	if err != nil {
		return
	}
	for _, c := range all {
		// One at a port of its own is a client's.
		if _, own := owners[c.Inode]; own && s.m.Owner(c.Remote.String()) == nil && s.m.Owner(c.Local.String()) != svc.proc {
			s.elsewhere(svc, c.Remote.String(), "an open connection")
		}
	}
}

// isData reports whether a role keeps data.
func isData(role iikanji.Role) bool {
	return role == iikanji.RoleDatabase || role == iikanji.RoleCache || role == iikanji.RoleQueue
}
