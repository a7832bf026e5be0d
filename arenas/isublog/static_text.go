package isublog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// style is the blog's own style sheet.
const style = `body{margin:0;font-family:sans-serif;background:#f4f1ea;color:#2b2b2b}
#view{width:960px;margin:0 auto;background:#fff}
#titleimage img{display:block;width:960px;height:120px;border:0}
#mainview{overflow:hidden;padding:12px}
#sidebar{float:right;width:240px;font-size:13px}
#sidebar table{width:100%;border-collapse:collapse}
#sidebar td{padding:4px 6px;border-bottom:1px dotted #c9c2b4}
#articleview{margin-right:260px}
.article{margin-bottom:24px;border-bottom:1px solid #ddd}
.title{font-size:20px;font-weight:bold}
.created{color:#8a8478;font-size:12px}
.body{line-height:1.6;margin:8px 0}
.comment{border-left:3px solid #d8cfbd;margin:8px 0;padding-left:8px}
.comment .name{font-weight:bold}
.commentform label,.postform label{display:block;margin:6px 0}
`

// padded fills a style sheet or script up to a size with a comment.
func padded(text []byte, size int) []byte {
	fill := size - len(text)
	if fill < 4 {
		panic(fmt.Sprintf("BUG: %d bytes are too many for a file of %d", len(text), size))
	}
	text = append(text, "/*"...)
	text = append(text, bytes.Repeat([]byte("-"), fill-4)...)
	return append(text, "*/"...)
}

// minEnd is the room that a generator of text leaves for its end and the padding.
const minEnd = 200

// theme returns a style sheet of the size and about the redundancy of the contest's.
func theme() []byte {
	r := rand.New(rand.NewPCG(dataSeed, 3))
	parts := []string{"header", "content", "button", "icon", "tabs", "dialog", "slider", "menu", "progressbar", "datepicker", "corner", "state", "widget", "resizable"}
	states := []string{"hover", "focus", "active", "default", "disabled", "error", "highlight", "top", "bottom", "left", "right", "all"}
	var b bytes.Buffer
	for b.Len() < themeBytes-minEnd {
		fmt.Fprintf(&b, ".ui-%s-%s .ui-%s{", parts[r.IntN(len(parts))], states[r.IntN(len(states))], parts[r.IntN(len(parts))])
		switch r.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "background-position:-%dpx -%dpx", 16*r.IntN(16), 16*r.IntN(16))
		case 1:
			fmt.Fprintf(&b, "border:1px solid #%03x;color:#%03x", r.IntN(4096), r.IntN(4096))
		case 2:
			fmt.Fprintf(&b, "margin:.%dem 0;padding:.%dem %dpx", r.IntN(9), r.IntN(9), r.IntN(30))
		default:
			fmt.Fprintf(&b, "position:relative;width:%dem;zoom:1", r.IntN(40))
		}
		b.WriteString("}\n")
	}
	return padded(b.Bytes(), themeBytes)
}

// script returns a script of a size. It defines functions that nothing calls. names
// is the number of names in it: more names compress worse.
func script(seed uint64, names, size int) []byte {
	r := rand.New(rand.NewPCG(dataSeed, 10+seed))
	pool := make([]string, names)
	for i := range pool {
		pool[i] = word(r)
	}
	name := func() string { return pool[r.IntN(len(pool))] }
	var b bytes.Buffer
	b.WriteString("(function(w){var $={};")
	for i := 0; b.Len() < size-minEnd; i++ {
		fmt.Fprintf(&b, "$.%s%d=function(a,b){", name(), i)
		for range 1 + r.IntN(3) {
			switch r.IntN(5) {
			case 0:
				fmt.Fprintf(&b, "if(a.%s&&!b)return %q;", name(), name())
			case 1:
				fmt.Fprintf(&b, "var c=a.%s+%d;", name(), r.IntN(1000))
			case 2:
				fmt.Fprintf(&b, "for(var d in b)if(d==%q)a[d]=b.%s;", name(), name())
			case 3:
				fmt.Fprintf(&b, "a.%s(b.%s,%q);", name(), name(), name())
			default:
				fmt.Fprintf(&b, "b=b||{%s:%d,%s:a};", name(), r.IntN(100), name())
			}
		}
		b.WriteString("return a};")
	}
	b.WriteString("w.isublog=$})(window);\n")
	return padded(b.Bytes(), size)
}

// word returns a name of letters that a script may use.
func word(r *rand.Rand) string {
	letters := make([]byte, 4+r.IntN(6))
	for i := range letters {
		letters[i] = byte('a' + r.IntN(26))
	}
	return "$" + string(letters)
}
