package accesslog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/tally"
)

// Align gives several profiles the same routes. Each profile was learned from
// its own log: one log may have shown that a position holds values
// ("/users/:any") where a shorter log showed only a few names, and a comparison
// would list those names as new. Align changes the profiles in place and needs
// their sketches.
func Align(profiles ...*iikanji.Profile) error {
	t := newTree(len(profiles))
	var sights []iikanji.Sighting
	for _, p := range profiles {
		for i := range p.Rows {
			sights = append(sights, p.Rows[i].Example)
		}
		if p.Source != iikanji.Access {
			return fmt.Errorf("aligning the routes of %s: it is not an access log", p.Target)
		}
	}
	slices.SortFunc(sights, func(a, b iikanji.Sighting) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Text, b.Text))
	})
	kept := make([][]iikanji.Row, len(profiles))
	for side, p := range profiles {
		for i := range p.Rows {
			r := &p.Rows[i]
			segs, m, ok := parseKey(r)
			if !ok {
				kept[side] = append(kept[side], *r)
				continue
			}
			w, err := fromRow(r, sights)
			if err != nil {
				return fmt.Errorf("reading the times of %s in %s: %w", r.Key, p.Target, err)
			}
			t.add(segs, m, side, w)
		}
	}
	t.root.remember(len(profiles))
	t.learn()
	for side, p := range profiles {
		p.Rows = kept[side]
		t.walk(func(segs []shape, b *branch) {
			for _, rows := range b.rows {
				if w := rows.sides[side]; w != nil {
					out := iikanji.Row{Key: routeKey(rows.method, segs)}
					w.fill(&out, nil, func(p place) (string, int64) { return sights[p.file].File, sights[p.file].Line })
					out.Web.Method = methodName(rows.method, segs)
					p.Rows = append(p.Rows, out)
				}
			}
		})
		tally.SortRows(p.Rows)
		tally.Share(p.Rows)
	}
	return nil
}

// parseKey turns a row's key back into a route; ok is false for rows that are
// not routes.
func parseKey(r *iikanji.Row) (segs []segment, m method, ok bool) {
	name, route, ok := strings.Cut(r.Key, " ")
	if !ok || r.Web == nil || r.Web.Method != name {
		return nil, 0, false
	}
	if m = methodOf([]byte(name)); m == 0 && name != methods[0] && name != "?" { // "?" in profiles of older versions
		segs = append(segs, segment{shape: shape{otherVerb, []byte(name)}})
	}
	path, query, keys := strings.Cut(route, "?")
	host := !strings.HasPrefix(path, "/")
	if host {
		segs = append(segs, segment{shape: shape{kind: noSlash}})
	}
	for seg := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if host { // a port is not a second part
			segs, host = append(segs, segment{shape: parseShape(seg)}), false
			continue
		}
		segs = append(segs, parseParts(seg)...)
	}
	if keys {
		segs = append(segs, segment{shape: shape{queryKeys, []byte(query)}})
	}
	return segs, m, true
}

// parseShape reads a segment of a template.
func parseShape(seg string) shape {
	for k := number; k < nKinds; k++ {
		if name := kindNames[k]; name != "" && strings.HasPrefix(seg, name) {
			if end := seg[len(name):]; end == "" || end[0] == '.' {
				return shape{k, []byte(end)}
			}
		}
	}
	return shape{literal, []byte(seg)}
}

// remember sets the marks that saved routes imply: where one side has a
// placeholder for names, the literals of that side stay and those of the other
// sides are values.
func (b *branch) remember(sides int) {
	for side := range sides {
		some, dead := b.folded(anything, side)
		switch {
		case some && dead: // only names that were always answered 4xx
			b.marks |= markDead
		case some:
			b.joins[literal] = anything
			b.keepLiterals(side)
		}
		if some, _ := b.folded(file, side); some {
			b.marks |= markFiles
		}
		if some, _ := b.folded(rest, side); some {
			b.marks |= markRest
		}
	}
	for _, c := range b.children {
		c.remember(sides)
	}
}

// keepLiterals makes the literals of a side routes of their own.
func (b *branch) keepLiterals(side int) {
	for _, c := range b.children {
		if c.shape.kind == literal && c.seenBy(side) {
			c.own = true
		}
	}
}

// folded reports whether a side has a placeholder of kind k at this position,
// and whether all its requests were answered 4xx.
func (b *branch) folded(k kind, side int) (some, dead bool) {
	dead = true
	for _, c := range b.children {
		if c.shape.kind == k && c.seenBy(side) {
			some = true
			_, d := c.weigh()
			dead = dead && d
		}
	}
	return some, dead
}

// seenBy reports whether a side has rows below a branch.
func (b *branch) seenBy(side int) bool {
	for _, rows := range b.rows {
		if rows.sides[side] != nil {
			return true
		}
	}
	for _, c := range b.children {
		if c.seenBy(side) {
			return true
		}
	}
	return false
}

// fromRow turns a profile's row into a worker's row; sights gives the examples
// an order.
func fromRow(r *iikanji.Row, sights []iikanji.Sighting) (*row, error) {
	w := newRow()
	if len(r.Time) > 0 {
		if err := w.times.UnmarshalBinary(r.Time); err != nil {
			return nil, err
		}
	} else if r.Total > 0 {
		return nil, tally.ErrNoSketch
	}
	w.count, w.status = r.Count, r.Web.Status
	w.bytes, w.maxBytes = int64(r.Web.Bytes), int64(r.Web.MaxBytes)
	w.upstream, w.upstreams = int64(r.Web.Upstream), r.Web.Upstreams
	w.reqBytes, w.maxReq = int64(r.Web.ReqBytes), int64(r.Web.MaxReqBytes)
	i, _ := slices.BinarySearchFunc(sights, r.Example, func(a, b iikanji.Sighting) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Text, b.Text))
	})
	w.example = sight{took: int64(r.Example.Took), text: []byte(r.Example.Text), place: place{file: int32(i)}}
	return w, nil
}

// Merge joins several profiles into one: it aligns their routes and adds their
// rows.
func Merge(profiles ...*iikanji.Profile) (*iikanji.Profile, error) {
	if err := Align(profiles...); err != nil {
		return nil, err
	}
	return tally.Merge(profiles...)
}
