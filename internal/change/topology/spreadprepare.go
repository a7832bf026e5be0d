package topology

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// prepareInstances gives the other hosts the app, and starts it there. The site does not use
// them yet.
func (s *spread) prepareInstances() (*iikanji.Change, error) {
	c := &iikanji.Change{Kind: s.kind, Target: s.target, Risk: iikanji.RiskNone, Weakens: s.weakened(), Prepares: true}
	p := &preparation{change: c, undo: [][]iikanji.Op{}}
	var names []string
	for _, i := range s.away {
		if err := s.sameFiles(i); err != nil {
			return nil, err
		}
		if err := s.readyDatabases(p, i); err != nil {
			return nil, err
		}
	}
	for _, i := range s.away {
		if err := s.readyInstance(p, i); err != nil {
			return nil, err
		}
		names = append(names, i.name)
	}
	if len(c.Do) == 0 {
		return nil, change.ErrNothing
	}
	c.Says = fmt.Sprintf("prepare %s on %s: %s; then plan the same again for the switch", s.svc.Name, strings.Join(names, ", "), strings.Join(p.says, ", "))
	p.finish()
	return c, nil
}

// A preparation is a plan under way: Do in order, and for each step of it what undoes it.
type preparation struct {
	change  *iikanji.Change
	undo    [][]iikanji.Op
	grounds []string
	says    []string
}

// step adds ops with those that undo them.
func (p *preparation) step(do, undo []iikanji.Op) {
	p.change.Do = append(p.change.Do, do...)
	p.undo = append(p.undo, undo)
	for _, op := range do {
		p.grounds = append(p.grounds, op.Location()+" "+string(op.Expect))
	}
}

// edits adds edits of files.
func (p *preparation) edits(edits ...change.Edit) {
	var part iikanji.Change
	change.FromEdits(&part, iikanji.VerbUnknown, edits...)
	p.step(part.Do, part.Undo)
}

// finish makes the undo of the change, and what it was planned from.
func (p *preparation) finish() {
	for _, ops := range slices.Backward(p.undo) {
		p.change.Undo = append(p.change.Undo, ops...)
	}
	byHost(p.change.Undo)
	p.change.Ground = change.FingerprintOf([]byte(strings.Join(p.grounds, "\n")))
}

func (p *preparation) say(text string) {
	if !slices.Contains(p.says, text) {
		p.says = append(p.says, text)
	}
}

// byHost has each op of an undo wait for those of its host before it: what is on a lost host
// is left for later, and the rest is undone.
func byHost(ops []iikanji.Op) {
	for i := range ops {
		var before []string
		for j := range i {
			if ops[j].Host == ops[i].Host {
				before = append(before, fmt.Sprint(j+1))
			}
		}
		if ops[i].After = strings.Join(before, " "); len(before) == 0 {
			ops[i].After = "-"
		}
	}
}

// readyInstance gives a host the app's folders and settings, and starts it.
func (s *spread) readyInstance(p *preparation, i *instance) error {
	unit, off := s.svc.Unit, change.UnitState{}
	on := change.UnitState{Active: true, Enabled: len(i.links) > 0}
	was := i.was
	at := func(from, to change.UnitState) iikanji.Op { return change.UnitOp(i.name, unit, from, to, i.links) }
	if was != off {
		p.step([]iikanji.Op{at(was, off)}, []iikanji.Op{at(off, was)})
	}
	for _, folder := range s.is.folders {
		differs, err := s.differs(i, folder)
		if err != nil {
			return err
		}
		if !differs {
			continue
		}
		found, err := change.FolderID(i.on, folder)
		if err != nil {
			return err
		}
		put, back := change.PlaceOps(i.name, folder, change.PlaceOrder{Host: s.svc.Host, Source: folder, Found: found, Directly: s.site.Target.PrivateOf(s.svc.Host)})
		p.step([]iikanji.Op{put}, []iikanji.Op{back})
		p.say("a copy of " + folder)
	}
	edits, err := s.dropInsOf(i)
	if err != nil {
		return err
	}
	reload := iikanji.Op{Verb: iikanji.Reload, Host: i.name, Place: change.Systemd}
	p.step(nil, []iikanji.Op{reload}) // of the undo, after its files
	p.edits(edits...)
	p.step([]iikanji.Op{reload}, nil)
	p.step([]iikanji.Op{at(off, on)}, []iikanji.Op{at(on, off)})
	p.say("its unit " + unit)
	return nil
}

