package accesslog

import "bytes"

// foldCase joins literals that differ in capitals only, where their requests are alike: IIS and
// other servers answer /API/Users and /api/users alike. They become one route in small letters.
func (b *branch) foldCase(sides int) {
	groups := map[string][]*branch{}
	for _, c := range b.sorted() {
		if c.shape.kind == literal && len(c.shape.text) > 1 {
			if mask := maskOf(c.shape.text); mask&cUpper != 0 || mask&cLower != 0 {
				lower := string(bytes.ToLower(c.shape.text))
				groups[lower] = append(groups[lower], c)
			}
		}
	}
	for lower, all := range groups {
		if len(all) < 2 && b.marks&markCase == 0 || !sameInAnyCase(all) {
			continue
		}
		if len(all) == 1 && b.children[shape{literal, []byte(lower)}.key()] == nil {
			continue
		}
		b.marks |= markCase
		for _, c := range all {
			if string(c.shape.text) != lower {
				own := c.own
				b.absorb(c, shape{literal, []byte(lower)}, sides)
				b.children[shape{literal, []byte(lower)}.key()].own = own
			}
		}
	}
}

// sameInAnyCase reports whether literals behave as the one with the most requests, and none
// was answered 4xx only.
func sameInAnyCase(all []*branch) bool {
	var most *branch
	var requests int64
	for _, c := range all {
		n, dead := c.weigh()
		if dead {
			return false
		}
		if n > requests {
			most, requests = c, n
		}
	}
	for _, c := range all {
		if n, _ := c.weigh(); c != most && n >= minOutlier && !c.behavesAs(most) {
			return false
		}
	}
	return true
}
