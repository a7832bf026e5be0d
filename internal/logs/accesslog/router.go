package accesslog

import (
	"bytes"
	"encoding/binary"

	"github.com/iikanji/iikanji/internal/logs/tally"
)

// maxSegments is the greatest depth of a route; deeper paths end in "**".
const maxSegments = 16

// maxRoutes is how many routes a log may have besides those learned from its
// beginning; requests of further routes are counted in one overflow row.
const maxRoutes = 8192

// A router finds the row of a request. It is a trie of path segments in which
// each shape of identifiers is one child. The learner (tree.go) decides which
// literals are values and passes the result to new routers.
//
// Its size is bounded: of the routes that were not learned before, those with the
// smallest hashes are kept and all others share one overflow row. As in
// tally.Table, the choice depends on the set of routes and not on their order, so
// any division of the log among workers gives the same result.
type router struct {
	seed  uint64
	nodes []node
	edges []edge // open addressing by key, a power of two; key 0 is empty
	used  int
	rows  []*row
	free  int // number of rows that are not kept
	limit int // limit of free; 0 for none, while the log is bounded

	ceiling  uint64 // hashes above it overflow; 0 for none
	overflow *row
	nothing  *row // lines without a request
	withKeys bool // routes include the keys of the query
	patterns *patterns
	slow     bool // find must not use its fast path
	// deadMarks is set if a node has markDead: find then must not follow edges
	// for requests that were answered 4xx.
	deadMarks bool
	plain     [nKinds]uint64 // hashes of placeholders without an ending

	// users are the nodes of segments that are the name of the authenticated user
	// of a request, while routes are learned.
	users map[uint32]bool

	segs [maxSegments + 4]segment
	keys []byte // scratch of the query's keys
}

type node struct {
	parent uint32
	kind   kind
	marks  mark
	joins  joins
	rules  bool // marks or joins are set
	known  bool // present when the router was taught
	row    int32
	text   []byte
}

// A mark is what the learner found out about a node's literal children.
type mark uint16

const (
	markFiles  mark = 1 << iota // unknown static files are :file.ext
	markDead                    // unknown literals that answer 4xx are :any
	markHex                     // unknown literals that look hexadecimal are :hex
	markToken                   // unknown literals that look random are :token
	markHashes                  // unknown static files with a hash are :file.ext
	markTails                   // … also those with a tail that may be a hash
	markWords                   // reserved words are values too
	markRest                    // all that follows is one route
	markCase                    // unknown literals are those in small letters
)

type edge struct {
	key   uint64
	child uint32
}

type segment struct {
	shape shape
	hash  uint64
}

func newRouter(seed uint64, withKeys bool, p *patterns) *router {
	r := &router{seed: seed, withKeys: withKeys, patterns: p, edges: make([]edge, 256), overflow: newRow(), nothing: newRow()}
	for k := range r.plain {
		r.plain[k] = tally.Mix(uint64(k)*edgeK, seed)
	}
	r.slow = withKeys || p != nil
	r.nodes = append(r.nodes, node{row: -1})
	return r
}

const edgeK = 0x9fb21c651e98df25

func edgeKey(parent uint32, hash uint64) uint64 { return (hash + uint64(parent)*edgeK) | 1 }

// child returns the child of a node, 0 if it has none (no edge leads to the
// root).
func (r *router) child(parent uint32, hash uint64) uint32 {
	key := edgeKey(parent, hash)
	mask := uint64(len(r.edges) - 1)
	for i := key >> 20 & mask; ; i = (i + 1) & mask {
		e := &r.edges[i]
		if e.key == key {
			return e.child
		}
		if e.key == 0 {
			return 0
		}
	}
}

