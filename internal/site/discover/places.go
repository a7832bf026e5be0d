package discover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A Place is a machine on which a site may be.
type Place struct {
	As   target.Host // as the file has it
	Host host.Host
}

// A placed is a machine while the site is searched for.
type placed struct {
	Place
	Inventory
	parts []Part
	asked []string // addresses that were asked for
}

// has reports whether an address is of the machine.
func (p *placed) has(address string) bool {
	ap, err := netip.ParseAddrPort(address)
	return err == nil && slices.Contains(p.Addresses, ap.Addr().Unmap())
}

// A sites is one search over several machines.
type sites struct {
	Options
	places []*placed
	home   *placed // with the front
	out    *Site
}

// AskAll asks several machines. The front is on the machine that has the address of the URL,
// or on the first one with a web server; services on other machines are those that it leads
// to. What is installed elsewhere by the same unit is a spare.
func AskAll(ctx context.Context, places []Place, o Options) (*Site, error) {
	s := &sites{Options: o, out: &Site{Found: newFound()}}
	for _, p := range places {
		s.places = append(s.places, &placed{Place: p})
	}
	err := s.each(func(p *placed) (err error) {
		p.Inventory, err = inventoryTask().On(ctx, p.Host, nothing{})
		return err
	})
	if err != nil {
		return nil, err
	}
	s.addresses()
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	if err := s.follow(ctx); err != nil {
		return nil, err
	}
	s.merge()
	if err := s.spares(ctx); err != nil {
		return nil, err
	}
	s.keep()
	if err := s.reach(ctx); err != nil {
		return nil, err
	}
	s.finish(ctx)
	return s.out, nil
}

