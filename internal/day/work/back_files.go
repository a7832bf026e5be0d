package work

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/day/work/difference"
	"github.com/iikanji/iikanji/internal/day/work/state"
)

// file plans the content of one file.
func (p *plan) file(e difference.Edit) error {
	nowHost, _ := p.now.Host(e.Host)
	thenHost, _ := p.then.Host(e.Host)
	if nowHost == nil || thenHost == nil {
		p.stay(e, "one of the states does not have its host", true)
		return nil
	}
	now, is := nowHost.File(e.Place)
	then, was := thenHost.File(e.Place)
	switch {
	case is && now.Class == state.Link || was && then.Class == state.Link:
		p.stay(e, "it is a link: "+linkHint(then, was, e.Place), true)
		return nil
	case is && now.Class != state.Text || was && then.Class != state.Text:
		p.stay(e, "its content is not kept: it is large, binary, a key or a dump", true)
		return nil
	case is && was && now.SHA == then.SHA:
		p.stay(e, fmt.Sprintf("only its rights differ: chmod %04o, chown %s", then.Mode, then.Owner), true)
		return nil
	}
	folder, err := p.missingFolder(e)
	if err != nil {
		return err
	}
	place := e.Place
	if folder {
		place = path.Dir(place) // it is made with the file
	}
	if err := p.d.Site.MayWrite(e.Host, place); err != nil {
		p.stay(e, "it is outside of the folders of the policy", true)
		return nil
	}
	unit := strings.Contains(e.Place, "/systemd/system/")
	if unit && e.Host == "" && p.d.Site.Services[change.Systemd].Running == nil {
		p.stay(e, "a unit's file, and the policy does not have "+change.UnitsFolder+": restore it and run systemctl daemon-reload", true)
		return nil
	}
	do := iikanji.Op{Verb: iikanji.Remove, Host: e.Host, Place: e.Place, Expect: change.Absent}
	undo := do
	if is {
		text, err := p.d.Store.Get(now.SHA)
		if err != nil {
			return err
		}
		undo = iikanji.Op{Verb: iikanji.Write, Host: e.Host, Place: e.Place, Body: string(text), Mode: now.Mode, Owner: now.Owner}
		do.Expect = iikanji.Fingerprint(now.SHA)
	}
	if was {
		text, err := p.d.Store.Get(then.SHA)
		if err != nil {
			return err
		}
		do = iikanji.Op{Verb: iikanji.Write, Host: e.Host, Place: e.Place, Body: string(text), Mode: then.Mode, Owner: then.Owner, Expect: do.Expect}
		undo.Expect = iikanji.Fingerprint(then.SHA)
		do.Folder, undo.Folder = folder, folder
	} else {
		undo.Expect = change.Absent
	}
	p.files = append(p.files, pair{do, undo})
	p.notify(e, nowHost)
	if unit {
		p.unitFile(e, nowHost)
	}
	return nil
}

// unitFile has systemd read a file of a unit, and the service of the unit start with it.
func (p *plan) unitFile(e difference.Edit, h *state.Host) {
	p.systemd[e.Host] = true
	unit := path.Base(e.Place)
	if dir, dropIn := strings.CutSuffix(path.Base(path.Dir(e.Place)), ".d"); dropIn {
		unit = dir
	}
	for i := range h.Services {
		s := &h.Services[i]
		if s.Unit != "" && unitName(s.Unit) == unitName(unit) && p.d.Site.Services[s.Name].Running != nil {
			p.restart[s.Name] = true
		}
	}
}

// unitName is the name of a unit without the ending that services need not have.
func unitName(unit string) string { return strings.TrimSuffix(unit, ".service") }

// missingFolder reports whether the folder of a file does not exist now.
func (p *plan) missingFolder(e difference.Edit) (bool, error) {
	h, err := p.d.Site.On(e.Host)
	if err != nil {
		return false, err
	}
	_, err = h.Stat(path.Dir(e.Place))
	return errors.Is(err, fs.ErrNotExist), nil
}

func linkHint(then state.File, was bool, place string) string {
	if was && then.Class == state.Link {
		return "ln -sfn " + then.Target + " " + place
	}
	return "rm " + place
}

// notify notes which service has to read a file.
func (p *plan) notify(e difference.Edit, h *state.Host) {
	for i := range h.Services {
		s := &h.Services[i]
		svc, ok := p.d.Site.Services[s.Name]
		if !ok || svc.Running == nil {
			continue
		}
		switch {
		case s.Engine == iikanji.EngineNginx && (slices.Contains(s.Reads, e.Place) || e.Kind == difference.Directive):
			p.reload[s.Name] = true
		case s.Engine.MySQLFamily(): // its variables say whether a restart is needed
		case slices.Contains(s.Reads, e.Place), slices.Contains(s.EnvFiles, e.Place), e.Place == svc.EnvFile, e.Place == svc.ArgsFile:
			p.restart[s.Name] = true
		case s.Source != "" && strings.HasPrefix(e.Place, strings.TrimSuffix(s.Source, "/")+"/") && path.Ext(e.Place) != ".sql":
			p.restart[s.Name] = true
		}
	}
}