// find returns the row of a request. It creates the row if needed; the overflow
// row is returned if the route does not fit.
func (r *router) find(rec *record) *row {
	p := rec.uri
	if len(p) == 0 {
		return r.nothing
	}
	if p[0] != '/' || r.slow || rec.method == 0 && len(rec.verb) > 0 || r.deadMarks && rec.status/100 == 4 {
		return r.findSlowly(rec)
	}
	// This loop computes the same segments as split, but only follows existing
	// edges.
	at := uint32(0)
	for i := 1; ; i++ {
		start := i
		mask := class(0)
		for i < len(p) {
			c := classOf[p[i]]
			if c == 0 {
				break
			}
			mask |= c
			i++
		}
		if mask&cOther != 0 && onlyParameters(p, start, i) {
			continue
		}
		if mask&cGlue != 0 { // the segment may have two parts
			return r.findSlowly(rec)
		}
		if at = r.child(at, r.hashSegment(p, start, i, mask)); at == 0 {
			return r.findSlowly(rec)
		}
		if i == len(p) || p[i] != '/' {
			break
		}
	}
	for k := r.nodes[at].row; k >= 0; {
		w := r.rows[k]
		if w.method == rec.method {
			return w
		}
		k = w.next
	}
	return r.findSlowly(rec)
}

// onlyParameters reports whether a segment has matrix parameters only and
// others follow: "/;a=b/c" is "/c".
func onlyParameters(p []byte, start, end int) bool {
	return p[start] == ';' && end < len(p) && p[end] == '/'
}

// hashSegment is the hash of the shape of a segment.
func (r *router) hashSegment(p []byte, start, end int, mask class) uint64 {
	if mask&(cDigit|cOther|cDot) == 0 && end-start <= 8 {
		if cap(p)-start >= 8 { // bytes behind the segment are masked out
			n := end - start
			w := binary.LittleEndian.Uint64(p[start : start+8])
			return tally.Mix(w&(1<<(8*n)-1)^r.seed, uint64(n))
		}
		return r.hashOf(shape{literal, p[start:end]})
	}
	switch {
	case mask == cDigit:
		return r.plain[number]
	case end-start == 36 && isUUID(p[start:end]):
		return r.plain[uuid]
	}
	return r.hashOf(shapeOf(p[start:end], mask))
}

// findSlowly is find for requests that need more than existing edges.
func (r *router) findSlowly(rec *record) *row {
	n := r.split(rec)
	at := uint32(0)
	for i := range n {
		s := &r.segs[i]
		next := r.child(at, s.hash)
		if next == 0 || r.nodes[at].rules {
			if next = r.placeholder(at, next, s, rec); next == 0 {
				return r.insert(n, rec)
			}
			n = r.cut(i, n)
		}
		if at = next; i == n-1 {
			break
		}
	}
	for k := r.nodes[at].row; k >= 0; {
		w := r.rows[k]
		if w.method == rec.method {
			return w
		}
		k = w.next
	}
	return r.insert(n, rec)
}

// cut drops the segments behind segment i if that segment stands for the whole rest of
// the path. The keys of the query stay. It returns the number of segments.
func (r *router) cut(i, n int) int {
	if r.segs[i].shape.kind != rest || i >= n-1 {
		return n
	}
	if r.segs[n-1].shape.kind == queryKeys {
		r.segs[i+1] = r.segs[n-1]
		return i + 2
	}
	return i + 1
}

// placeholder applies the marks and joins of a node to a segment that the node
// does not know. next is the child of the segment, 0 for none. It rewrites the
// segment if it belongs to another one.
func (r *router) placeholder(at, next uint32, s *segment, rec *record) uint32 {
	n := &r.nodes[at]
	if !n.rules || next != 0 && r.nodes[next].known {
		return next
	}
	to, ok := n.joined(s.shape, rec.status)
	if !ok {
		return next
	}
	s.shape, s.hash = to, r.hashOf(to)
	return r.child(at, s.hash)
}

// joined returns the shape that a segment joins at a node.
func (n *node) joined(s shape, status int) (to shape, ok bool) {
	if n.marks&markRest != 0 && s.kind != queryKeys {
		return shape{rest, nil}, true
	}
	if s.kind != literal {
		switch {
		case len(s.text) == 0:
			return shape{n.joins[s.kind], nil}, n.joins[s.kind] != literal
		case n.marks&markHashes != 0 && (s.kind == token || s.kind == hexes || s.kind == ulid) && isStatic(s.text[1:]):
			return shape{file, s.text}, true
		}
		return s, false
	}
	if len(s.text) == 0 {
		return s, false
	}
	if stem, ext, isFile := ending(s.text); isFile && isStatic(ext) {
		return shape{file, s.text[len(stem):]}, n.marks&markFiles != 0 || n.marks&markHashes != 0 && hashTail(stem, n.marks&markTails != 0)
	}
	switch {
	case n.marks&markDead != 0 && status/100 == 4 && n.joins[literal] == literal:
		return shape{anything, nil}, true
	case n.joins[literal] != literal && (n.marks&markWords != 0 || !isReserved(s.text)):
		return shape{n.joins[literal], nil}, true
	case n.marks&markHex != 0 && couldBe(hexes, s.text):
		return shape{hexes, nil}, true
	case n.marks&markToken != 0 && (couldBe(token, s.text) || hasMixedCase(s.text)):
		return shape{token, nil}, true
	case n.marks&markCase != 0 && maskOf(s.text)&cUpper != 0:
		return shape{literal, bytes.ToLower(s.text)}, true
	}
	return s, false
}

