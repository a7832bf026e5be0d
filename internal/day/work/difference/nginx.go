package difference

import (
	"strings"

	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// directives are the directives that differ between two texts of nginx's configuration,
// each with the blocks around it.
func directives(before, after []byte) []string {
	old, ok1 := flat(before)
	now, ok2 := flat(after)
	if !ok1 || !ok2 {
		return assignments(before, after)
	}
	return listed(old, now)
}

// A setting is a name with a value, in a place.
type setting struct{ place, name, value string }

func (s setting) String() string {
	text := s.name
	if s.value != "" {
		text += " " + s.value
	}
	if s.place != "" {
		text = s.place + ": " + text
	}
	return text
}

// listed says which settings of two lists differ: a value that follows another one of the
// same name and place is one entry.
func listed(old, now []setting) (names []string) {
	count := map[setting]int{}
	for _, s := range old {
		count[s]++
	}
	var added []setting
	for _, s := range now {
		if count[s] > 0 {
			count[s]--
		} else {
			added = append(added, s)
		}
	}
	var removed []setting
	for _, s := range old {
		if count[s] > 0 {
			count[s]--
			removed = append(removed, s)
		}
	}
	for _, s := range added {
		from := -1
		for i, r := range removed {
			if r.place == s.place && r.name == s.name {
				from = i
				break
			}
		}
		if from < 0 {
			names = append(names, s.String())
			continue
		}
		was := removed[from]
		removed = append(removed[:from:from], removed[from+1:]...)
		names = append(names, setting{s.place, s.name, strings.TrimSpace(was.value + " → " + s.value)}.String())
	}
	for _, s := range removed {
		names = append(names, "− "+s.String())
	}
	return names
}

// flat lists the directives of a text.
func flat(text []byte) ([]setting, bool) {
	if len(text) == 0 {
		return nil, true
	}
	block, err := nginx.Parse("", string(text))
	if err != nil {
		return nil, false
	}
	var all []setting
	flatten(block, nil, &all, 0)
	return all, true
}

// maxNesting bounds blocks in blocks.
const maxNesting = 64

func flatten(b *nginx.Block, around []string, all *[]setting, depth int) {
	if depth > maxNesting {
		return
	}
	for _, d := range b.Items {
		value := strings.Join(d.Args(), " ")
		if d.Block == nil {
			*all = append(*all, setting{place(around), d.Name(), value})
			continue
		}
		head := strings.TrimSpace(d.Name() + " " + value)
		inner := append(around[:len(around):len(around)], head)
		if d.Block.Lua != "" {
			*all = append(*all, setting{place(around), d.Name(), "(Lua)" + short(d.Block.Lua)})
			continue
		}
		if len(d.Block.Items) == 0 {
			*all = append(*all, setting{place(around), head, "{}"})
		}
		flatten(d.Block, inner, all, depth+1)
	}
}

// place names the blocks around a directive: http and server are left out where more
// tells it.
func place(around []string) string {
	var parts []string
	for i, a := range around {
		if (a == "http" || a == "server") && i+1 < len(around) {
			continue
		}
		parts = append(parts, a)
	}
	return strings.Join(parts, " / ")
}

// short is the beginning of a text on one line.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return text
}