// dropInsOf are the files of an instance's unit: where its servers are from there, and a
// restart policy, since machines boot in any order.
func (s *spread) dropInsOf(i *instance) (edits []change.Edit, err error) {
	variables := maps.Clone(s.args.Variables)
	if variables == nil {
		variables = map[string]string{}
	}
	inFile := len(s.is.envs) > 0
	for _, db := range s.site.Target.WithRole(iikanji.RoleDatabase) {
		c, uses, err := s.connects(db)
		if err != nil {
			return nil, err
		}
		if !uses {
			continue
		}
		if _, given := variables[c.variable]; !given && c.variable != "" {
			if variables[c.variable], err = s.reachedFrom(db, i); err != nil {
				return nil, err
			}
		}
	}
	if err := s.cacheVariables(i, variables); err != nil {
		return nil, err
	}
	if err := s.listensThere(i, variables); err != nil {
		return nil, err
	}
	folder := filepath.Join(change.UnitsFolder, s.svc.Unit+".d")
	text := clientUnit
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if fmt.Fprintf(&lines, "%s=%s\n", name, variables[name]); !inFile {
			text += "Environment=" + name + "=" + plainValue(variables[name]) + "\n"
		}
	}
	if inFile && lines.Len() > 0 { // a file of variables overrides Environment=, and a later file an earlier one
		path := filepath.Join(folder, envName)
		text += "EnvironmentFile=" + path + "\n"
		edits = append(edits, change.Edit{Host: i.name, Path: path, New: []byte(lines.String()), Folder: true})
	}
	edits = append(edits, change.Edit{Host: i.name, Path: filepath.Join(folder, dropInName), New: []byte(text), Folder: true})
	for k := range edits {
		if edits[k].Old, err = s.site.ReadOld(edits[k].Host, edits[k].Path); err != nil {
			return nil, err
		}
	}
	return edits, nil
}

// about is the plan's view of a database as a server that clients connect to.
func (s *spread) about(db iikanji.Service) *task {
	t := &task{ctx: s.ctx, site: s.site, kind: s.kind, target: s.target, svc: db}
	if _, t.server.port, _ = net.SplitHostPort(db.Address); t.server.port == "" {
		t.server.port = "3306"
	}
	return t
}

// connects reads by which variable the app has the host of a database; a variable of "" is an
// address that other hosts reach too.
func (s *spread) connects(db iikanji.Service) (c client, uses bool, err error) {
	if !db.Engine.MySQLFamily() {
		return c, false, nil // files are ties of the app; others have no reader yet
	}
	t := s.about(db)
	if c, uses, err = t.client(s.svc); err == nil {
		return c, uses, nil
	}
	if private := s.site.Target.PrivateOf(db.Host); private != "" && db.Host != s.svc.Host && strings.Contains(err.Error(), private) {
		return client{svc: s.svc}, true, nil // a constant that is right everywhere
	}
	return c, false, err
}

// reachedFrom is the host of a server as an instance has to write it.
func (s *spread) reachedFrom(server iikanji.Service, i *instance) (string, error) {
	if server.Host == i.name {
		return "127.0.0.1", nil
	}
	address := s.site.Target.PrivateOf(server.Host)
	if address == "" {
		return "", fmt.Errorf("the address of %s for the other hosts is not known: fill in private of its [[host]]", hostText(server.Host))
	}
	return address, nil
}

// readyDatabases has the databases of the app listen for an instance, with an account for it.
func (s *spread) readyDatabases(p *preparation, i *instance) error {
	for _, db := range s.site.Target.WithRole(iikanji.RoleDatabase) {
		c, uses, err := s.connects(db)
		if err != nil {
			return err
		}
		if !uses || db.Host == i.name || c.variable == "" {
			continue
		}
		t := s.about(db)
		if t.address, err = s.reachedFrom(db, i); err != nil {
			return err
		}
		c.svc.Host, c.on = i.name, i.on
		t.clients = []client{c}
		if err := s.listens(p, t); err != nil {
			return err
		}
		accounts, err := t.accounts()
		if err != nil {
			return err
		}
		for _, pair := range accounts {
			if !slices.ContainsFunc(p.change.Do, func(op iikanji.Op) bool { return op.Location() == pair[0].Location() && op.Verb == pair[0].Verb }) {
				p.step([]iikanji.Op{pair[0]}, []iikanji.Op{pair[1]})
				p.say("an account of " + db.Name)
			}
		}
	}
	return nil
}