// hashOf is the hash of a shape. A short literal is hashed as one number, so
// that find needs one multiplication for it.
func (r *router) hashOf(s shape) uint64 {
	switch n := len(s.text); {
	case s.kind != literal && n == 0:
		return r.plain[s.kind]
	case s.kind != literal:
		return tally.Hash(s.text, r.seed+uint64(s.kind)*edgeK)
	case n <= 8:
		var b [8]byte
		copy(b[:], s.text)
		return tally.Mix(binary.LittleEndian.Uint64(b[:])^r.seed, uint64(n))
	}
	return tally.Hash(s.text, r.seed)
}

// split cuts the path of a request into segments, finds their shapes, and
// returns their number.
func (r *router) split(rec *record) int {
	p := rec.uri
	i, n := 1, 0
	if rec.hasOtherVerb() {
		r.segs[0] = r.segment(otherVerb, rec.verb)
		n = 1
	}
	if r.patterns != nil {
		if text := r.patterns.find(rec, r.seed); text != nil {
			r.segs[n] = r.segment(pattern, text)
			return r.splitKeys(rec, p, len(pathOf(p)), n+1)
		}
	}
	if p[0] != '/' {
		if p = withoutHost(p); p[0] != '/' {
			r.segs[n] = r.segment(noSlash, nil)
			i, n = 0, n+1
		}
	}
	for {
		start := i
		mask := class(0)
		for i < len(p) {
			c := classOf[p[i]]
			if c == 0 {
				break
			}
			mask |= c
			i++
		}
		if mask&cOther != 0 && onlyParameters(p, start, i) {
			i++
			continue
		}
		n = r.addParts(n, p[start:i], mask)
		if i == len(p) || p[i] != '/' {
			break
		}
		i++
		if n >= maxSegments {
			r.segs[n] = r.segment(rest, nil)
			n++
			if i = bytes.IndexByte(p, '?'); i < 0 {
				i = len(p)
			}
			break
		}
	}
	return r.splitKeys(rec, p, i, n)
}

// addParts adds a segment, or its two parts with the glue between them, and returns
// the number of segments.
func (r *router) addParts(n int, seg []byte, mask class) int {
	host := n > 0 && r.segs[n-1].shape.kind == noSlash // CONNECT a.example:443
	if mask&cGlue != 0 && n+3 <= maxSegments && !host {
		if first, glue, second := parts(seg); glue != literal {
			r.segs[n] = r.shaped(first, maskOf(first))
			r.segs[n+1] = r.segment(glue, nil)
			r.segs[n+2] = r.shaped(second, maskOf(second))
			return n + 3
		}
	}
	r.segs[n] = r.shaped(seg, mask)
	return n + 1
}

func (r *router) shaped(seg []byte, mask class) segment {
	s := segment{shape: shapeOf(seg, mask)}
	s.hash = r.hashOf(s.shape)
	return s
}

func (r *router) segment(k kind, text []byte) segment {
	s := segment{shape: shape{k, text}}
	s.hash = r.hashOf(s.shape)
	return s
}

// withoutHost removes the scheme and host of an absolute URI.
func withoutHost(p []byte) []byte {
	i := bytes.Index(p[:min(len(p), 12)], []byte("://"))
	if i < 0 {
		return p
	}
	if j := bytes.IndexByte(p[i+3:], '/'); j >= 0 {
		return p[i+3+j:]
	}
	return []byte("/")
}
