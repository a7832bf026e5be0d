package difference

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/state"
)

// slack is by how much a file may be newer than what has read it: process times have
// steps of 10 ms.
const slack = 60 * time.Millisecond

// files compares the files of both states, which are sorted by path.
func (c *comparer) files() {
	a, b := c.base.Files, c.now.Files
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Path < b[0].Path:
			if !c.unread(a[0].Path) {
				c.file(a[0], state.File{Path: a[0].Path})
			}
			a = a[1:]
		case len(a) == 0 || b[0].Path < a[0].Path:
			if _, was := c.base.Unread[b[0].Path]; !was && len(c.base.Files) > 0 {
				c.file(state.File{Path: b[0].Path}, b[0])
			}
			b = b[1:]
		default:
			if !a[0].Same(b[0]) {
				c.file(a[0], b[0])
			}
			a, b = a[1:], b[1:]
		}
	}
}

// unread reports whether a file, or a folder above it, could not be read.
func (c *comparer) unread(name string) bool {
	for {
		if _, ok := c.now.Unread[name]; ok {
			return true
		}
		if name == "/" || name == "." {
			return false
		}
		name = path.Dir(name)
	}
}

// file compares one file; the class of one that does not exist is "".
func (c *comparer) file(old, now state.File) {
	e := Edit{Kind: Other, Place: now.Path, Old: iikanji.Fingerprint(old.SHA), New: iikanji.Fingerprint(now.SHA)}
	left := iikanji.Fingerprint(now.SHA)
	if now.Class == "" {
		left = "absent"
	}
	if old.Class == state.Link || now.Class == state.Link {
		c.link(&e, old, now)
		c.add(e, now.Path, left)
		return
	}
	if old.SHA == now.SHA { // the rights
		e.Names = []string{rights(old, now)}
		c.add(e, now.Path, left)
		return
	}
	before, after := c.text(old), c.text(now)
	e.Added, e.Removed = lines(before, after)
	c.meaning(&e, old, now, before, after)
	switch {
	case old.Class == "":
		e.Names = append([]string{"new file"}, e.Names...)
	case now.Class == "":
		e.Names = append([]string{"removed"}, e.Names...)
	case now.Class != state.Text || old.Class != state.Text:
		e.Names = append(e.Names, "content")
	}
	c.add(e, now.Path, left)
}

// rights says how the rights of a file differ.
func rights(old, now state.File) string {
	if old.Owner != now.Owner {
		return fmt.Sprintf("owner %s → %s", old.Owner, now.Owner)
	}
	return fmt.Sprintf("mode %04o → %04o", old.Mode, now.Mode)
}

// link compares a link; those in the folders of targets enable units.
func (c *comparer) link(e *Edit, old, now state.File) {
	dir := path.Base(path.Dir(now.Path))
	if strings.Contains(now.Path, "/systemd/system/") && (strings.HasSuffix(dir, ".wants") || strings.HasSuffix(dir, ".requires")) {
		e.Kind, e.Names = Unit, []string{"enabled at boot"}
		if now.Class == "" {
			e.Names = []string{"disabled at boot"}
		}
		return
	}
	switch {
	case now.Class == "":
		e.Names = []string{"link removed"}
	case now.Target != "":
		e.Names = []string{"link to " + now.Target}
	default:
		e.Names = []string{"a file in place of a link"}
	}
	if s := c.reader(now.Path, iikanji.EngineNginx); s != nil || strings.Contains(now.Path, "/nginx/") {
		e.Kind = Directive
		c.notLoaded(e, c.web(), now)
	}
}

// meaning says what of a file differs, in the words of its language.
func (c *comparer) meaning(e *Edit, old, now state.File, before, after []byte) {
	name := now.Path
	source := c.sourceOf(name)
	switch web := c.reader(name, iikanji.EngineNginx); {
	case web != nil || strings.Contains(name, "/nginx/") && source == nil && (before != nil || after != nil):
		e.Kind, e.Names = Directive, directives(before, after)
		if web == nil {
			web = c.web()
		}
		c.notLoaded(e, web, now)
	case c.optionReader(name) != nil || strings.HasSuffix(name, ".cnf"):
		c.optionFile(e, now, before, after)
	case c.envReader(name) != nil || isEnv(name):
		c.envFile(e, now, before, after)
	case strings.Contains(name, "/systemd/system/"):
		c.unitFile(e, now, before, after)
	case name == "/etc/sysctl.conf" || path.Base(path.Dir(name)) == "sysctl.d":
		c.sysctlFile(e, before, after)
	case isCron(name):
		e.Kind, e.Names = Crontab, cronLines(before, after)
	case path.Ext(name) == ".sql":
		e.Names = functions(name, before, after)
	case source != nil:
		c.sourceFile(e, source, now, before, after)
	default:
		if s := c.configOf(name); s != nil {
			e.Service = s.Name
			if e.Names = assignments(before, after); now.Changed.After(s.Started.Add(slack)) && !s.Started.IsZero() {
				e.Warning, e.Why = NotLoaded, s.Name+" has not been restarted since"
			}
			return
		}
		e.Names = assignments(before, after)
	}
}

