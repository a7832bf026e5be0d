package facts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/site/fact"
)

// A boot is the set of units that systemd would start when the machine boots,
// according to the unit files alone: all conditions are assumed to hold.
type boot struct {
	tree  *unitTree
	from  map[string]string   // the unit that pulls in each started unit; "" for the roots
	order []string            // the started units, in the order of discovery
	after map[string][]string // the started units that each unit is ordered after
}

// bootOf collects the units that the boot's target pulls in, transitively.
func bootOf(t *unitTree) *boot {
	b := &boot{tree: t, from: map[string]string{}, after: map[string][]string{}}
	roots := []string{"default.target"}
	if _, ok := t.files[roots[0]]; !ok { // the folders do not contain a whole system
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

// chain is the chain of units from the boot's root to a unit; nil if it is not started.
func (b *boot) chain(name string) []string {
	var out []string
	for by, ok := b.from[name]; ok; by, ok = b.from[name] {
		out = append(out, name)
		name = by
	}
	slices.Reverse(out)
	return out
}

// pulls are the units that a unit pulls in: by links in its folders, by its own
// settings, and, for sockets, timers and paths, the service that they activate.
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

// linked are the names in a unit's folders of links. A link to /dev/null hides a
// link of the same name in a later folder.
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

// orders records the units that a unit is ordered after and before. By default, a
// target is ordered after the units that it pulls in, unless such a unit is
// ordered after the target.
func (b *boot) orders(u *loadedUnit) {
	for _, name := range words(u, "Unit", "After") {
		b.behind(u.Name, b.tree.canonical(name))
	}
	for _, name := range words(u, "Unit", "Before") {
		b.behind(b.tree.canonical(name), u.Name)
	}
	if filepath.Ext(u.Name) != ".target" || slices.ContainsFunc(u.Settings, func(s fact.Setting) bool { return s.Key == "DefaultDependencies" && s.Value == "no" }) {
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

// behind records an order. Orders after units that are not started have no effect.
func (b *boot) behind(later, earlier string) {
	if _, ok := b.from[earlier]; ok {
		b.after[later] = append(b.after[later], earlier)
	}
}

// follows are the units in of that a unit is ordered after, each with the chain of
// units to it.
func (b *boot) follows(name string, of []string) map[string][]string {
	before := map[string]string{name: ""} // for each unit, the next unit of the chain back to name
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
