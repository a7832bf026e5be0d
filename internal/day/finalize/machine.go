package finalize

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	rules "github.com/iikanji/iikanji/internal/cause/boot"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/boot"
)

// A Machine is one machine with the site's services on it.
type Machine struct {
	Label   string // for people; "" on a site with one machine
	Asker   *boot.Asker
	Site    *change.Site
	Acts    *change.Executor
	History *history.History
	// Refresh builds and restarts a service of the site.
	Refresh func(ctx context.Context, service string) error
	// Sensors are the changes of sensors in force, and Tidy removes what nobody needs of the
	// work folder and the history: both once for a site, nil for further machines.
	Sensors func() ([]iikanji.ChangeID, error)
	Tidy    func(check bool) (says []string, err error)
}

var _ Host = (*Machine)(nil)

// Name implements Host.
func (l *Machine) Name() string { return l.Label }

// on is the machine's name in the site.
func (l *Machine) on() string { return l.Asker.Host.Name() }

// logs are the remedies that turn logs off, for each service of an engine. Of apps only the source
// in Go is edited.
func (l *Machine) logs() (out []iikanji.Remedy) {
	for _, s := range l.Asker.Target.Services {
		switch {
		case s.Host != l.on():
		case s.Engine == iikanji.EngineNginx && s.Role == iikanji.RoleWeb:
			out = append(out, iikanji.Remedy{Kind: "nginxconf", Target: s.Name, Says: "turn the access log off", Args: map[string]string{"act": "access log", "log": "off"}})
		case s.Engine.MySQLFamily():
			out = append(out, iikanji.Remedy{Kind: "mysqlconf", Target: s.Name, Says: "turn the slow log off", Args: map[string]string{"slow_query_log": "0"}})
		case s.Engine == iikanji.EngineGo && l.Site.Services[s.Name].Builds:
			out = append(out, iikanji.Remedy{Kind: "appenv", Target: s.Name, Says: "turn the app's request log and profilers off", Args: map[string]string{"log": "off", "profiler": "off"}})
		}
	}
	return out
}

// LogsOff implements Host. Logs stay on where the policy keeps the promise of observability.
func (l *Machine) LogsOff(ctx context.Context, check bool) (says []string, err error) {
	var sensors []iikanji.ChangeID
	if l.Sensors != nil {
		if sensors, err = l.Sensors(); err != nil {
			return nil, err
		}
	}
	for _, id := range slices.Backward(sensors) {
		if says = append(says, fmt.Sprintf("sensor of change %d", id)); check {
			continue
		}
		if err := l.Acts.Revert(ctx, id, "finalize: logs off"); err != nil {
			return says, err
		}
	}
	if !slices.Contains(l.Acts.Policy.Allow, iikanji.Observability) {
		return says, nil
	}
	for _, r := range l.logs() {
		text, err := l.make(ctx, r, check)
		if errors.Is(err, change.ErrNothing) {
			continue
		}
		if ctx.Err() != nil {
			return says, context.Cause(ctx)
		}
		if err != nil {
			text = fmt.Sprintf("not made: %s: %v", r.Says, err)
		}
		says = append(says, text)
	}
	return says, nil
}

// make plans a remedy, and applies and keeps its change. With check it only plans.
func (l *Machine) make(ctx context.Context, r iikanji.Remedy, check bool) (says string, err error) {
	c, err := change.Plan(ctx, l.Site, r)
	if err != nil {
		return "", err
	}
	if check {
		return c.Says, nil
	}
	return l.apply(ctx, c)
}

// apply records, applies and keeps a change.
func (l *Machine) apply(ctx context.Context, c *iikanji.Change) (says string, err error) {
	if err := l.History.AddChange(c, change.Diff(c)); err != nil {
		return "", err
	}
	if err := l.Acts.Apply(ctx, c.ID); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s (change %d)", c.Says, c.ID), l.Acts.Keep(c.ID, "finalize")
}

// Losses implements Host.
func (l *Machine) Losses(ctx context.Context) ([]iikanji.Finding, error) {
	b, err := l.Asker.Read(ctx)
	if err != nil {
		return nil, err
	}
	found, err := cause.Find(cause.Input{Target: l.Asker.Target, Facts: []iikanji.Fact{boot.Fact(l.Asker.Host, b)}}, rules.Rules())
	if err != nil {
		return nil, err
	}
	for _, part := range b.Unread { // a part that nobody has read is no clean part
		found = append(found, iikanji.Finding{Code: "BOOT", Where: "host", Claim: "not read: " + part,
			Remedies: []iikanji.Remedy{iikanji.ByPerson("host", "give the command root there")}})
	}
	return found, nil
}

