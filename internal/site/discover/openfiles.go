package discover

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
	"github.com/iikanji/iikanji/internal/machine/sqlitefile"
	"github.com/iikanji/iikanji/internal/site/target"
)

// output fills in the file to which an app writes its standard output, or else its
// standard error.
func (s *search) output(svc *service) {
	if svc.Role != iikanji.RoleApp || svc.Logs.Output != "" {
		return
	}
	svc.Logs.Output = cmp.Or(hostproc.Standard(s.host, svc.proc.PID, 1), hostproc.Standard(s.host, svc.proc.PID, 2))
}

// sqliteFiles makes a service of the SQLite files that the apps have open, by their folders.
// An app may open a file for each request only: the files of one moment are those of a
// few tenants, and their folder has the others.
func (s *search) sqliteFiles() {
	folders, files, apps := []string{}, 0, []string{}
	for _, svc := range s.order {
		if svc.Role != iikanji.RoleApp {
			continue
		}
		for _, path := range s.databasesOf(svc) {
			files++
			if dir := filepath.Dir(path); !slices.Contains(folders, dir) {
				folders = append(folders, dir)
			}
			if !slices.Contains(apps, svc.Name) {
				apps = append(apps, svc.Name)
			}
		}
	}
	if len(folders) == 0 {
		return
	}
	slices.Sort(folders)
	in := &service{Service: target.Service{Name: s.unique("sqlite"), Role: iikanji.RoleDatabase, Engine: iikanji.EngineSQLite,
		Database: target.Database{Files: folders}}}
	s.order = append(s.order, in)
	s.note(in, "SQLite files in "+list(folders), Sure, "%s has %d of them open", list(apps), files)
	for _, dir := range folders {
		s.mayWrite(dir)
	}
	s.todo("service %s: SQLite logs nothing itself. For its statements have the app write a trace, and fill in logs.slow (docs/sqlite.md); "+
		"if initialize copies files or makes them from SQL files, fill in database.originals and database.schema_folders", in.Name)
}

// databasesOf are the SQLite files that the processes of a service have open.
func (s *search) databasesOf(svc *service) (out []string) {
	for _, pid := range s.pids() {
		if s.rootOf(pid) != svc.proc.PID {
			continue
		}
		open, err := hostproc.OpenFiles(s.host, pid)
		if err != nil { // of another user's process
			continue
		}
		for _, f := range open {
			if slices.Contains(out, f.Path) {
				continue
			}
			if is, err := sqlitefile.IsDatabase(s.host, f.Path); err == nil && is {
				out = append(out, f.Path)
			}
		}
	}
	return out
}

// list joins names, the first few of many.
func list(names []string) string {
	const most = 3
	text := ""
	for i, n := range names[:min(len(names), most)] {
		if i > 0 {
			text += ", "
		}
		text += n
	}
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}
