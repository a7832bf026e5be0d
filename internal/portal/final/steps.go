package final

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// before takes the team's hands off and checks its machines.
func (d *Driver) before(ctx context.Context, f *api.FinalState, team string) error {
	t, err := d.team(ctx, team)
	if err != nil {
		return err
	}
	if stepOf(t, handsOff) == nil {
		if err := d.keep(ctx, team, handsOff, true, "no run and no change from "+d.Now().UTC().Format(time.RFC3339)+" on"); err != nil {
			return err
		}
	}
	if stepOf(t, check) != nil {
		return nil
	}
	problem, hosts, err := d.healthy(ctx, team, nil, f.Final.BackIn)
	if err != nil {
		return err
	}
	return d.keep(ctx, team, check, problem == "", evidence(problem, hosts))
}

// evidence is a problem, or how the machines were.
func evidence(problem string, hosts []api.Host) string {
	if problem != "" {
		return problem
	}
	var parts []string
	for _, h := range hosts {
		parts = append(parts, fmt.Sprintf("%s at %s: boot %s, clock %s off", h.Name, h.Address, short(h.Boot), h.Offset.Round(time.Millisecond)))
	}
	return strings.Join(parts, "; ")
}

func short(boot string) string {
	if boot == "" {
		return "unknown"
	}
	return boot[:min(len(boot), 8)]
}

// steady is how often in a row a machine has to be seen without a problem and with the same boot.
const steady = 2

// healthy waits until all machines of a team are well: proven, reached after now, and in the same
// boot each time. not are boot ids that are over. It returns the first problem after the time.
func (d *Driver) healthy(ctx context.Context, team string, not map[string]string, within time.Duration) (problem string, hosts []api.Host, err error) {
	from := d.Now()
	reached, boots, seen := map[string]time.Time{}, map[string]string{}, map[string]int{}
	for {
		if hosts, err = d.hosts(ctx, team); err != nil {
			return "", nil, err
		}
		problem = ""
		for _, h := range hosts {
			why := ""
			switch {
			case h.Way == api.ByStaff:
				continue // nothing tells how it is: the runs show it
			case h.Problem != "":
				why = h.Problem
			case !h.Proven:
				why = "it is not proven"
			case not[h.ID] != "" && h.Boot == not[h.ID]:
				why = "it has not rebooted"
			case boots[h.ID] != "" && boots[h.ID] != h.Boot:
				why = "it has rebooted by itself"
				boots[h.ID], seen[h.ID] = h.Boot, 0
			case h.Reached.After(reached[h.ID]) && h.Reached.After(from):
				reached[h.ID], boots[h.ID] = h.Reached, h.Boot
				seen[h.ID]++
			}
			if why != "" {
				seen[h.ID] = 0
			} else if seen[h.ID] < steady {
				why = "no answer"
			}
			if why != "" && problem == "" {
				problem = fmt.Sprintf("host %s: %s after %s", h.Name, why, within)
			}
		}
		if problem == "" || d.Now().Sub(from) > within {
			return problem, hosts, nil
		}
		if err := d.wait(ctx); err != nil {
			return "", nil, err
		}
	}
}

// rebootOnce reboots the machines of a team and checks them again.
func (d *Driver) rebootOnce(ctx context.Context, f *api.FinalState, team string) error {
	return d.restarted(ctx, f, team, booted, reboot, checkAgain)
}

// restarted reboots the machines of a team unless that was done already. note is the step that
// keeps the boot ids before, back that for their return, and well that for their health then.
func (d *Driver) restarted(ctx context.Context, f *api.FinalState, team, note, back, well string) error {
	t, err := d.team(ctx, team)
	if err != nil || lost(t) || stepOf(t, well) != nil {
		return err
	}
	boots := map[string]string{}
	if s := stepOf(t, note); s != nil {
		if err := json.Unmarshal([]byte(s.Evidence), &boots); err != nil {
			return fmt.Errorf("reading the boot ids of team %s: %w", team, err)
		}
	} else {
		hosts, err := d.hosts(ctx, team)
		if err != nil {
			return err
		}
		for _, h := range hosts {
			boots[h.ID] = h.Boot
		}
		text, err := json.Marshal(boots)
		if err != nil {
			return err
		}
		if err := d.keep(ctx, team, note, true, string(text)); err != nil {
			return err
		}
	}
	if stepOf(t, back) == nil {
		problem, err := d.twice(ctx, f, team, boots)
		if err != nil {
			return err
		}
		text := problem
		if text == "" {
			text = "all machines have another boot id"
		}
		if err := d.keep(ctx, team, back, problem == "", text); err != nil || problem != "" {
			return err
		}
	}
	problem, hosts, err := d.healthy(ctx, team, boots, f.Final.BackIn)
	if err != nil {
		return err
	}
	return d.keep(ctx, team, well, problem == "", evidence(problem, hosts))
}

// twice sends the reboot and waits for the machines, and tries once more.
func (d *Driver) twice(ctx context.Context, f *api.FinalState, team string, boots map[string]string) (problem string, err error) {
	for range 2 {
		hosts, err := d.hosts(ctx, team)
		if err != nil {
			return "", err
		}
		for _, h := range hosts {
			if h.Boot != boots[h.ID] && h.Boot != "" {
				continue // it has rebooted
			}
			if err := d.Reboot(ctx, h); err != nil {
				d.Log.Warn("rebooting", "host", h.Name, "team", team, "error", err)
			}
		}
		if problem, err = d.back(ctx, team, boots, f.Final.BackIn); err != nil || problem == "" {
			return problem, err
		}
	}
	return problem + ", twice", nil
}

// back waits until the boot ids of all machines are other ones.
func (d *Driver) back(ctx context.Context, team string, boots map[string]string, within time.Duration) (problem string, err error) {
	for from := d.Now(); ; {
		hosts, err := d.hosts(ctx, team)
		if err != nil {
			return "", err
		}
		problem = ""
		for _, h := range hosts {
			if h.Way == api.ByAgent && h.Boot == boots[h.ID] && problem == "" {
				problem = fmt.Sprintf("host %s: not back within %s", h.Name, within)
			}
		}
		if problem == "" || d.Now().Sub(from) > within {
			return problem, nil
		}
		if err := d.wait(ctx); err != nil {
			return "", err
		}
	}
}
