package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/deploy"
	"github.com/iikanji/iikanji/internal/day/work"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/target"
)

// deployKind is the kind of a change that writes files of the ledger.
const deployKind = "deploy"

// localHost is the name of this machine in a ledger.
const localHost = "local"

// files writes files of the ledger or turns logs on or off: changes of the history, which
// iikanji revert undoes.
func (c *deployCmd) files(ctx context.Context, e *env, t *namedTarget, s *livesite.Subject, h *history.History, dir string) (done []*iikanji.Change, err error) {
	x := &change.Executor{Hands: s.Site(), Journal: h, Policy: s.Site().Target.Policy}
	who := e.who(ctx, t)
	switch {
	case c.Logs == "on":
		return logsOn(ctx, h, x)
	case c.Logs == "off":
		return applyAll(ctx, h, x, logsOff(ctx, s.Site(), t.file), logsOffWhy+" by "+who)
	}
	ledger := c.Ledger
	if ledger == "" {
		ledger = filepath.Join(work.Folder(dir, h.Dir()), "ledger")
	}
	plans, err := etcPlans(ctx, s, ledger)
	if err != nil {
		return nil, err
	}
	return applyAll(ctx, h, x, plans, "deployed from the ledger by "+who)
}

// etcPlans are the changes of all machines of a site that the ledger has.
func etcPlans(ctx context.Context, s *livesite.Subject, ledger string) (plans []*iikanji.Change, err error) {
	names, none := []string{""}, true
	for i := range s.File().Hosts {
		if h := &s.File().Hosts[i]; !h.Here() {
			names = append(names, h.Name)
		}
	}
	for _, on := range names {
		folder := cmp.Or(on, localHost)
		if _, err := os.Stat(filepath.Join(ledger, "hosts", folder, "etc")); errors.Is(err, fs.ErrNotExist) {
			continue // no run had this machine
		}
		none = false
		h, err := s.Site().On(on)
		if err != nil {
			return nil, err
		}
		changed, err := deploy.EtcFiles(ctx, host.Local{}, h, ledger, folder)
		if err != nil {
			return nil, fmt.Errorf("comparing files of %s: %w", folder, err)
		}
		of, err := etcChanges(s.Site(), s.File(), on, changed)
		if err != nil {
			return nil, err
		}
		plans = append(plans, of...)
	}
	if none {
		return nil, hinted(fmt.Errorf("%s has no files of a machine of the site", ledger), "iikanji bench . writes them there")
	}
	return plans, nil
}

// etcChanges are the changes that write files of the ledger onto a machine, one for each
// service that reads some of them.
func etcChanges(site *change.Site, f *target.File, on string, files []deploy.EtcFile) ([]*iikanji.Change, error) {
	h, err := site.On(on)
	if err != nil {
		return nil, err
	}
	edits := map[string][]change.Edit{}
	var order []string
	for _, file := range files {
		path := file.Path
		if real, err := h.RealPath(path); err == nil {
			path = real // a link is written at its end
		}
		if err := site.MayWrite(on, path); err != nil {
			return nil, fmt.Errorf("%w: add its folder to folders below [policy]", err)
		}
		name := readerOf(f, on, file.Path)
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
		edits[name] = append(edits[name], change.Edit{Path: path, Old: file.Old, New: file.New, Host: on})
	}
	var out []*iikanji.Change
	for _, name := range order {
		c := &iikanji.Change{Kind: deployKind, Target: name, Says: iikanji.PlacedOn(fmt.Sprintf("write %s of the ledger", report.Number(len(edits[name]), "file")), on), Risk: iikanji.RiskReload}
		verb := iikanji.VerbUnknown
		if svc, ok := site.Services[name]; ok && svc.Running != nil {
			if verb = iikanji.Restart; svc.Reloads {
				verb = iikanji.Reload
			}
		}
		change.FromEdits(c, verb, edits[name]...)
		out = append(out, c)
	}
	return out, nil
}

