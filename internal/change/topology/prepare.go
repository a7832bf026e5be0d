package topology

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// prepared reports whether the data of the service has been put on the new host.
func (t *task) prepared() (bool, error) {
	beside, err := t.to.Glob(t.server.data + ".iikanji-*")
	if err != nil {
		return false, fmt.Errorf("looking for a copy of the data: %w", err)
	}
	return slices.ContainsFunc(beside, func(path string) bool {
		return strings.HasSuffix(path, ".former") || strings.HasSuffix(path, ".missing")
	}), nil
}

// needDump is how much space a dump and what is made of it need there, as a multiple of the
// data.
const needDump = 2.5

// prepare gives the new host the data, the settings and the accounts. While a folder is copied,
// the server and its clients stop.
func (t *task) prepare() (*iikanji.Change, error) {
	if prepared, err := t.prepared(); err != nil || prepared {
		return nil, errors.Join(err, change.ErrNothing)
	}
	times, how := needed, "a copy of the stopped folder "+t.server.data
	if t.server.loader != "" {
		times, how = needDump, "a dump"
	}
	size, err := t.fits(times)
	if err != nil {
		return nil, err
	}
	if t.server.loader != "" {
		if err := t.holdsDump(size); err != nil {
			return nil, err
		}
	}
	conf, err := t.conf()
	if err != nil {
		return nil, err
	}
	accounts, err := t.accounts()
	if err != nil {
		return nil, err
	}
	found, err := change.FolderID(t.to, t.server.data)
	if err != nil {
		return nil, err
	}
	if found == "" && t.server.loader != "" {
		return nil, fmt.Errorf("%s has no folder %s: start its server once", t.toName, t.server.data)
	}
	put, back := change.PlaceOps(t.toName, t.server.data, change.PlaceOrder{Host: t.svc.Host, Source: t.server.data, Found: found,
		Directly: t.site.Target.PrivateOf(t.svc.Host), Loader: t.server.loader})
	c := &iikanji.Change{Kind: t.kind, Target: t.target, Risk: iikanji.RiskRestart, Prepares: true, Weakens: t.weakens(),
		Says: fmt.Sprintf("prepare %s on %s: %s, %v; then plan the same again for the switch", t.svc.Name, t.toName, how, iikanji.Bytes(size))}
	if t.server.why != "" {
		c.Says += "; " + t.server.why
	}
	var edits iikanji.Change
	change.FromEdits(&edits, iikanji.VerbUnknown, conf)
	t.prepareOps(c, edits, put, back, accounts)
	c.Ground = edits.Ground
	return c, nil
}

// prepareOps makes Do and Undo of a preparation.
func (t *task) prepareOps(c *iikanji.Change, edits iikanji.Change, put, back iikanji.Op, accounts [][2]iikanji.Op) {
	unit, at, home := t.svc.Unit, t.toName, t.svc.Host
	ends := change.UnitState{Enabled: t.server.was.Enabled}
	runs := change.UnitState{Active: true, Enabled: t.server.was.Enabled}
	stopped := change.UnitState{Enabled: t.server.home.Enabled}
	there := func(was, want change.UnitState) iikanji.Op { return change.UnitOp(at, unit, was, want, t.server.links) }
	here := func(was, want change.UnitState) iikanji.Op {
		return change.UnitOp(home, unit, was, want, t.server.homeLinks)
	}
	for _, pair := range accounts {
		c.Do = append(c.Do, pair[0])
	}
	c.Do = append(c.Do, there(t.server.was, ends), edits.Do[0])
	if t.server.loader != "" { // the server tells its rows while it runs
		c.Do = append(c.Do, put, there(ends, runs))
		c.Undo = t.undoLoad(there(runs, ends), back, edits.Undo[0], there(ends, t.server.was), accounts)
		return
	}
	c.Do = append(c.Do, here(t.server.home, stopped), put, here(stopped, t.server.home), there(ends, runs))
	c.Do = append(c.Do, t.restartClients()...)
	c.Undo = t.undoPrepare(there(runs, ends), here(t.server.home, t.server.home), back, edits.Undo[0], there(ends, t.server.was), accounts)
}

// undoLoad orders the undo of a preparation by a dump, which has not touched the service.
func (t *task) undoLoad(end, back, conf, was iikanji.Op, accounts [][2]iikanji.Op) []iikanji.Op {
	end.After, back.After, conf.After, was.After = "-", "1", "-", "2 3"
	ops := []iikanji.Op{end, back, conf, was}
	for _, pair := range slices.Backward(accounts) {
		pair[1].After = "-"
		ops = append(ops, pair[1])
	}
	return ops
}

// undoPrepare orders the undo: the service comes back first where it is, whatever becomes of
// the new host.
func (t *task) undoPrepare(end, home, back, conf, was iikanji.Op, accounts [][2]iikanji.Op) []iikanji.Op {
	home.After, end.After, back.After, conf.After, was.After = "-", "-", "2", "-", "3 4"
	ops := []iikanji.Op{home, end, back, conf, was}
	for _, pair := range slices.Backward(accounts) {
		pair[1].After = "1"
		ops = append(ops, pair[1])
	}
	for _, op := range t.restartClients() {
		op.After = "1"
		ops = append(ops, op)
	}
	return ops
}