// each does something with all machines at once.
func (s *sites) each(do func(p *placed) error) error {
	errs := make([]error, len(s.places))
	var all sync.WaitGroup
	for i, p := range s.places {
		all.Go(func() {
			if err := do(p); err != nil {
				errs[i] = fmt.Errorf("asking machine %s: %w", p.As.Name, err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// addresses chooses the address of each machine for the others: the one that has the most
// leading bits in common with one of theirs.
func (s *sites) addresses() {
	for _, p := range s.places {
		if p.As.Private != "" {
			continue
		}
		best := -1
		for _, a := range p.Addresses {
			for _, other := range s.places {
				if other == p {
					continue
				}
				for _, b := range other.Addresses {
					if n := commonBits(a, b); a.Is4() && b.Is4() && a != b && n > best {
						best, p.As.Private = n, a.String()
					}
				}
			}
		}
	}
}

// commonBits is how many leading bits two addresses of one family have in common.
func commonBits(a, b netip.Addr) int {
	if a.BitLen() != b.BitLen() {
		return 0
	}
	for n := a.BitLen(); n > 0; n-- {
		if p, err := a.Prefix(n); err == nil && p.Contains(b) {
			return n
		}
	}
	return 0
}

// begin finds the front.
func (s *sites) begin(ctx context.Context) error {
	var first error
	for _, p := range s.fronts() {
		part, err := askTask().On(ctx, p.Host, Question{Front: true, URL: s.URL})
		if err == nil {
			s.home = p
			p.parts = append(p.parts, part)
			s.out.File.URL = p.outside(part.URL)
			return nil
		}
		if first == nil {
			first = fmt.Errorf("asking machine %s: %w", p.As.Name, err)
		}
	}
	return first
}

// fronts are the machines on which the front may be: the one with the address of the URL, or
// all of them, in the order in which they were given.
func (s *sites) fronts() []*placed {
	u, err := url.Parse(s.URL)
	if s.URL == "" || err != nil {
		return s.places
	}
	ips, err := net.LookupHost(u.Hostname())
	if err != nil {
		return s.places
	}
	for _, p := range s.places {
		if slices.ContainsFunc(ips, func(ip string) bool { return p.has(net.JoinHostPort(ip, "1")) }) {
			return []*placed{p}
		}
	}
	return s.places
}

// outside is a URL of the machine for this one.
func (p *placed) outside(text string) string {
	u, err := url.Parse(text)
	if err != nil || p.As.Here() || p.As.Private == "" {
		return text
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback() && !ip.IsUnspecified()) {
		return text
	}
	port := u.Port()
	if u.Host = p.As.Private; port != "" {
		u.Host = net.JoinHostPort(p.As.Private, port)
	}
	return u.String()
}

// mostRounds bounds how often needs of what was found are followed.
const mostRounds = 6

// follow asks the machines that have the addresses that services of others use.
func (s *sites) follow(ctx context.Context) error {
	for range mostRounds {
		needs := map[*placed][]Need{}
		for _, from := range s.places {
			for _, part := range from.parts {
				for _, n := range part.Needs {
					if p := s.owner(n.Address); p != nil && !slices.Contains(p.asked, n.Address) {
						needs[p], p.asked = append(needs[p], n), append(p.asked, n.Address)
					}
				}
			}
		}
		if len(needs) == 0 {
			return nil
		}
		err := s.each(func(p *placed) error {
			if len(needs[p]) == 0 {
				return nil
			}
			part, err := askTask().On(ctx, p.Host, Question{Needs: needs[p]})
			p.parts = append(p.parts, part)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// owner is the machine that has an address; nil for none.
func (s *sites) owner(address string) *placed {
	for _, p := range s.places {
		if p.has(address) {
			return p
		}
	}
	return nil
}

// merge makes one file of all parts.
func (s *sites) merge() {
	f := s.out.File
	for _, p := range s.places {
		if p.As.Here() && len(s.places) == 1 {
			continue
		}
		if s.Policy == target.Contest { // the organisers reboot them at the end
			p.As.Reboot = target.RebootAsk
		}
		f.Hosts = append(f.Hosts, p.As)
	}
	order := append([]*placed{s.home}, slices.DeleteFunc(slices.Clone(s.places), func(p *placed) bool { return p == s.home })...)
	for _, p := range order {
		for _, part := range p.parts {
			s.mergePart(p, part)
		}
	}
	if !slices.ContainsFunc(f.Services, func(svc target.Service) bool { return svc.Role == iikanji.RoleDatabase }) {
		s.todo("no database was found: if the site uses one, add a [[service]] with role = \"database\"")
	}
}

// mergePart takes what was found on a machine.
func (s *sites) mergePart(p *placed, part Part) {
	f := s.out.File
	names := map[string]string{}
	for _, svc := range part.Services {
		if i := s.sameApp(&svc, p); i >= 0 {
			if name := p.As.Name; !slices.Contains(f.Services[i].Instances, name) && f.Services[i].Host != name {
				f.Services[i].Instances = append(f.Services[i].Instances, name)
			}
			names[svc.Name] = ""
			continue
		}
		name := s.unique(svc.Name, p)
		names[svc.Name], svc.Name, svc.Host = name, name, p.As.Name
		if len(f.Hosts) == 0 {
			svc.Host = ""
		}
		if svc.Unit == "" && !p.As.Here() && !svc.InFiles() {
			s.todo("service %s on machine %s is of no systemd unit: give commands for its start and its stop", svc.Name, p.As.Name)
		}
		f.Services = append(f.Services, svc)
	}
	for i := range f.Services { // references to services of this machine
		if svc := &f.Services[i]; svc.Host == p.As.Name {
			for from, to := range names {
				if service, _ := svc.Database.Password.Service(); service == from && to != "" {
					svc.Database.Password = target.Ref(strings.Replace(string(svc.Database.Password), ":"+from+":", ":"+to+":", 1))
				}
			}
		}
	}
	for _, finding := range part.Findings {
		if to, known := names[finding.Service]; known {
			finding.Service = to
		}
		if finding.Service != "" {
			s.out.Findings = append(s.out.Findings, finding)
		}
	}
	for _, folder := range part.Folders {
		folder = s.granted(folder)
		if !p.As.Here() {
			folder = p.As.Name + ":" + folder
		}
		if !slices.Contains(f.Policy.Folders, folder) {
			f.Policy.Folders = append(f.Policy.Folders, folder)
		}
	}
	for _, todo := range part.Todo {
		s.todo("machine %s: %s", p.As.Name, todo)
	}
	for _, address := range part.Nobody {
		s.todo("machine %s: no process listens at %s, which another service uses", p.As.Name, address)
	}
}

// sameApp is the service that an app of a machine is a further instance of; -1 for none.
func (s *sites) sameApp(svc *target.Service, p *placed) int {
	return slices.IndexFunc(s.out.File.Services, func(have target.Service) bool {
		return svc.Unit != "" && have.Unit == svc.Unit && have.Role == svc.Role && have.Engine == svc.Engine && (svc.Role == iikanji.RoleApp || have.Host == p.As.Name)
	})
}

func (s *sites) unique(name string, p *placed) string {
	taken := func(n string) bool {
		return slices.ContainsFunc(s.out.File.Services, func(o target.Service) bool { return o.Name == n })
	}
	if !taken(name) {
		return name
	}
	for i, n := 1, name+"-"+p.As.Name; ; i++ {
		if !taken(n) {
			return n
		}
		n = fmt.Sprintf("%s-%s-%d", name, p.As.Name, i+1)
	}
}

func (s *sites) todo(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.out.Todo, text) {
		s.out.Todo = append(s.out.Todo, text)
	}
}
