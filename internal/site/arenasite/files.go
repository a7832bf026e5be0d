package arenasite

import (
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
)

// Files is the site as far as its folders show it, while no service runs. Files
// may be written in the folders of its configs and its webapp only, neither in
// the history nor in the services' own data. The arena is complete.
func Files(t iikanji.Target, a *arena.Arena, conf, webapp string) *change.Site {
	t.Policy = a.Policy()
	services := map[string]change.Service{}
	for i := range a.Services {
		services[a.Services[i].Name] = filesOf(&a.Services[i], conf, webapp)
	}
	for _, s := range t.Services {
		if svc, ok := services[s.Name]; ok {
			svc.Host, svc.Files = s.Host, s.Files
			services[s.Name] = svc
		}
	}
	return &change.Site{Target: t, Roots: []string{conf, webapp}, Services: services}
}

// filesOf are the files of one service.
func filesOf(svc *arena.Service, conf, webapp string) (out change.Service) {
	if main := svc.MainConfig(); main != "" {
		out.Config = filepath.Join(conf, main)
	}
	if svc.Engine.MySQLFamily() && svc.DropIns != "" {
		out.DropIn = filepath.Join(conf, svc.DropIns, stack.OwnDropIn(svc))
	}
	if svc.Source != "" {
		out.Source = filepath.Join(webapp, svc.Source)
		out.Package = packageOf(svc.Build)
	}
	if svc.Public != "" {
		out.Public = filepath.Join(webapp, svc.Public)
	}
	if svc.Originals != "" {
		out.Originals = filepath.Join(webapp, svc.Originals)
	}
	for _, dir := range svc.Loads {
		out.Loads = append(out.Loads, filepath.Join(webapp, dir))
	}
	return out
}

// packageOf is the package that a build by the go command makes, as "./cmd/app"; "" for that of
// the source folder itself, and for other builds.
func packageOf(build []string) string {
	if len(build) < 3 || build[0] != "go" || build[1] != "build" {
		return ""
	}
	folder, below := strings.CutPrefix(build[len(build)-1], "./")
	if !below || !filepath.IsLocal(folder) {
		return ""
	}
	return "./" + folder
}