// listens has a database listen at its host's private address, unless an instance's host
// reaches it already. The app on the home is restarted with it.
func (s *spread) listens(p *preparation, t *task) error {
	err := t.reachable(t.clients[0])
	if err == nil {
		return nil
	}
	if !strings.Contains(err.Error(), "refuses") || t.svc.Unit == "" {
		return err
	}
	on, hostErr := s.site.On(t.svc.Host)
	if hostErr != nil {
		return hostErr
	}
	for _, dir := range confFolders {
		info, statErr := on.Stat(dir)
		if statErr != nil || !info.IsDir() {
			continue
		}
		e := change.Edit{Host: t.svc.Host, Path: filepath.Join(dir, confName)}
		if slices.ContainsFunc(p.change.Do, func(op iikanji.Op) bool { return op.Host == e.Host && op.Place == e.Path }) {
			return nil // for another instance
		}
		if e.Old, err = s.site.ReadOld(e.Host, e.Path); err != nil {
			return err
		}
		e.New = []byte(listening(string(e.Old), t.address))
		restart := t.restartServer()
		p.step(nil, restart) // of the undo, after its file
		p.edits(e)
		p.step(restart, nil)
		p.say(fmt.Sprintf("%s listens at %s", t.svc.Name, t.address))
		p.change.Risk = iikanji.RiskRestart
		return nil
	}
	return fmt.Errorf("%w; %s has none of the folders %s for settings", err, hostText(t.svc.Host), strings.Join(confFolders, ", "))
}

// listening are the settings of a server with the addresses to listen at. Names stay looked up:
// without, a client of the same host that connects by TCP is no longer user@localhost.
func listening(old, address string) string {
	var b strings.Builder
	if old == "" {
		old = header + "[mysqld]\n"
	}
	for line := range strings.Lines(old) {
		if !strings.HasPrefix(line, "bind_address") {
			b.WriteString(line)
		}
	}
	return b.String() + "bind_address = 127.0.0.1," + address + "\n"
}

// restartServer restarts a database and the apps of the site: many drivers notice only at the
// next statement that their connections have ended.
func (t *task) restartServer() []iikanji.Op {
	ops := []iikanji.Op{{Verb: iikanji.Restart, Host: t.svc.Host, Place: t.svc.Unit}}
	for _, app := range t.site.Target.WithRole(iikanji.RoleApp) {
		place := app.Unit
		if t.site.Services[app.Name].Running != nil {
			place = app.Name
		}
		if place != "" {
			ops = append(ops, iikanji.Op{Verb: iikanji.Restart, Host: app.Host, Place: place})
		}
	}
	return ops
}

// cacheVariables sets the variables of the caches and queues that the app reaches. One that no variable leads to is a tie of its source.
func (s *spread) cacheVariables(i *instance, variables map[string]string) error {
	has := s.site.Services[s.svc.Name]
	files, err := sourceFiles(s.home, cmp.Or(has.Source, has.SourceThere))
	if err != nil {
		return err
	}
	env, err := s.environment(&client{svc: s.svc, on: s.home})
	if err != nil {
		return err
	}
	for _, server := range s.site.Target.Services {
		if server.Role != iikanji.RoleCache && server.Role != iikanji.RoleQueue {
			continue
		}
		_, port, err := net.SplitHostPort(server.Address)
		if err != nil {
			continue
		}
		t := *s.task
		t.svc = server
		a := &cacheAddress{files: files, env: env, engine: server.Engine, names: t.namesAt(s.svc.Host), port: port}
		if found, err := a.find(); err != nil || found == nil {
			continue // a tie of the source, which has been told, or no client of it
		}
		if a.to, err = s.reachedFrom(server, i); err != nil {
			return err
		}
		found, err := a.find()
		if err != nil {
			return err
		}
		at := net.JoinHostPort(a.to, port)
		conn, err := i.on.Dial(s.ctx, "tcp", at)
		if err != nil {
			return fmt.Errorf("%s reads the address of %s from %s, and %s does not reach %s: %w", s.svc.Name, server.Name, strings.Join(found.variables(), ", "), i.name, at, err)
		}
		if err := conn.Close(); err != nil {
			return err
		}
		for name, value := range found.sets {
			if variables[name] == "" {
				variables[name] = value
			}
		}
	}
	return nil
}
