package topology

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// Names of the files for the clients' units.
const (
	dropInName = "91-iikanji-topology.conf"
	envName    = "91-iikanji-topology.env"
)

const header = "# Settings that iikanji has made; see `iikanji history`.\n"

// weakens: the site works only while one more host does, unless its policy lets it.
func (t *task) weakens() []iikanji.Promise {
	if t.site.Target.Policy.MoreHosts {
		return nil
	}
	return []iikanji.Promise{iikanji.Availability}
}

// move leads the clients to the new host, and ends the former server.
func (t *task) move() (*iikanji.Change, error) {
	if prepared, err := t.prepared(); err != nil || !prepared {
		return nil, errors.Join(err, fmt.Errorf("%s has no copy of the data yet: apply step=prepare first", t.toName))
	}
	if !t.server.was.Active {
		return nil, fmt.Errorf("%s does not run on %s", t.svc.Unit, t.toName)
	}
	for _, c := range t.clients {
		if err := t.reachable(c); err != nil {
			return nil, err
		}
	}
	edits, err := t.dropIns()
	if err != nil {
		return nil, err
	}
	placement, err := t.placement()
	if err != nil {
		return nil, err
	}
	c := &iikanji.Change{Kind: t.kind, Target: t.target, Risk: iikanji.RiskRestart, Weakens: t.weakens(),
		Says: fmt.Sprintf("lead %s to %s on %s: %s", t.clientNames(), t.svc.Name, t.toName, t.variables())}
	t.ops(c, edits, placement, carried{})
	return c, nil
}

func (t *task) clientNames() string {
	var names []string
	for _, c := range t.clients {
		if name := c.svc.Name; t.atHome(c) {
			names = append(names, name)
		} else {
			names = append(names, iikanji.PlacedOn(name, c.svc.Host))
		}
	}
	return strings.Join(names, ", ")
}

// variables tells what the clients get.
func (t *task) variables() string {
	var all []string
	for _, c := range t.clients {
		if !t.atHome(c) { // as that of the app
			continue
		}
		given := t.given(c)
		for _, name := range slices.Sorted(maps.Keys(given)) {
			all = append(all, fmt.Sprintf("%s=%s for %s (%s reads it), Restart=always", name, given[name], c.svc.Unit, c.place))
		}
	}
	return strings.Join(all, "; ")
}

// dropIns are the files of the clients' units: the address, and a restart policy, since the
// client may boot before its server.
func (t *task) dropIns() (edits []change.Edit, err error) {
	for _, c := range t.clients {
		folder := filepath.Join(change.UnitsFolder, c.svc.Unit+".d")
		conf := change.Edit{Host: c.svc.Host, Path: filepath.Join(folder, dropInName), Folder: true}
		if conf.Old, err = t.site.ReadOld(conf.Host, conf.Path); err != nil {
			return nil, err
		}
		text := cmp.Or(string(conf.Old), clientUnit)
		env := change.Edit{Host: c.svc.Host, Path: filepath.Join(folder, envName), Folder: true}
		if env.Old, err = t.site.ReadOld(env.Host, env.Path); err != nil {
			return nil, err
		}
		lines := string(env.Old)
		given := t.given(c)
		for _, name := range slices.Sorted(maps.Keys(given)) {
			if c.inFile { // a file of variables overrides Environment=, and a later file an earlier one
				lines = withLine(lines, name+"=", given[name])
			} else {
				text = withLine(text, "Environment="+name+"=", plainValue(given[name]))
			}
		}
		if c.inFile {
			env.New = []byte(lines)
			edits = append(edits, env)
			text = withLine(text, "EnvironmentFile=", env.Path)
		}
		conf.New = []byte(text)
		edits = append(edits, conf)
	}
	return edits, nil
}

// plainValue is a value of Environment= in which a % is no specifier (systemd.unit(5)): with an
// unknown one systemd would leave the variable as it was.
func plainValue(value string) string { return strings.ReplaceAll(value, "%", "%%") }

// clientUnit is the drop-in of a client's unit without variables.
const clientUnit = header + "[Unit]\nStartLimitIntervalSec=0\n[Service]\nRestart=always\nRestartSec=1\n"

// withLine is a text in which the line that begins with a setting has this value, or has it as
// its last line: a spread has written others of the instance.
func withLine(text, begin, value string) string {
	var b strings.Builder
	found := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, begin) {
			if line = begin + value + "\n"; found {
				continue
			}
			found = true
		}
		b.WriteString(line)
	}
	if !found {
		b.WriteString(begin + value + "\n")
	}
	return b.String()
}

// placement is the edit of the file that says where the service runs now; none without a
// work folder.
func (t *task) placement() ([]change.Edit, error) {
	return t.placed(func(change.Placed) change.Placed {
		return change.Placed{Host: t.toName, Address: net.JoinHostPort(t.address, t.server.port)}
	})
}

// placed is the edit of the file of placements that puts the service elsewhere than it is; none
// without a work folder.
func (t *task) placed(elsewhere func(is change.Placed) change.Placed) ([]change.Edit, error) {
	path := t.site.Placement
	if path == "" {
		return nil, nil
	}
	old, err := t.site.ReadOld("", path)
	if err != nil {
		return nil, err
	}
	p, err := change.ParsePlacement(old)
	if err != nil {
		return nil, err
	}
	is, there := p.Services[t.svc.Name]
	if !there {
		is = change.Placed{Host: t.svc.Host, Address: t.svc.Address}
	}
	p.Services[t.svc.Name] = elsewhere(is)
	text, err := json.MarshalIndent(p, "", "\t")
	if err != nil {
		return nil, fmt.Errorf("writing the placement: %w", err)
	}
	return []change.Edit{{Path: path, Old: old, New: append(text, '\n')}}, nil
}

