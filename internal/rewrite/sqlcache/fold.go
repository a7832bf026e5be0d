package sqlcache

import (
	"strconv"
	"strings"
)

// A folded statement is a text without the differences that mean nothing: white
// space, the number of placeholders in a list, and the number of equal tuples
// after VALUES.
type folded struct {
	text string
	// groups are the argument positions that each placeholder of the text
	// stands for.
	groups [][]int
	// words are the first words in upper case, for the statement's class.
	words []string
	// odd: a comment, or a second statement. Such a text is never in a plan.
	odd bool
	// args is how many arguments the placeholders need.
	args int
	// unbound: a placeholder whose argument depends on the driver.
	unbound bool
}

// Fold prints a statement's text as plans hold it: `IN (?, ?, ?)` becomes
// `IN (?...)`, and equal tuples after VALUES become one tuple and `...`.
func Fold(d Dialect, text string) string { return fold(d, text).text }

// Groups are the argument positions that each placeholder of the folded text
// stands for.
func Groups(d Dialect, text string) [][]int { return fold(d, text).groups }

// Markers prints a statement with a question mark for every placeholder, and gives the
// argument of each. ok is false for a text that is never in a plan.
func Markers(d Dialect, text string) (marked string, args []int, ok bool) {
	tokens, odd := tokenize(d, text)
	if _, unbound := bind(tokens); odd || unbound {
		return "", nil, false
	}
	var b strings.Builder
	rest := text
	for _, t := range tokens {
		at := strings.Index(rest, t.text) // only white space is before it
		b.WriteString(rest[:at])
		rest = rest[at+len(t.text):]
		if t.group < 0 {
			b.WriteString(t.text)
			continue
		}
		b.WriteString(placeholder)
		args = append(args, t.group)
	}
	return b.String(), args, true
}

// mostWords bounds folded.words.
const mostWords = 6

func fold(d Dialect, text string) folded {
	tokens, odd := tokenize(d, text)
	f := folded{odd: odd}
	f.args, f.unbound = bind(tokens)
	for _, t := range tokens {
		if len(f.words) == mostWords || !isWord(t.text) {
			break
		}
		f.words = append(f.words, strings.ToUpper(t.text))
	}
	tokens, groups := foldLists(tokens)
	tokens, groups = foldTuples(tokens, groups)
	f.groups = groups
	f.text = join(tokens)
	return f
}

// A token is a piece of a statement: a word, a number, a quoted text, or one
// other character.
type token struct {
	text  string
	group int // of a placeholder: its place in groups; otherwise -1
}

const placeholder = "?"

// tokenize splits a statement. Apps get a copy of this package, which imports the standard
// library only: this lexer stays beside package sqltext, and TestAgreesWithSQLText holds both
// to the same quoted texts and placeholders.
func tokenize(d Dialect, s string) (tokens []token, odd bool) {
	args := 0
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case d == SQLite && numbered(s[i:]) > 0:
			end := i + numbered(s[i:])
			at, err := strconv.Atoi(s[i+1 : end])
			if err != nil || at > mostNumber {
				return append(tokens, token{s[i:], -1}), true
			}
			tokens = append(tokens, token{s[i:end], at - 1})
			if at > args {
				args = at
			}
			i = end
		case isSpace(c):
			i++
		case c == '\'' || c == '"' || c == '`':
			end := quoteEnd(d, s, i)
			tokens = append(tokens, token{s[i:end], -1})
			i = end
		case isWordByte(c):
			end := i
			for end < len(s) && isWordByte(s[end]) {
				end++
			}
			tokens = append(tokens, token{s[i:end], -1})
			i = end
		case c == '#' && d == MySQL, strings.HasPrefix(s[i:], "--"), strings.HasPrefix(s[i:], "/*"):
			return append(tokens, token{s[i:], -1}), true
		case c == ';':
			if strings.TrimSpace(s[i+1:]) != "" {
				return append(tokens, token{s[i:], -1}), true
			}
			i = len(s)
		case c == '?':
			tokens = append(tokens, token{placeholder, args})
			args++
			i++
		default:
			tokens = append(tokens, token{s[i : i+1], -1})
			i++
		}
	}
	return tokens, false
}

// mostNumber bounds the number of a placeholder, as SQLite does.
const mostNumber = 32766

// numbered is the length of the placeholder ?N or $N at the start of a text; 0 if the text
// starts otherwise.
func numbered(s string) int {
	if len(s) < 2 || s[0] != '?' && s[0] != '$' || s[1] < '1' || s[1] > '9' {
		return 0
	}
	end := 1
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	if s[0] == '$' && end < len(s) && isWordByte(s[end]) {
		return 0 // a name that begins with digits
	}
	return end
}

