package node

import (
	"context"
	"net/netip"

	"github.com/iikanji/iikanji/internal/portal/api"
)

var _ api.HostCalls = (*Node)(nil)

// Hosts implements api.HostCalls. Host keys are for staff: they are of the final judging.
func (n *Node) Hosts(ctx context.Context, who api.Who, round string) ([]api.Host, error) {
	if !who.Role.Staff() && who.Team == "" {
		return nil, api.ErrForbidden
	}
	hosts, err := n.core.Hosts(ctx, round, who.Team)
	if !who.Role.Staff() {
		for i := range hosts {
			hosts[i].Keys = nil
		}
	}
	return hosts, err
}

// AddHost implements api.HostCalls.
func (n *Node) AddHost(ctx context.Context, who api.Who, round string, h api.NewHost) (*api.MadeHost, error) {
	switch {
	case may(who, api.Operator, api.Organiser) && h.Team != "":
	case who.Team == "":
		return nil, api.ErrForbidden
	default:
		h.Team = who.Team
	}
	return n.core.RegisterHost(ctx, who.Account, round, h)
}

// RemoveHost implements api.HostCalls.
func (n *Node) RemoveHost(ctx context.Context, who api.Who, _, host string) error {
	if who.Team == "" && !may(who, api.Operator, api.Organiser) {
		return api.ErrForbidden
	}
	return n.core.DropHost(ctx, who.Account, who.Team, host)
}

// HostBeat implements api.HostCalls.
func (n *Node) HostBeat(ctx context.Context, b api.HostBeat, from netip.Addr) (*api.HostBeatAnswer, error) {
	return n.core.HostBeat(ctx, b, from)
}

// DueHosts implements api.HostCalls.
func (n *Node) DueHosts(ctx context.Context, _ string) ([]api.HostCheck, error) {
	return n.core.DueHosts(ctx)
}

// Checked implements api.HostCalls.
func (n *Node) Checked(ctx context.Context, _ string, results []api.HostResult) error {
	return n.core.Checked(ctx, results)
}
