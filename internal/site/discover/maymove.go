package discover

import (
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/target"
)

// The folders, besides that of its settings, which a move of a database to another host edits:
// that of units and their drop-ins, and where the packages of distributions have the data.
const (
	unitsFolder = host.UnitsFolder
	dataFolder  = "/var/lib/mysql"
)

// redisFolders are where the packages of distributions have the settings and the data of a Redis.
var redisFolders = []string{"/etc/redis", "/var/lib/redis"}

// moves are the folders that a move of a service edits; none for one that does not move.
func moves(svc *target.Service) []string {
	switch {
	case svc.Unit == "" || len(svc.Spare) == 0:
		return nil
	case svc.Engine.MySQLFamily() && svc.DropIn != "":
		return []string{unitsFolder, filepath.Dir(svc.DropIn), dataFolder}
	case svc.Engine == iikanji.EngineRedis:
		return append([]string{unitsFolder}, redisFolders...)
	}
	return nil
}

// mayMove adds the folders that a move of a database or a Redis to a host with a spare of it
// edits, where the policy lets a site need more than one host.
func (s *sites) mayMove() {
	f := s.out.File
	if !f.Target().Policy.MoreHosts {
		return
	}
	movable := false
	for i := range f.Services {
		svc := &f.Services[i]
		folders := moves(svc)
		movable = movable || len(folders) > 0
		for _, name := range append([]string{svc.Host}, svc.Spare...) {
			for _, folder := range folders {
				s.grant(name, folder)
			}
		}
	}
	for i := range f.Services {
		if svc := &f.Services[i]; movable && svc.Role == iikanji.RoleApp && svc.Unit != "" { // they get its address
			s.grant(svc.Host, unitsFolder)
		}
	}
	for i := range f.Services {
		s.maySpread(&f.Services[i])
	}
}

// maySpread adds the folders that a second instance of an app edits on a host with a spare of
// it: that of units, and that of its source.
func (s *sites) maySpread(svc *target.Service) {
	if svc.Role != iikanji.RoleApp || svc.Unit == "" || svc.App.Source == "" {
		return
	}
	for _, name := range svc.Spare {
		s.grant(name, unitsFolder)
		s.grant(name, svc.App.Source)
	}
}

// grant adds a folder of a machine to the policy if it is there.
func (s *sites) grant(machine, folder string) {
	p := s.machine(machine)
	if _, err := p.Host.Stat(folder); err != nil {
		return
	}
	if !p.As.Here() {
		folder = p.As.Name + ":" + folder
	}
	if folders := &s.out.File.Policy.Folders; !slices.Contains(*folders, folder) {
		*folders = append(*folders, folder)
	}
}
