package xsuportal

import (
	"context"
	"net/http"
	"regexp"
	"slices"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/common"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/parallel"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// linked matches the local files that a page loads.
var linked = regexp.MustCompile(`(?:src|href)="(/[^"/][^"]*)"`)

// page has a browser open a page, as a person does: the page, the files that it loads and the
// icon, and then the session. The three scripts and styles of its shell must be among them,
// unchanged.
func (a *agent) page(ctx context.Context, path, shell string) (*common.GetCurrentSessionResponse, error) {
	needed := []string{vendorPath, stylePath, scriptPath(shell)}
	var paths []string
	r := &scenario.Request{Step: stepPage, Path: path}
	err := a.do(ctx, r, func(res *scenario.Response) error {
		if err := scenario.WantStatus(res, http.StatusOK); err != nil {
			return err
		}
		if err := scenario.WantType(res, "text/html"); err != nil {
			return err
		}
		for _, m := range linked.FindAllSubmatch(res.Body, -1) {
			paths = append(paths, string(m[1]))
		}
		for _, path := range needed {
			if !slices.Contains(paths, path) {
				return scenario.Wrong(res, "page-assets", "the page does not load %s", path)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !slices.Contains(paths, faviconPath) {
		paths = append(paths, faviconPath)
	}
	err = parallel.Do(ctx, len(paths), func(ctx context.Context, i int) error {
		return a.do(ctx, &scenario.Request{Step: stepStatic, Path: paths[i]}, func(res *scenario.Response) error {
			if sum, ok := sums()[paths[i]]; ok {
				return verify.File(res, sum, res.Cached || res.NotModified)
			}
			return scenario.WantStatus(res, http.StatusOK)
		})
	})
	if err != nil {
		return nil, err
	}
	return a.session(ctx)
}

// session asks who has logged in, and when the contest is.
func (a *agent) session(ctx context.Context) (*common.GetCurrentSessionResponse, error) {
	s := new(common.GetCurrentSessionResponse)
	if err := a.call(ctx, stepSession, http.MethodGet, "/api/session", nil, s); err != nil {
		return nil, err
	}
	if !a.ct.times.same(s.GetContest()) {
		return nil, wrong(stepSession, "session-contest", "the contest is %v, want %v", s.GetContest(), a.ct.times.message())
	}
	return s, nil
}

// memberPage has a member of a team open a page of contestants, and checks who that is.
func (m *member) page(ctx context.Context, path string) error {
	s, err := m.agent.page(ctx, path, contestantShell)
	if err != nil {
		return err
	}
	t := m.team
	if got := s.GetContestant(); got.GetId() != m.id || got.GetName() != m.name || got.GetTeamId() != t.id || got.GetIsStudent() != m.student {
		return wrong(stepSession, "session-contestant", "the contestant is %v, want %s (%s) of team %d", got, m.id, m.name, t.id)
	}
	got := s.GetTeam()
	if got.GetId() != t.id || got.GetName() != t.name || got.GetLeaderId() != t.members[0].id {
		return wrong(stepSession, "session-team", "the team is %v, want %d (%s) of %s", got, t.id, t.name, t.members[0].id)
	}
	if got.GetStudent() != nil {
		return wrong(stepSession, "session-team", "the team's student flag is set; it belongs to leaderboards only")
	}
	return nil
}
