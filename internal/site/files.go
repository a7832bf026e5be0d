package site

import (
	"path/filepath"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/stack"
)

// Files in the folder of configs that the stack's servers read. Only iikanji
// writes the drop-in.
const (
	databaseConfig = "my.cnf"
	databaseDropIn = "mariadb.d/iikanji.cnf"
	nginxConfig    = "nginx.conf"
)

// Files is the site as far as its folders show it, while no service runs. Files
// may be written in the folders of its configs and its webapp only, neither in
// the history nor in the database's own files.
func Files(t iikanji.Target, a *arena.Arena, conf, webapp string) *change.Site {
	t.Policy = iikanji.Policy{Allow: a.Allow, AgentsChange: a.AgentsChange}
	database := change.Service{Config: filepath.Join(conf, databaseConfig), DropIn: filepath.Join(conf, databaseDropIn)}
	if a.App.Load != "" {
		database.Loads = []string{filepath.Join(webapp, filepath.Dir(a.App.Load))}
	}
	nginx := change.Service{Config: filepath.Join(conf, nginxConfig)}
	if a.App.Public != "" {
		nginx.Public = filepath.Join(webapp, a.App.Public)
	}
	services := map[string]change.Service{stack.Database: database, stack.App: {Source: filepath.Join(webapp, a.App.Source)}, stack.Nginx: nginx}
	for _, s := range t.Services {
		if svc, ok := services[s.Name]; ok {
			svc.Host = s.Host
			services[s.Name] = svc
		}
	}
	return &change.Site{Target: t, Roots: []string{conf, webapp}, Services: services}
}
