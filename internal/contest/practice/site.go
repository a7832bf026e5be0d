package practice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/lab"
)

// A site is an arena's files as they lie on each machine.
type site struct {
	arena    *arena.Arena
	dir      string // of this machine, with the tree webapp and the programs
	programs map[string]string
}

// home is the account's folder on a machine, webapp the site's.
const (
	home   = "/home/" + account
	webapp = home + "/webapp"
)

// lay writes the files of an arena, and builds its apps.
func lay(ctx context.Context, a *arena.Arena, o Options) (*site, error) {
	s := &site{arena: a, dir: filepath.Join(o.Dir, "site"), programs: map[string]string{}}
	tree, data := filepath.Join(s.dir, "webapp"), filepath.Join(s.dir, "data")
	if err := errors.Join(os.MkdirAll(tree, 0o755), os.MkdirAll(data, 0o755)); err != nil {
		return nil, fmt.Errorf("laying the site: %w", err)
	}
	templates := map[string]bool{}
	for _, svc := range a.Services {
		for _, c := range svc.Configs {
			templates[c.Template] = true
		}
		if svc.Engine != iikanji.EngineSQLite {
			continue
		}
		if err := os.MkdirAll(filepath.Join(tree, filepath.FromSlash(svc.Data)), 0o755); err != nil {
			return nil, fmt.Errorf("laying the site: %w", err)
		}
	}
	err := fs.WalkDir(a.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || templates[name] {
			return err
		}
		body, err := fs.ReadFile(a.Files, name)
		if err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if bytes.HasPrefix(body, []byte("#!")) {
			mode = 0o755
		}
		to := filepath.Join(tree, filepath.FromSlash(name))
		return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, body, mode))
	})
	if err == nil && a.Generate != nil {
		err = a.Generate(ctx, tree, data)
	}
	for _, svc := range a.Services {
		if err == nil && svc.Engine == iikanji.EngineGo {
			err = s.build(ctx, svc)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("laying the site: %w", err)
	}
	return s, nil
}

// build makes the program of an app, beside its source.
func (s *site) build(ctx context.Context, svc arena.Service) error {
	source := filepath.Join(s.dir, "webapp", svc.Source)
	mod := filepath.Join(source, "go.mod")
	if _, err := os.Stat(mod); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(mod, []byte("module "+s.arena.Name+"\n\ngo 1.26.0\n"), 0o644); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-mod=readonly", "-o", s.arena.Name, ".")
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w: %s", svc.Name, err, out)
	}
	s.programs[svc.Name] = path.Join(webapp, svc.Source, s.arena.Name)
	return vendor(ctx, source)
}

// vendor puts the modules of an app beside its source: the machines reach no network, and
// people build there.
func vendor(ctx context.Context, source string) error {
	cmd := exec.CommandContext(ctx, "go", "mod", "vendor")
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("keeping the modules of the app: %w: %s", err, out)
	}
	return nil
}

// The name of the app whose unit has the name of the arena alone, and the port of the first app.
const (
	mainApp   = "app"
	firstPort = 3000
)

// apps are the apps of the site, the main one first.
func (s *site) apps() (all []arena.Service) {
	for _, svc := range s.arena.Services {
		if svc.Engine == iikanji.EngineGo {
			all = append(all, svc)
		}
	}
	main := slices.IndexFunc(all, func(svc arena.Service) bool { return svc.Name == mainApp })
	if main > 0 {
		all[0], all[main] = all[main], all[0]
	}
	return all
}

// places are where everything is on a machine. The address of the entry is that of the
// first one for apps, and all of a machine's for its own nginx.
func (s *site) places(entry string) arena.Places {
	p := arena.Places{Dir: home, Conf: "/etc/nginx", Webapp: webapp, Run: "/run", Tmp: "/tmp", Logs: "/var/log/nginx", Entry: s.arena.Entry, Services: map[string]arena.Place{}}
	first, port := s.apps()[0].Name, firstPort
	for _, svc := range s.arena.Services {
		one, logs := arena.Place{Name: svc.Name, Logs: map[string]string{}}, "/var/log/nginx"
		switch svc.Engine {
		case iikanji.EngineMariaDB:
			one.Port, one.Socket, one.Data, one.Config = 3306, "/run/mysqld/mysqld.sock", "/var/lib/mysql", "/etc/mysql/my.cnf"
			one.Schema, one.User, one.Password = svc.Database.Name, svc.Database.User, svc.Database.Password
		case iikanji.EngineNginx:
			one.Port, one.Config = 80, "/etc/nginx/nginx.conf"
		case iikanji.EngineSQLite:
			logs, one.Data = home, path.Join(webapp, svc.Data)
		default:
			one.Port, one.Binary = firstPort, s.programs[svc.Name]
			if svc.Name != first {
				port++
				one.Port = port
			}
		}
		one.Address = fmt.Sprintf("127.0.0.1:%d", one.Port)
		if svc.Name == s.arena.Entry {
			one.Address = entry
		}
		for _, l := range svc.Logs {
			one.Logs[l.Kind] = path.Join(logs, path.Base(l.File))
		}
		p.Services[svc.Name] = one
	}
	return p
}

// unit is the name of an app's unit, as contests call them.
func (s *site) unit(svc arena.Service) string {
	name := s.arena.Name
	if svc.Name != mainApp {
		name += "-" + svc.Name
	}
	return name + "." + string(svc.Engine) + ".service"
}

