package slowlog

import "bytes"

// foldRepeats shortens lists of equal parts in the fingerprint, whose lengths depend on
// the number of values: of equal arms of a UNION two stay, of equal branches of a CASE
// one.
func (f *Fingerprinter) foldRepeats() {
	if f.unions > 1 {
		f.out = foldUnions(f.out)
	}
	if f.whens > 1 {
		f.out = foldBranches(f.out)
	}
}

// An arm is a part of a UNION in a text.
type arm struct{ from, to int }

// A union is the arms of one UNION that were read so far.
type union struct {
	arms []arm  // the last two
	join string // what joins them: " union all "
	from int    // of the unfinished arm
}

// joins are the words between arms, the longest first.
var joins = []string{" union all ", " union distinct ", " union "}

// foldUnions drops all but two of equal arms in a row. It works in place.
func foldUnions(in []byte) []byte {
	out := in[:0]
	stack := []union{{}}
	for i := 0; i < len(in); {
		top := &stack[len(stack)-1]
		switch c := in[i]; {
		case c == '`':
			end := bytes.IndexByte(in[i+1:], '`') + i + 2
			if end < i+2 {
				end = len(in)
			}
			out = append(out, in[i:end]...)
			i = end
			continue
		case c == '(':
			stack = append(stack, union{from: len(out) + 1})
		case c == ')' && len(stack) > 1:
			out = top.end(out)
			stack = stack[:len(stack)-1]
		case c == ' ':
			if join := joinAt(in[i:]); join != "" {
				out = top.next(out, join)
				i += len(join)
				continue
			}
		}
		out = append(out, in[i])
		i++
	}
	return stack[0].end(out)
}

func joinAt(b []byte) string {
	for _, join := range joins {
		if bytes.HasPrefix(b, []byte(join)) {
			return join
		}
	}
	return ""
}

// next ends an arm, drops it if the two arms before are equal to it, and begins the next
// one behind the join.
func (u *union) next(out []byte, join string) []byte {
	cur := arm{u.from, len(out)}
	if u.join != "" && u.join != join {
		u.arms = nil
	}
	if n := len(u.arms); n == 2 && equal(out, u.arms[0], cur) && equal(out, u.arms[1], cur) {
		out = out[:u.arms[1].to]
	} else {
		u.arms = append(u.arms[max(0, n-1):], cur)
	}
	out = append(out, join...)
	u.join, u.from = join, len(out)
	return out
}

// end ends the last arm, behind which an ORDER BY or LIMIT of the whole may stand: an
// arm before that it begins with goes, if two are equal.
func (u *union) end(out []byte) []byte {
	if len(u.arms) < 2 || !equal(out, u.arms[0], u.arms[1]) {
		return out
	}
	before := u.arms[1]
	last := out[u.from:]
	first := out[before.from:before.to]
	if !bytes.HasPrefix(last, first) || len(last) > len(first) && last[len(first)] != ' ' {
		return out
	}
	return append(out[:before.from], last...)
}

func equal(b []byte, x, y arm) bool { return bytes.Equal(b[x.from:x.to], b[y.from:y.to]) }

// foldBranches drops a branch of a CASE that is equal to the one before. It works in
// place.
func foldBranches(in []byte) []byte {
	const when = " when "
	out := in[:0]
	last := -1 // where the branch before begins in out
	for i := 0; i < len(in); {
		if !bytes.HasPrefix(in[i:], []byte(when)) {
			if bytes.HasPrefix(in[i:], []byte(" else ")) || bytes.HasPrefix(in[i:], []byte(" end")) || bytes.HasPrefix(in[i:], []byte("case ")) {
				last = -1
			}
			out = append(out, in[i])
			i++
			continue
		}
		end := branchEnd(in, i+len(when))
		if last >= 0 && bytes.Equal(out[last:], in[i:end]) {
			i = end
			continue
		}
		last = len(out)
		out = append(out, in[i:end]...)
		i = end
	}
	return out
}

// branchEnd returns where the branch ends whose text begins at i: before the next WHEN,
// ELSE, END or CASE.
func branchEnd(in []byte, i int) int {
	for ; i < len(in); i++ {
		if in[i] != ' ' {
			continue
		}
		for _, word := range [...]string{" when ", " else ", " end", " case "} {
			if bytes.HasPrefix(in[i:], []byte(word)) {
				return i
			}
		}
	}
	return i
}

// foldItems drops the items of an IN list that are equal to the one before, as in
// IN (CAST(? AS DATE), CAST(? AS DATE)). The list is out[from:] with its parenthesis.
func (f *Fingerprinter) foldItems(from int) {
	list := f.out[from : len(f.out)-1]
	if bytes.HasPrefix(list, []byte("select ")) || bytes.HasPrefix(list, []byte("with ")) {
		return
	}
	first, rest, more := cutItem(list)
	for item := []byte(nil); more; {
		if item, rest, more = cutItem(rest); !bytes.Equal(bytes.TrimPrefix(item, []byte{' '}), first) {
			return
		}
	}
	f.out = append(f.out[:from+len(first)], ')')
}

// cutItem cuts a list at its first comma that is in no parenthesis and no name.
func cutItem(list []byte) (item, rest []byte, more bool) {
	depth, quoted := 0, false
	for i, c := range list {
		switch {
		case c == '`':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			return list[:i], list[i+1:], true
		}
	}
	return list, nil, false
}
