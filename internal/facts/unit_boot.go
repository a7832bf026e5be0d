package facts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// A boot is what systemd would start when the machine starts, by the unit
// files alone: conditions are taken to hold.
type boot struct {
	tree  *unitTree
	from  map[string]string   // of each unit that is started, the one that wants it; "" of the first
	order []string            // of units that are started, as they were found
	after map[string][]string // which units each is started after, of those that are started
}

// bootOf follows what the boot's target wants, and what that wants.
func bootOf(t *unitTree) *boot {
	b := &boot{tree: t, from: map[string]string{}, after: map[string][]string{}}
	roots := []string{"default.target"}
	if _, ok := t.files[roots[0]]; !ok { // the folders are not a whole system's
		roots = []string{"multi-user.target", "graphical.target", "sockets.target", "timers.target", "paths.target"}
	}
	for _, r := range roots {
		b.start(t.canonical(r), "")
	}
	for i := 0; i < len(b.order); i++ {
		u := t.load(b.order[i])
		if u.Masked == "" {
			for _, child := range t.pulls(u) {
				b.start(t.canonical(child), u.Name)
			}
		}
	}
	for _, name := range b.order {
		b.orders(t.load(name))
	}
	return b
}

func (b *boot) start(name, by string) {
	if _, ok := b.from[name]; !ok {
		b.from[name] = by
		b.order = append(b.order, name)
	}
}

// chain is how a boot comes to a unit, or nil.
func (b *boot) chain(name string) []string {
	var out []string
	for by, ok := b.from[name]; ok; by, ok = b.from[name] {
		out = append(out, name)
		name = by
	}
	slices.Reverse(out)
	return out
}

// pulls are the units that a unit starts with itself: by links in its folders,
// by its own words, and, of sockets, timers and paths, the service that they
// start when it is time.
func (t *unitTree) pulls(u *loadedUnit) []string {
	out := t.linked(u)
	for _, key := range []string{"Wants", "Requires", "BindsTo", "Upholds"} {
		out = append(out, words(u, "Unit", key)...)
	}
	stem, ext := strings.TrimSuffix(u.Name, filepath.Ext(u.Name)), filepath.Ext(u.Name)
	section, key := map[string]string{".socket": "Socket", ".timer": "Timer", ".path": "Path"}[ext], "Unit"
	if ext == ".socket" {
		key = "Service"
	}
	if section != "" {
		if named := words(u, section, key); len(named) > 0 {
			return append(out, named...)
		}
		out = append(out, stem+".service")
	}
	return out
}

// linked are the names in a unit's folders of links. A link to /dev/null takes
// the place of one of a later folder.
func (t *unitTree) linked(u *loadedUnit) []string {
	var out []string
	for _, ext := range []string{".wants", ".requires", ".upholds"} {
		seen := map[string]bool{}
		for _, name := range append([]string{u.Name}, u.Aliases...) {
			for _, d := range t.folders[name+ext] {
				entries, err := t.host.ReadDir(d.path)
				if err != nil {
					continue
				}
				for _, e := range entries {
					if seen[e.Name()] {
						continue
					}
					seen[e.Name()] = true
					if to, err := t.host.Readlink(filepath.Join(d.path, e.Name())); err == nil && to != os.DevNull {
						out = append(out, e.Name())
					}
				}
			}
		}
	}
	return out
}

// words are the names that a unit lists under a key.
func words(u *loadedUnit, section, key string) []string {
	var out []string
	for _, s := range u.Settings {
		if s.Section == section && s.Key == key {
			for _, w := range strings.Fields(s.Value) {
				out = append(out, strings.Trim(w, `"'`))
			}
		}
	}
	return out
}

// orders notes which units one is started after and before. A target comes after
// what it wants, where nothing else is said between the two.
func (b *boot) orders(u *loadedUnit) {
	for _, name := range words(u, "Unit", "After") {
		b.behind(u.Name, b.tree.canonical(name))
	}
	for _, name := range words(u, "Unit", "Before") {
		b.behind(b.tree.canonical(name), u.Name)
	}
	if filepath.Ext(u.Name) != ".target" || slices.ContainsFunc(u.Settings, func(s iikanji.Setting) bool { return s.Key == "DefaultDependencies" && s.Value == "no" }) {
		return
	}
	for _, name := range b.tree.pulls(u) {
		child := b.tree.load(name)
		says := slices.ContainsFunc(words(child, "Unit", "After"), func(n string) bool { return b.tree.canonical(n) == u.Name })
		if !says {
			b.behind(u.Name, child.Name)
		}
	}
}

// behind notes an order; of what is not started nobody waits.
func (b *boot) behind(later, earlier string) {
	if _, ok := b.from[earlier]; ok {
		b.after[later] = append(b.after[later], earlier)
	}
}

// follows are those of some units that one is started after, each with the
// chain to it.
func (b *boot) follows(name string, of []string) map[string][]string {
	before := map[string]string{name: ""} // the one that is started after it
	queue := []string{name}
	for i := 0; i < len(queue); i++ {
		for _, next := range b.after[queue[i]] {
			if _, ok := before[next]; !ok {
				before[next] = queue[i]
				queue = append(queue, next)
			}
		}
	}
	out := map[string][]string{}
	for _, other := range of {
		if _, ok := before[other]; !ok || other == name {
			continue
		}
		var chain []string
		for n := other; n != ""; n = before[n] {
			chain = append(chain, n)
		}
		slices.Reverse(chain)
		out[other] = chain
	}
	return out
}