// bind counts the arguments of a statement. $N is a name in SQLite: some drivers give it
// argument N, others number the names as they first occur. Both do the same if the
// names occur as $1, $2 and so on, and no other placeholder is between them.
func bind(tokens []token) (args int, unbound bool) {
	names, others := false, false
	for _, t := range tokens {
		if t.group < 0 {
			continue
		}
		if t.text[0] == '$' {
			names = true
			unbound = unbound || t.group > args
		} else {
			others = true
		}
		if t.group >= args {
			args = t.group + 1
		}
	}
	return args, unbound || names && others
}

// quoteEnd is the index after the quoted text that begins at i. A text without
// an end goes to the end of s.
func quoteEnd(d Dialect, s string, i int) int {
	q := s[i]
	for j := i + 1; j < len(s); j++ {
		switch {
		case s[j] == '\\' && d == MySQL && q != '`':
			j++
		case s[j] == q:
			if j+1 < len(s) && s[j+1] == q {
				j++
				continue
			}
			return j + 1
		}
	}
	return len(s)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c == '@' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isWord(s string) bool { return s != "" && isWordByte(s[0]) }

// foldLists makes `(?, ?, ?)` after IN one placeholder with one group.
func foldLists(in []token) (out []token, groups [][]int) {
	for i := 0; i < len(in); i++ {
		t := in[i]
		if t.text == "(" && len(out) > 0 && strings.EqualFold(out[len(out)-1].text, "IN") {
			if list, end := placeholderList(in, i); end > 0 {
				out = append(out, token{"(", -1}, token{"?...", len(groups)}, token{")", -1})
				groups = append(groups, list)
				i = end
				continue
			}
		}
		if t.group >= 0 {
			groups = append(groups, []int{t.group})
			t.group = len(groups) - 1
		}
		out = append(out, t)
	}
	return out, groups
}

// placeholderList reads `(?, ?, ?)` from the opening parenthesis. end is the
// index of the closing one, 0 if the parentheses hold something else.
func placeholderList(in []token, open int) (list []int, end int) {
	for i := open + 1; i+1 < len(in); i += 2 {
		if in[i].text != placeholder {
			return nil, 0
		}
		list = append(list, in[i].group)
		switch in[i+1].text {
		case ")":
			return list, i + 1
		case ",":
		default:
			return nil, 0
		}
	}
	return nil, 0
}

// foldTuples makes equal tuples after VALUES one tuple; each of its
// placeholders then stands for those of all tuples.
func foldTuples(in []token, groups [][]int) ([]token, [][]int) {
	at := -1
	for i, t := range in {
		if strings.EqualFold(t.text, "VALUES") && i+1 < len(in) && in[i+1].text == "(" {
			at = i + 1
			break
		}
	}
	if at < 0 {
		return in, groups
	}
	first := tupleEnd(in, at)
	if first == 0 {
		return in, groups
	}
	end := first
	merged := append([][]int{}, groups...) // the groups stay as they are if a tuple is unequal
	for _, t := range in[at : first+1] {
		if t.group >= 0 {
			merged[t.group] = append([]int{}, merged[t.group]...)
		}
	}
	for end+2 < len(in) && in[end+1].text == "," && in[end+2].text == "(" {
		next := tupleEnd(in, end+2)
		if next == 0 || !equalTuples(in[at:first+1], in[end+2:next+1]) {
			return in, groups // unequal tuples: the text stays as it is
		}
		for k, t := range in[end+2 : next+1] {
			if t.group >= 0 {
				g := in[at+k].group
				merged[g] = append(merged[g], groups[t.group]...)
			}
		}
		end = next
	}
	return renumber(in, merged, first, end)
}

// renumber removes the tuples after the first one and their groups.
func renumber(in []token, groups [][]int, first, end int) ([]token, [][]int) {
	out := append([]token{}, in[:first+1]...)
	out = append(out, token{"...", -1})
	out = append(out, in[end+1:]...)
	var kept [][]int
	for i := range out {
		if out[i].group >= 0 {
			kept = append(kept, groups[out[i].group])
			out[i].group = len(kept) - 1
		}
	}
	return out, kept
}

// tupleEnd is the index of the parenthesis that closes the one at open, 0 if
// there is none.
func tupleEnd(in []token, open int) int {
	depth := 0
	for i := open; i < len(in); i++ {
		switch in[i].text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return 0
}

func equalTuples(a, b []token) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].text != b[i].text {
			return false
		}
	}
	return true
}

// join prints tokens with single spaces. Spaces do not matter inside of a plan,
// where both sides come from this function.
func join(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}
