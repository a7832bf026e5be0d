package web

import (
	"net/http"
	"strings"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// JudgePages are the pages of hosts and of the final judging. An error is a mistake of the
// program.
func JudgePages(hosts api.HostCalls, judge api.JudgeCalls) ([]api.Route, error) {
	site, err := newSite()
	if err != nil {
		return nil, err
	}
	s := &judgeSite{site, hosts, judge}
	return []api.Route{
		{Method: "GET", Path: "/r/{round}/hosts", Need: api.Playing, Handle: s.ownHosts},
		{Method: "POST", Path: "/r/{round}/hosts", Need: api.Playing, Limit: 20, Handle: s.addHost},
		{Method: "GET", Path: "/staff/{round}/hosts", Need: api.Staffed, Handle: s.allHosts},
		{Method: "GET", Path: "/staff/{round}/final", Need: api.Staffed, Handle: s.final},
	}, nil
}

// A judgeSite has the pages of hosts and of the final judging.
type judgeSite struct {
	*site
	hosts api.HostCalls
	judge api.JudgeCalls
}

func (s *judgeSite) hostsPage(c *api.Call) (p page, err error) {
	if p, err = s.round(c); err != nil {
		return p, err
	}
	p.Title = "title.hosts"
	if p.Board, err = c.Portal.Board(c.R.Context(), c.Who, p.Round.ID); err != nil { // for the names
		return p, err
	}
	p.Hosts, err = s.hosts.Hosts(c.R.Context(), c.Who, p.Round.ID)
	return p, err
}

func (s *judgeSite) ownHosts(c *api.Call) error {
	p, err := s.hostsPage(c)
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, "hosts", p)
}

func (s *judgeSite) allHosts(c *api.Call) error { return s.ownHosts(c) }

// addHost registers a machine and shows its token, once.
func (s *judgeSite) addHost(c *api.Call) error {
	made, err := s.hosts.AddHost(c.R.Context(), c.Who, c.R.PathValue("round"), api.NewHost{Name: c.R.PostFormValue("name"), Address: strings.TrimSpace(c.R.PostFormValue("address"))})
	if err != nil {
		return err
	}
	p, err := s.hostsPage(c)
	if err != nil {
		return err
	}
	p.Made = made
	return s.render(c, http.StatusOK, "hosts", p)
}

// final shows teams, steps and runs.
func (s *judgeSite) final(c *api.Call) error {
	p, err := s.round(c)
	if err != nil {
		return err
	}
	p.Title = "title.final"
	if p.Final, err = s.judge.Final(c.R.Context(), c.Who, p.Round.ID); err != nil {
		return err
	}
	return s.render(c, http.StatusOK, "final", p)
}

// MiB is a size in MiB.
func (page) MiB(bytes int64) int64 { return bytes >> 20 }

// Ordinal is the number of a block for people: from 1.
func (page) Ordinal(n int) int { return n + 1 }

// FinalName is the name of a team of the final judging, or its id.
func (p page) FinalName(id string) string {
	for _, t := range p.Final.Teams {
		if t.Team == id {
			return t.Name
		}
	}
	return id
}