// Carried are the ops on the new host that put data there between the end of the former server
// and the restart of the clients, and those that take them away; none where that was prepared.
type carried struct{ do, undo []iikanji.Op }

// ops makes Do and Undo. The undo starts the former server first, and leaves what is on the
// new host for last.
func (t *task) ops(c *iikanji.Change, edits, placement []change.Edit, data carried) {
	var files, last iikanji.Change
	change.FromEdits(&files, iikanji.VerbUnknown, edits...)
	change.FromEdits(&last, iikanji.VerbUnknown, placement...)
	var reloads []iikanji.Op
	for _, client := range t.clients {
		op := iikanji.Op{Verb: iikanji.Reload, Host: client.svc.Host, Place: change.Systemd}
		if !slices.Contains(reloads, op) {
			reloads = append(reloads, op)
		}
	}
	unit, off := t.svc.Unit, change.UnitState{}
	on := change.UnitState{Active: true, Enabled: t.server.was.Enabled || len(t.server.links) > 0}
	c.Do = slices.Concat(files.Do, reloads, []iikanji.Op{
		change.UnitOp(t.toName, unit, t.server.was, on, t.server.links),
		change.UnitOp(t.svc.Host, unit, t.server.home, t.ended(off), t.server.homeLinks),
	}, data.do, t.restartClients(), last.Do)

	start := change.UnitOp(t.svc.Host, unit, t.ended(off), t.server.home, t.server.homeLinks)
	start.After = "-"
	c.Undo = []iikanji.Op{start}
	add := func(op iikanji.Op, after string) {
		op.After = after
		c.Undo = append(c.Undo, op)
	}
	for _, op := range files.Undo {
		add(op, "-")
	}
	for _, op := range reloads {
		add(op, numbers(c.Undo, op.Host))
	}
	for _, op := range t.restartClients() {
		add(op, "1 "+numbers(c.Undo, op.Host))
	}
	for _, op := range last.Undo {
		add(op, "-")
	}
	wait := "-"
	for _, op := range append(data.undo, change.UnitOp(t.toName, unit, on, t.server.was, t.server.links)) {
		add(op, wait)
		wait = fmt.Sprint(len(c.Undo))
	}
	c.Ground = change.FingerprintOf([]byte(files.Ground + last.Ground))
}

// ended is the state of the former server: a unit that other units start cannot be disabled.
func (t *task) ended(off change.UnitState) change.UnitState {
	off.Enabled = t.server.home.Enabled && len(t.server.homeLinks) == 0
	return off
}

// numbers are those of the ops of a host, behind the first one.
func numbers(ops []iikanji.Op, on string) string {
	var all []string
	for i, op := range ops {
		if i > 0 && op.Host == on {
			all = append(all, fmt.Sprint(i+1))
		}
	}
	return strings.Join(all, " ")
}

// InForce implements change.ReadsBack. After a switch the site's initialize runs once: the
// new server must have its statements. Otherwise the change is undone.
func (Kind) InForce(ctx context.Context, s *change.Site, c *iikanji.Change, all bool) error {
	_, args, err := change.MatchAct[planner](acts, *c.Remedy)
	if err != nil {
		return err
	}
	if f, ok := args.(inForcer); ok {
		return f.inForce(ctx, s, c, all)
	}
	a, ok := args.(*moveArgs)
	if !ok || all || s.Initialize == nil || !isSwitch(c, a) {
		return nil
	}
	if svc, _ := s.Target.Service(a.Service); svc.Engine.Caches() {
		return storeInForce(ctx, s, a)
	}
	db, err := s.ServerOn(a.to(), a.Service)
	if err != nil {
		return err
	}
	defer db.Close()
	before, err := written(ctx, db)
	if err != nil {
		return fmt.Errorf("asking %s on %s for its statements: %w", a.Service, a.To, err)
	}
	if err := s.Initialize(ctx); err != nil {
		return fmt.Errorf("initialize fails with %s on %s: it may connect to the former host by itself (mysql without -h in a script): %w", a.Service, a.To, err)
	}
	after, err := written(ctx, db)
	if err != nil {
		return fmt.Errorf("asking %s on %s for its statements: %w", a.Service, a.To, err)
	}
	if after <= before {
		return fmt.Errorf("initialize did not reach %s on %s: a script may connect to the former host by itself (mysql without -h)", a.Service, a.To)
	}
	return nil
}

// isSwitch reports whether a change leads clients: prepare touches no client's unit.
func isSwitch(c *iikanji.Change, a *moveArgs) bool {
	return slices.ContainsFunc(c.Do, func(op iikanji.Op) bool { return filepath.Base(op.Place) == dropInName })
}

// written counts the statements that change something since the server's start.
func written(ctx context.Context, db *sql.DB) (all int64, err error) {
	rows, err := db.QueryContext(ctx, "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_insert', 'Com_update', 'Com_delete', 'Com_replace', 'Com_load', "+
		"'Com_truncate', 'Com_create_table', 'Com_drop_table', 'Com_alter_table', 'Com_insert_select')")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return 0, err
		}
		all += n
	}
	return all, rows.Err()
}