// put writes the site into a machine that is down. first is the address of the machine that
// clients use.
func (s *site) put(ctx context.Context, m *lab.Machine, first netip.Addr) error {
	if err := os.MkdirAll(m.Path(home), 0o755); err != nil {
		return err
	}
	for _, args := range [][]string{{"cp", "-a", filepath.Join(s.dir, "webapp"), m.Path(home)}, {"chown", "-R", fmt.Sprintf("%d:%d", accountID, accountID), m.Path(webapp)}} {
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("copying the site: %w: %s", err, out)
		}
	}
	if err := linkGo(m); err != nil {
		return err
	}
	return s.config(m, first.String())
}

// config writes the configurations of the services and their units. entry is the address that
// clients use.
func (s *site) config(m place, entry string) error {
	here, outside := s.places("80"), s.places(entry)
	for _, svc := range s.arena.Services {
		var err error
		switch svc.Engine {
		case iikanji.EngineMariaDB:
			err = m.Write("/etc/mysql/mariadb.conf.d/60-"+s.arena.Name+".cnf", "[mysqld]\n"+svc.Database.Conf, 0o644)
		case iikanji.EngineNginx:
			err = s.putNginx(m, svc, here)
		case iikanji.EngineSQLite: // files of the apps
		default:
			err = s.putApp(m, svc, outside)
		}
		if err != nil {
			return fmt.Errorf("service %s: %w", svc.Name, err)
		}
	}
	return nil
}

// linkGo puts the go command of this machine onto the search path of a machine, which sees
// /usr of this one.
func linkGo(m *lab.Machine) error {
	program, err := exec.LookPath("go")
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	const at = "/usr/local/bin/go"
	if err != nil || !strings.HasPrefix(program, "/usr/") || program == at {
		return nil
	}
	if err := os.MkdirAll(m.Path(path.Dir(at)), 0o755); err != nil {
		return fmt.Errorf("linking the go command: %w", err)
	}
	if err := os.Symlink(program, m.Path(at)); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("linking the go command: %w", err)
	}
	return nil
}

// putNginx writes nginx's configuration.
func (s *site) putNginx(m place, svc arena.Service, p arena.Places) error {
	for _, c := range svc.Configs {
		body, err := fs.ReadFile(s.arena.Files, c.Template)
		if err != nil {
			return err
		}
		t, err := template.New(c.Template).Option("missingkey=error").Parse(string(body))
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := t.Execute(&out, arena.View{Places: p, Self: p.Services[svc.Name]}); err != nil {
			return err
		}
		if err := m.Write("/etc/nginx/"+path.Base(c.Template), "user www-data;\n"+out.String(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// putApp writes an app's environment and its unit.
func (s *site) putApp(m place, svc arena.Service, p arena.Places) error {
	var env strings.Builder
	for _, kv := range svc.Env(p) {
		name, value, _ := strings.Cut(kv, "=")
		fmt.Fprintf(&env, "%s=%q\n", name, value)
	}
	file := home + "/env.sh"
	if svc.Name != mainApp {
		file = home + "/env-" + svc.Name + ".sh"
	}
	unit := fmt.Sprintf("[Unit]\nDescription=%s\nAfter=mariadb.service\n\n[Service]\nUser=%s\nWorkingDirectory=%s\nEnvironmentFile=%s\nExecStart=%s\nRestart=always\n\n[Install]\nWantedBy=multi-user.target\n",
		s.arena.Title, account, path.Join(webapp, svc.Source), file, s.programs[svc.Name])
	return errors.Join(m.Write(file, env.String(), 0o644), m.Write("/etc/systemd/system/"+s.unit(svc), unit, 0o644), m.Enable(s.unit(svc)))
}

// startLimit bounds the time until the site of a machine answers: three machines on two cores load
// millions of rows side by side.
const startLimit = 10 * time.Minute

// begin makes the database of a machine that is up, loads its data, and waits until the
// site answers.
func (s *site) begin(ctx context.Context, m *lab.Machine) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for _, svc := range s.arena.Services {
		if svc.Engine == iikanji.EngineMariaDB {
			db := svc.Database
			if err := in(ctx, m, nil, "/", "mariadb", "-e", databaseSQL(db.Name, db.User, db.Password)); err != nil {
				return err
			}
		}
	}
	p := s.places(m.Address().String())
	for _, svc := range s.arena.Services {
		if svc.Load == "" {
			continue
		}
		load := path.Join(webapp, svc.Load)
		if err := in(ctx, m, svc.Env(p), path.Dir(load), load); err != nil {
			return fmt.Errorf("loading the data: %w", err)
		}
	}
	if err := in(ctx, m, nil, "/", "chown", "-R", account+":"+account, webapp); err != nil { // files that were loaded
		return err
	}
	for _, svc := range s.arena.Services {
		if s.programs[svc.Name] != "" {
			if err := in(ctx, m, nil, "/", "systemctl", "restart", s.unit(svc)); err != nil {
				return err
			}
		}
	}
	return in(ctx, m, nil, "/", "sh", "-c", "until curl -s -o /dev/null http://127.0.0.1/; do sleep 0.2; done")
}

// in runs a command in a folder of a machine; its status must be 0.
func in(ctx context.Context, m *lab.Machine, env []string, dir string, args ...string) error {
	words := append([]string{"env", "-C", dir}, env...)
	r, err := m.Run(ctx, append(words, args...)...)
	if err == nil && r.Status != 0 {
		err = fmt.Errorf("%s ended with status %d: %.500s", args[0], r.Status, r.Output)
	}
	return err
}
