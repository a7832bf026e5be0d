package topology

import (
	"cmp"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/settings"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A client is an app that connects to the service that moves.
type client struct {
	svc iikanji.Service
	on  host.Host
	// variable has the host alone; value is what it has now, "" if it is not set.
	variable, value string
	user            string // the account that it logs in with
	place           string // of the connection in its source
	inFile          bool   // the unit reads files of variables, which override Environment=
	// sets are the variables of an app that has the address of a cache, with their new values.
	sets map[string]string
}

// findClients finds the apps that connect to the service, as read reads each.
func (t *task) findClients(read func(iikanji.Service) (client, bool, error)) error {
	for _, app := range t.site.Target.WithRole(iikanji.RoleApp) {
		for _, name := range append([]string{app.Host}, app.Instances...) {
			instance := app
			instance.Host = name
			c, uses, err := read(instance)
			if err != nil {
				return fmt.Errorf("app %s: %w", iikanji.PlacedOn(app.Name, name), err)
			}
			if uses {
				t.clients = append(t.clients, c)
			}
		}
	}
	if len(t.clients) == 0 {
		return fmt.Errorf("no app is known that connects to %s", t.svc.Name)
	}
	return nil
}

// client reads how an app connects, and reports whether it does so to the service.
func (t *task) client(app iikanji.Service) (client, bool, error) {
	c, env, files, err := t.readClient(app)
	if err != nil {
		return c, false, err
	}
	a := &addressing{files: files, env: env, ours: t.leadsHere}
	found, err := a.find()
	if err != nil || found == nil {
		return c, false, err
	}
	c.variable, c.value, c.user, c.place = found.variable, env[found.variable], found.user, found.place
	return c, true, t.mayLead(c)
}

// readClient reads what tells where an app connects to: its variables and its source.
func (t *task) readClient(app iikanji.Service) (c client, env map[string]string, files []settings.File, err error) {
	c.svc = app
	if c.on, err = t.site.On(app.Host); err != nil {
		return c, nil, nil, err
	}
	has := t.site.Services[app.Name]
	source := cmp.Or(has.Source, has.SourceThere)
	if source == "" {
		return c, nil, nil, fmt.Errorf("its source is not known, so that nothing tells how it connects to %s: fill in app.source", t.svc.Name)
	}
	if env, err = t.environment(&c); err != nil {
		return c, nil, nil, err
	}
	files, err = sourceFiles(c.on, source)
	return c, env, files, err
}

// mayLead refuses a client whose unit cannot give it another address.
func (t *task) mayLead(c client) error {
	if c.svc.Unit == "" {
		return fmt.Errorf("it has no systemd unit, by which it could be given another address of %s", t.svc.Name)
	}
	return t.site.MayChangeUnit(c.svc.Host, c.svc.Unit)
}

// given are the variables that the switch sets for a client.
func (t *task) given(c client) map[string]string {
	if c.sets != nil {
		return c.sets
	}
	return map[string]string{c.variable: t.address}
}

// atHome reports whether a client is the app on its own host, not a further instance.
func (t *task) atHome(c client) bool { return t.site.Services[c.svc.Name].Host == c.svc.Host }

// leadsHere reports whether a connection of an app of a host is to the service.
func (t *task) leadsHere(c settings.Connection) bool {
	if c.Socket.Value != "" {
		return c.Socket.Value == t.svc.Socket
	}
	_, port, _ := net.SplitHostPort(t.svc.Address)
	if port == "" {
		port = t.server.port
	}
	names := []string{"127.0.0.1", "localhost", "::1", t.site.Target.PrivateOf(t.svc.Host)}
	return c.Port.Value == port && slices.Contains(names, c.Host.Value)
}

// namesAt are those by which an app of a host knows the host of the service.
func (t *task) namesAt(host string) (all []string) {
	if host == t.svc.Host {
		all = []string{"127.0.0.1", "localhost", "::1"}
	}
	if private := t.site.Target.PrivateOf(t.svc.Host); private != "" {
		all = append(all, private)
	}
	return all
}

// environment is that of an app's process: of its unit's main process.
func (t *task) environment(c *client) (map[string]string, error) {
	all := map[string]string{}
	for _, kv := range t.site.Services[c.svc.Name].Env {
		name, value, _ := strings.Cut(kv, "=")
		all[name] = value
	}
	if c.svc.Unit == "" {
		return all, nil
	}
	is, err := change.ShowUnit(t.ctx, c.on, c.svc.Unit, "MainPID", "Type", "EnvironmentFiles")
	if err != nil {
		return nil, err
	}
	if c.inFile = is["EnvironmentFiles"] != ""; is["Type"] == "oneshot" {
		return nil, fmt.Errorf("%s is of type oneshot, which systemd does not start again", c.svc.Unit)
	}
	text, err := c.on.Read("/proc/" + is["MainPID"] + "/environ")
	if err != nil {
		return nil, fmt.Errorf("reading the environment of %s, which must run: %w", c.svc.Unit, err)
	}
	for kv := range strings.SplitSeq(string(text), "\x00") {
		if name, value, ok := strings.Cut(kv, "="); ok {
			all[name] = value
		}
	}
	return all, nil
}

// skipped are folders that have no source of the app.
var skipped = []string{"node_modules", "vendor", "public", "static", "testdata"}

// sourceFiles reads the files of an app's source that may open connections.
func sourceFiles(h host.Host, folder string) (files []settings.File, err error) {
	all := 0
	real, err := h.RealPath(folder)
	if err != nil {
		return nil, fmt.Errorf("reading the source in %s: %w", folder, err)
	}
	err = h.Walk(real, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == real {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") || slices.Contains(skipped, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(real, path)
		if err != nil || !d.Type().IsRegular() || !(filepath.Ext(rel) == ".go" && !settings.IsTest(rel) || settings.Reads(rel)) {
			return err
		}
		text, err := h.ReadBeneath(real, path)
		if err != nil || len(text) > settings.MaxFile {
			return err
		}
		if all += len(text); all > settings.MaxAll || len(files) >= settings.MaxFiles {
			return fs.SkipAll
		}
		files = append(files, settings.File{Path: rel, Text: string(text)})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the source in %s: %w", folder, err)
	}
	return files, nil
}