// lines counts the lines that were added and removed.
func lines(before, after []byte) (added, removed int) {
	switch {
	case bytes.Equal(before, after):
		return 0, 0
	case len(before) == 0:
		return lineCount(after), 0
	case len(after) == 0:
		return 0, lineCount(before)
	}
	for _, l := range hunks(before, after) {
		if l.added {
			added++
		} else {
			removed++
		}
	}
	return added, removed
}

func lineCount(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// A changed is a line that one of two texts has and the other has not.
type changed struct {
	added bool
	line  int // from 1, in its own text
	text  string
}

// hunks lists the lines that differ between two texts.
func hunks(before, after []byte) (all []changed) {
	out := diff.Diff("a", before, "b", after)
	var old, now int
	started := false
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "@@ "):
			var oldLen, newLen int
			if _, err := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &old, &oldLen, &now, &newLen); err != nil {
				return all
			}
			started = true
		case !started:
		case strings.HasPrefix(line, "+"):
			all = append(all, changed{true, now, line[1:]})
			now++
		case strings.HasPrefix(line, "-"):
			all = append(all, changed{false, old, line[1:]})
			old++
		case strings.HasPrefix(line, " "):
			old, now = old+1, now+1
		}
	}
	return all
}

// reader returns the service of an engine that reads a file.
func (c *comparer) reader(name string, engine iikanji.Engine) *state.Service {
	for i := range c.now.Services {
		s := &c.now.Services[i]
		if s.Engine == engine && (slices.Contains(s.Reads, name) || s.Config == name) {
			return s
		}
	}
	return nil
}

// web returns the one web server of the host; nil if there is none or several.
func (c *comparer) web() *state.Service {
	var found *state.Service
	for i := range c.now.Services {
		if s := &c.now.Services[i]; s.Engine == iikanji.EngineNginx {
			if found != nil {
				return nil
			}
			found = s
		}
	}
	return found
}

// notLoaded warns of a file that a web server has not read.
func (c *comparer) notLoaded(e *Edit, s *state.Service, now state.File) {
	if s == nil {
		return
	}
	e.Service = s.Name
	switch {
	case s.Loaded.IsZero():
	case now.Class == state.Text && len(s.Reads) > 0 && !slices.Contains(s.Reads, now.Path) && c.isNginx(now):
		e.Warning, e.Why = NotLoaded, s.Name+" does not read this file"
	case now.Class == "" && s.Loaded.Before(c.in.Base.At):
		e.Warning, e.Why = NotLoaded, s.Name+" was not reloaded since"
	case now.Class != "" && now.Changed.After(s.Loaded.Add(slack)):
		e.Warning, e.Why = NotLoaded, s.Name+" was not reloaded since"
	}
}

// isNginx reports whether a file has directives of nginx: a list of accounts or a page in its
// folder is read in other ways than by an include.
func (c *comparer) isNginx(f state.File) bool {
	all, ok := flat(c.text(f))
	return ok && len(all) > 0
}

// configOf returns the service whose main configuration a file is.
func (c *comparer) configOf(name string) *state.Service {
	for i := range c.now.Services {
		if s := &c.now.Services[i]; s.Config == name || slices.Contains(s.Reads, name) {
			return s
		}
	}
	return nil
}

// sourceOf returns the service whose source a file is.
func (c *comparer) sourceOf(name string) *state.Service { return sourceIn(c.now, name) }

// sourceIn returns the service of a host whose source a file is.
func sourceIn(h *state.Host, name string) *state.Service {
	var best *state.Service
	for i := range h.Services {
		s := &h.Services[i]
		if s.Source != "" && below(s.Source, name) && (best == nil || len(s.Source) > len(best.Source)) {
			best = s
		}
	}
	return best
}

func isCron(name string) bool {
	return strings.HasPrefix(name, "/etc/cron") || strings.HasPrefix(name, "/var/spool/cron/") || strings.Contains(name, "/spool/cron/") || name == "/etc/anacrontab"
}

// cronLines are the entries of a crontab that differ: when, and the program. Arguments may
// be secrets.
func cronLines(before, after []byte) (names []string) {
	for _, l := range hunks(before, after) {
		text := strings.TrimSpace(l.text)
		if text == "" || text[0] == '#' {
			continue
		}
		sign := "+ "
		if !l.added {
			sign = "− "
		}
		fields := strings.Fields(text)
		names = append(names, sign+strings.Join(fields[:min(len(fields), 6)], " "))
	}
	return names
}