// Mend implements Host.
func (l *Machine) Mend(ctx context.Context, f iikanji.Finding) (says string, err error) {
	var errs []error
	for _, r := range f.Remedies {
		if r.ForPerson() {
			continue
		}
		if _, ours := l.Asker.Target.Service(r.Target); !ours && r.Kind == "unit" && l.on() != "" {
			r.Target = "host:" + l.on() // a unit of another machine that is no service of the site
		}
		says, err := l.make(ctx, r, false)
		if err == nil || ctx.Err() != nil {
			return says, err
		}
		errs = append(errs, err)
	}
	switch f.Code {
	case "BOOT108":
		return l.keepKernel(ctx, f)
	case "BOOT111":
		return "built and restarted", l.Refresh(ctx, l.where(f))
	case "BOOT112":
		return l.load(ctx, f)
	}
	person := &ErrPerson{f.Remedies[len(f.Remedies)-1].Says}
	if err := errors.Join(errs...); err != nil {
		return "", fmt.Errorf("%w (not planned: %w)", person, err)
	}
	return "", person
}

// where is the place of a finding without the machine's name, which the rules put behind it.
func (l *Machine) where(f iikanji.Finding) string { return strings.TrimSuffix(f.Where, " on "+l.on()) }

// load has systemd load the files of units, and restarts the service of the finding with
// them.
func (l *Machine) load(ctx context.Context, f iikanji.Finding) (string, error) {
	res, err := l.Asker.Host.Exec(ctx, host.Command{Path: "systemctl", Args: []string{"daemon-reload"}, Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		return "", err
	}
	if res.Status != 0 {
		return "", fmt.Errorf("systemctl daemon-reload: %s", res.Output)
	}
	if _, ours := l.Asker.Target.Service(l.where(f)); !ours {
		return "loaded", nil
	}
	return "loaded, and the service restarted with it", l.Refresh(ctx, l.where(f))
}

// keepKernel writes a variable that has its value now into a file.
func (l *Machine) keepKernel(ctx context.Context, f iikanji.Finding) (string, error) {
	person := &ErrPerson{f.Remedies[len(f.Remedies)-1].Says}
	name, value := "", ""
	for n, v := range f.Remedies[len(f.Remedies)-1].Args {
		name, value = n, v
	}
	if name == "" || l.Site.MayWrite(l.on(), host.KernelFile) != nil {
		return "", person
	}
	old, err := l.Site.ReadOld(l.on(), host.KernelFile)
	if err != nil {
		return "", err
	}
	line := name + " = " + value + "\n"
	text := string(old)
	if text == "" {
		text = "# Settings that iikanji has made; see `iikanji history`.\n"
	}
	if strings.Contains(text, line) {
		return "", person // a later file sets it again
	}
	c := &iikanji.Change{Kind: "finalize", Target: strings.TrimSuffix("host:"+l.on(), ":"), Says: "keep " + name + " = " + value, Risk: iikanji.RiskNone}
	change.FromEdits(c, iikanji.VerbUnknown, change.Edit{Host: l.on(), Path: host.KernelFile, Old: old, New: []byte(text + line)})
	return l.apply(ctx, c)
}

// bigLog is the size from which a log is named.
const bigLog = 100 << 20

// LeftBehind implements Host. Logs of the site are the user's: their size is told, and they
// stay.
func (l *Machine) LeftBehind(_ context.Context, check bool) (says []string, err error) {
	if l.Tidy != nil {
		if says, err = l.Tidy(check); err != nil {
			return nil, err
		}
	}
	total := int64(0)
	for _, s := range l.Asker.Target.Services {
		for _, log := range s.Logs {
			if s.Host != l.on() {
				continue
			}
			if info, err := l.Asker.Host.Stat(log.Path); err == nil && info.Size() > bigLog {
				total += info.Size()
			} else if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
				return says, fmt.Errorf("reading the size of %s: %w", log.Path, err)
			}
		}
	}
	if total > 0 {
		says = append(says, fmt.Sprintf("%.1f GiB of logs%s stay", float64(total)/(1<<30), on(l)))
	}
	return says, nil
}