// readerOf is the service that reads a configuration file of a machine: that whose folder is
// the nearest above it; "" for none.
func readerOf(f *target.File, on, path string) (name string) {
	longest := 0
	for i := range f.Services {
		s := &f.Services[i]
		if s.Host != on {
			continue
		}
		for _, own := range []string{s.Config, s.DropIn} {
			dir := strings.TrimSuffix(filepath.Dir(own), "/") + "/"
			if own != "" && dir != "/etc/" && (path == own || strings.HasPrefix(path, dir)) && len(dir) > longest {
				name, longest = s.Name, len(dir)
			}
		}
	}
	return name
}

// logsOffWhy begins the reason of changes that turn logs off: on undoes these.
const logsOffWhy = "logs off"

// logsOff plans that web servers write no access log and databases no slow log.
func logsOff(ctx context.Context, site *change.Site, f *target.File) []*iikanji.Change {
	var out []*iikanji.Change
	for i := range f.Services {
		s := &f.Services[i]
		r := iikanji.Remedy{Target: s.Name}
		switch {
		case s.Engine == iikanji.EngineNginx:
			r.Kind, r.Args = "nginxconf", map[string]string{"act": "access log", "log": "off"}
		case s.Engine.MySQLFamily():
			r.Kind, r.Args = "mysqlconf", map[string]string{"slow_query_log": "OFF"}
		default:
			continue
		}
		if c, err := change.Plan(ctx, site, r); err == nil { // an error: it writes none, or cannot be changed
			out = append(out, c)
		}
	}
	return out
}

// logsOn undoes the changes that turned logs off, the latest first.
func logsOn(ctx context.Context, h *history.History, x *change.Executor) (done []*iikanji.Change, err error) {
	off := map[iikanji.ChangeID]bool{}
	for _, ev := range h.Events() {
		if ev.What == history.Staged {
			off[ev.Change] = ev.Stage == iikanji.Kept && strings.HasPrefix(ev.Text, logsOffWhy)
		}
	}
	all, err := h.ChangesAt(func(s iikanji.Stage) bool { return s == iikanji.Kept })
	if err != nil {
		return nil, err
	}
	for _, c := range slices.Backward(all) {
		if !off[c.ID] {
			continue
		}
		if err := x.Revert(ctx, c.ID, "logs on"); err != nil {
			return done, err
		}
		done = append(done, c)
	}
	if len(done) == 0 {
		return nil, errors.New("no change of iikanji deploy --logs off is in force")
	}
	return done, nil
}

// applyAll applies and keeps changes. If one fails, those before it are undone.
func applyAll(ctx context.Context, h *history.History, x *change.Executor, all []*iikanji.Change, why string) (done []*iikanji.Change, err error) {
	for _, c := range all {
		if err = h.AddChange(c, change.Diff(c)); err == nil {
			err = x.Apply(ctx, c.ID)
		}
		if err == nil {
			err = x.Keep(c.ID, why)
		}
		if err != nil {
			break
		}
		done = append(done, c)
	}
	if err == nil {
		return done, nil
	}
	for _, c := range slices.Backward(done) {
		err = errors.Join(err, x.Revert(context.WithoutCancel(ctx), c.ID, "a later part of the deployment failed"))
	}
	return nil, err
}

// printFiles writes what was done.
func (c *deployCmd) printFiles(e *env, done []*iikanji.Change) error {
	if c.JSON {
		if done == nil {
			done = []*iikanji.Change{}
		}
		return writeJSON(e.Stdout, done)
	}
	out := &output{w: e.Stdout}
	verb := "is applied"
	if c.Logs == "on" {
		verb = "is undone"
	}
	for _, x := range done {
		out.line("change %d %s: %s, %s", x.ID, verb, report.Clean(x.Target), report.Clean(x.Says))
	}
	if len(done) == 0 {
		out.line("nothing to change")
	}
	return out.err
}
