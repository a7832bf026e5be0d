package main

import (
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/change/history"
)

// nameRoots names the folders of a target, so that the history can be committed
// without their paths.
func (t *namedTarget) nameRoots(h *history.History, dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		abs = dir
	}
	named := []history.Root{{Name: "history", Path: h.Dir()}}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		named = append(named, history.Root{Name: "work", Path: real})
	}
	named = append(named, history.Root{Name: "work", Path: abs})
	if home, err := os.UserHomeDir(); err == nil {
		named = append(named, history.Root{Name: "home", Path: home})
	}
	if t.file != nil {
		named = append(named, history.Root{Name: "site", Path: filepath.Dir(t.file.Path)})
	}
	if err := h.NameRoots(named...); err != nil || t.file == nil {
		return err
	}
	return h.NamePlaces(t.places()...)
}

// places are files in the folders of a site's services.
func (t *namedTarget) places() (paths []string) {
	for _, s := range t.file.Services {
		paths = append(paths, s.Socket, s.PIDFile, s.Program, s.Config, s.DropIn, s.Logs.Access, s.Logs.Error, s.Logs.Slow, s.Logs.Output)
		if s.App.Source != "" {
			paths = append(paths, filepath.Join(s.App.Source, "go.mod"))
		}
	}
	return paths
}
