package accesslog

// Thresholds of a file tree: the paths of files below one position, as in
// "/:any/:any/blob/main/src/a/b.go". A file tree is one route, whatever its depth.
const (
	minTreeFiles   = 20 // different files
	minTreeNames   = 8  // different names at its first level
	minTreeDepths  = 3  // depths that at least treeDepthShare of the files have
	treeDepthShare = 0.08
	treeFileShare  = 0.8 // of the files and of the requests: those whose last name has an ending
)

// A treeCount describes what is below a branch.
type treeCount struct {
	files, withEnding      int
	requests, toWithEnding float64
	depths                 [maxSegments + 2]int // files by depth
	folders, dottedFolders int
}

// count adds a branch at a depth below the tree's root.
func (t *treeCount) count(b *branch, depth int) {
	_, _, dotted := ending(b.shape.text)
	if b.shape.kind != literal { // ":id.json" keeps its ending
		dotted = len(b.shape.text) > 1 && b.shape.text[0] == '.'
	}
	if n := b.requests(); n > 0 {
		t.files++
		t.requests += n
		t.depths[min(depth, len(t.depths)-1)]++
		if dotted {
			t.withEnding++
			t.toWithEnding += n
		}
	}
	if len(b.children) > 0 {
		t.folders++
		if dotted {
			t.dottedFolders++
		}
	}
	for _, c := range b.children {
		t.count(c, depth+1)
	}
}

// requests is the number of requests that end at a branch.
func (b *branch) requests() (n float64) {
	for i := range b.rows {
		n += b.rows[i].count()
	}
	return n
}

// isFileTree reports whether the paths below a branch are those of files in folders of
// any depth.
func (b *branch) isFileTree() bool {
	if len(b.children) < minTreeNames {
		return false
	}
	var t treeCount
	for _, c := range b.children {
		t.count(c, 1)
	}
	return t.isTree()
}

// fileTrees reports whether most names are the roots of file trees: buckets, repositories.
func (s *siblings) fileTrees() bool {
	var t treeCount
	trees := 0
	for _, v := range s.names {
		before := t.files
		for _, c := range v.b.children {
			t.count(c, 1)
		}
		if t.files-before >= 3 && len(v.b.children) >= 2 || v.b.children[shape{rest, nil}.key()] != nil {
			trees++
		}
	}
	return 5*trees >= 3*len(s.names) && t.isTree()
}

// isTree reports whether what was counted is a file tree.
func (t *treeCount) isTree() bool {
	depths := 0
	for _, n := range t.depths {
		if float64(n) >= treeDepthShare*float64(t.files) && n > 0 {
			depths++
		}
	}
	return t.files >= minTreeFiles && depths >= minTreeDepths && 10*t.dottedFolders <= t.folders &&
		float64(t.withEnding) >= treeFileShare*float64(t.files) && t.toWithEnding >= treeFileShare*t.requests
}

// foldFileTree joins everything below a file tree.
func (b *branch) foldFileTree(sides int) {
	if b.marks&markRest == 0 && !b.isFileTree() {
		return
	}
	b.marks |= markRest
	to := b.step(shape{rest, nil})
	for _, c := range b.sorted() {
		if c != to && c.shape.kind != queryKeys && !c.own {
			delete(b.children, c.shape.key())
			to.flatten(c, sides)
		}
	}
}

// flatten adds the rows of a branch and of everything below it; the keys of queries
// stay apart.
func (b *branch) flatten(o *branch, sides int) {
	for _, r := range o.rows {
		for side, w := range r.sides {
			if w != nil {
				b.take(sides, r.method, side, w)
			}
		}
	}
	b.known = b.known || o.known
	for _, c := range o.sorted() {
		if c.shape.kind == queryKeys {
			b.step(c.shape).merge(c, sides)
			continue
		}
		b.flatten(c, sides)
	}
}
