package livesite

import (
	"path/filepath"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/site/target"
)

// Files is the site as far as its file shows it, for work on files while
// services may not run. dir is the work folder.
func Files(hosts Hosts, f *target.File, dir string) *change.Site {
	site := &change.Site{Hosts: hosts, Target: f.Target(), Roots: roots(filepath.Join(dir, "env"), f), Services: map[string]change.Service{}}
	for _, s := range f.Services {
		svc := change.Service{Host: s.Host, Config: s.Config, DropIn: s.DropIn, Public: s.Public, Loads: s.Database.Loads, LoadsOn: s.Host}
		if s.Role == iikanji.RoleApp {
			svc.Source, svc.Package = s.App.Source, s.App.Package
		}
		if s.InFiles() {
			svc.Files, svc.Originals = s.Database.Files, s.Database.Originals
		}
		site.Services[s.Name] = svc
	}
	return site
}
