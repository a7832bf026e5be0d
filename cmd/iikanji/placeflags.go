package main

import (
	"path/filepath"
)

// placeFlags are the flags for the folders of a target's stack and history, and for the
// app of an arena.
type placeFlags struct {
	Dir     string `help:"Work folder of the stack (default: below the user's state folder)." type:"path" placeholder:"FOLDER"`
	History string `help:"Folder of runs and changes (default: history in the work folder)." type:"path" placeholder:"FOLDER"`

	appFlag
}

// folders returns both folders, with the defaults filled in.
func (f placeFlags) folders(a *namedTarget) (dir, hist string, err error) {
	if dir = f.Dir; dir == "" {
		if dir, err = a.defaultDir(); err != nil {
			return "", "", err
		}
	}
	if hist = f.History; hist == "" {
		hist = filepath.Join(dir, "history")
	}
	return dir, hist, nil
}

// flags returns these flags as the user gave them, for commands in hints.
func (f placeFlags) flags() string {
	text := ""
	if f.Dir != "" {
		text += " --dir " + f.Dir
	}
	if f.History != "" {
		text += " --history " + f.History
	}
	return text
}