// restartClients are the ops that restart the clients: connections that ended with their
// server are noticed by many drivers only at the next statement.
func (t *task) restartClients() (ops []iikanji.Op) {
	for _, c := range t.clients {
		place := c.svc.Unit
		if t.site.Services[c.svc.Name].Running != nil && t.atHome(c) {
			place = c.svc.Name
		}
		ops = append(ops, iikanji.Op{Verb: iikanji.Restart, Host: c.svc.Host, Place: place})
	}
	return ops
}

// conf is the edit of the new host's settings: the addresses to listen at, and the settings
// that the service has from iikanji where it is.
func (t *task) conf() (change.Edit, error) {
	path := filepath.Join(t.server.confFolder, confName)
	old, err := t.site.ReadOld(t.toName, path)
	if err != nil {
		return change.Edit{}, err
	}
	text := "# Settings that iikanji has made; see `iikanji history`.\n[mysqld]\nbind_address = 127.0.0.1," + t.address + "\nskip_name_resolve = on\n"
	if dropIn := t.site.Services[t.svc.Name].DropIn; dropIn != "" {
		kept, err := t.site.ReadOld(t.svc.Host, dropIn)
		if err != nil {
			return change.Edit{}, err
		}
		memory, err := t.memory()
		if err != nil {
			return change.Edit{}, err
		}
		text += keptSettings(string(kept), memory)
	}
	return change.Edit{Host: t.toName, Path: path, Old: old, New: []byte(text)}, nil
}

// memory is that of the new host in bytes.
func (t *task) memory() (int64, error) {
	text, err := t.to.Read("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("reading the memory of %s: %w", t.toName, err)
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 || fields[0] != "MemTotal:" {
		return 0, fmt.Errorf("reading the memory of %s: no MemTotal", t.toName)
	}
	n, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading the memory of %s: %w", t.toName, err)
	}
	return n << 10, nil
}

// mostPool is the share of a host's memory that its database may take for pages.
const mostPool = 0.7

// poolName is the one setting that depends on the machine's memory.
const poolName = "innodb_buffer_pool_size"

// keptSettings are the settings of a drop-in for a host with another memory.
func keptSettings(text string, memory int64) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(l), "=")
		name = strings.ReplaceAll(strings.TrimSpace(name), "-", "_")
		value = strings.TrimSpace(value)
		if !ok || strings.HasPrefix(name, "#") || name == "bind_address" || name == "skip_name_resolve" {
			continue
		}
		if name == poolName {
			most := int64(mostPool*float64(memory)) >> 20 << 20
			if n, ok := sizeOf(value); ok && n > most {
				value = strconv.FormatInt(most, 10)
			}
		}
		fmt.Fprintf(&b, "%s = %s\n", name, value)
	}
	return b.String()
}

// sizeOf reads a size with a unit, as in 512M.
func sizeOf(text string) (int64, bool) {
	shift := 0
	if i := strings.IndexByte("KMG", (text + " ")[max(len(text)-1, 0)]); i >= 0 {
		text, shift = text[:len(text)-1], 10*(i+1)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n << shift, err == nil
}

// accounts are the ops that make the accounts of the clients for the addresses of their
// hosts, and those that remove them. They are made where the service is: the copy has them.
func (t *task) accounts() (pairs [][2]iikanji.Op, err error) {
	db := t.site.Services[t.svc.Name].DB()
	seen := map[change.AccountName]bool{}
	for _, c := range t.clients {
		from := t.site.Target.PrivateOf(c.svc.Host)
		if from == "" {
			return nil, fmt.Errorf("the address of the host of %s for the other hosts is not known: fill in private of its [[host]]", c.svc.Name)
		}
		pattern, err := network(from)
		if err != nil {
			return nil, err
		}
		wanted := change.AccountName{User: c.user, Host: pattern}
		if _, err := change.ParseAccount(wanted.String()); err != nil {
			return nil, fmt.Errorf("%s logs in as %q at %s: %w", c.svc.Name, c.user, c.place, err)
		}
		if seen[wanted] {
			continue
		}
		seen[wanted] = true
		as, covered, err := t.like(c.user, wanted, from)
		if err != nil {
			return nil, err
		}
		if covered {
			continue
		}
		statements, err := change.AccountStatements(t.ctx, db, as)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, change.AccountOps(t.svc.Host, t.svc.Name, wanted, as, statements))
	}
	return pairs, nil
}

// like finds the account that a client has where the service is, and reports whether an
// account is there already for the address.
func (t *task) like(user string, wanted change.AccountName, from string) (as change.AccountName, covered bool, err error) {
	db := t.site.Services[t.svc.Name].DB()
	rows, err := db.QueryContext(t.ctx, "SELECT Host FROM mysql.user WHERE User = ?", user)
	if err != nil {
		return as, false, fmt.Errorf("reading the accounts of %s: %w", t.svc.Name, err)
	}
	defer rows.Close()
	var hosts []string
	for rows.Next() {
		var host string
		if err := rows.Scan(&host); err != nil {
			return as, false, err
		}
		hosts = append(hosts, host)
	}
	if err := rows.Err(); err != nil {
		return as, false, err
	}
	for _, host := range []string{wanted.Host, from} {
		if slices.Contains(hosts, host) {
			return as, true, nil
		}
	}
	for _, host := range []string{"localhost", "127.0.0.1", "%", "::1"} {
		if slices.Contains(hosts, host) {
			return change.AccountName{User: user, Host: host}, host == "%", nil
		}
	}
	return as, false, fmt.Errorf("%s has no account %s@localhost, as which one for %s could be made", t.svc.Name, user, wanted)
}
