package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// hashes are the packages and functions of digests.
var hashes = map[string][2]string{"md5": {"crypto/md5", "Sum"}, "sha1": {"crypto/sha1", "Sum"}, "sha256": {"crypto/sha256", "Sum256"}, "sha512": {"crypto/sha512", "Sum512"}}

// A digestOutput is what a program that makes a digest prints.
type digestOutput struct {
	algorithm string
	words     []string // of its line; HEX is the digest
	gap       string   // between them
	ended     bool     // by a line end
}

// hexWord stands for the digest among the words of a line.
const hexWord = "HEX"

var (
	printed    = regexp.MustCompile(`^\s*(?:printf\s+(?:"%s"|'%s'|%s)|echo\s+-n)\s+X\s*$`)
	byOpenssl  = regexp.MustCompile(`^\s*openssl\s+(?:dgst\s+)?-?(md5|sha1|sha256|sha512)(\s+-r)?\s*$`)
	bySum      = regexp.MustCompile(`^\s*(md5|sha1|sha256|sha512)sum\s*$`)
	cutBefore  = regexp.MustCompile(`^\s*sed\s+(?:-e\s+)?'s/\^\.\*= //'\s*$`)
	cutBehind  = regexp.MustCompile(`^\s*sed\s+(?:-e\s+)?'s/ \.\*\$?//'\s*$`)
	oneByAwk   = regexp.MustCompile(`^\s*awk\s+'\{ ?print \$(\d|NF) ?\}'\s*$`)
	oneByCut   = regexp.MustCompile(`^\s*cut\s+-d ?(?:' '|" ")\s+-f ?(\d)\s*$`)
	withoutEnd = regexp.MustCompile(`^\s*tr\s+-d\s+(?:'\\n'|"\\n")\s*$`)
)

// digestOf reads a pipeline that prints one text, with X for it, into a digest.
func digestOf(script string) (d digestOutput, ok bool) {
	parts := strings.Split(script, "|")
	if len(parts) < 2 || !printed.MatchString(parts[0]) {
		return d, false
	}
	switch m, sum := byOpenssl.FindStringSubmatch(parts[1]), bySum.FindStringSubmatch(parts[1]); {
	case m != nil && m[2] != "":
		d = digestOutput{m[1], []string{hexWord, "*stdin"}, " ", true}
	case m != nil: // the first word depends on the version of openssl
		d = digestOutput{m[1], []string{"", hexWord}, " ", true}
	case sum != nil:
		d = digestOutput{sum[1], []string{hexWord, "-"}, "  ", true}
	default:
		return d, false
	}
	for _, part := range parts[2:] {
		if !d.through(part) {
			return d, false
		}
	}
	return d, !slices.Contains(d.words, "")
}

// through changes an output as a further program of the pipeline does.
func (d *digestOutput) through(program string) bool {
	word := ""
	switch awk, cut := oneByAwk.FindStringSubmatch(program), oneByCut.FindStringSubmatch(program); {
	case withoutEnd.MatchString(program):
		d.ended = false
		return true
	case cutBefore.MatchString(program):
		if d.words[0] == "" {
			d.words = d.words[1:]
		}
		return true
	case cutBehind.MatchString(program) && d.words[0] != "":
		d.words = d.words[:1] // a last line without an end stays without one
		return true
	case awk != nil && awk[1] == "NF":
		word = d.words[len(d.words)-1]
	case awk != nil || cut != nil && (d.gap == " " || cut[1] == "1"):
		m := awk
		if m == nil {
			m = cut
		}
		n, _ := strconv.Atoi(m[1])
		if n < 1 || n > len(d.words) {
			return false
		}
		word = d.words[n-1]
	default:
		return false
	}
	d.words, d.ended = []string{word}, true
	return true
}

// behind is what the output has behind the digest. ok is false where the digest is not first.
func (d digestOutput) behind() (string, bool) {
	if len(d.words) == 0 || d.words[0] != hexWord {
		return "", false
	}
	text := strings.Join(append([]string{""}, d.words[1:]...), d.gap)
	if d.ended {
		text += "\n"
	}
	return text, true
}

// digest rewrites a program, or a shell's pipeline, that makes the digest of a text:
//
//	exec.Command("bash", "-c", `printf "%s" `+escape(x)+` | openssl dgst -sha512 | sed …`).Output()
//
//	cmd := exec.Command("sha256sum")
//	cmd.Stdin = strings.NewReader(x)
//	out, err := cmd.Output()
func (p *programs) digest(rw *rewrite, c *ast.CallExpr, args []ast.Expr) bool {
	run, set, ok := p.waitedFor(c)
	if !ok || c.Ellipsis.IsValid() {
		return false
	}
	var d digestOutput
	var input ast.Expr
	if set == nil {
		d, input, ok = p.ofShell(args)
	} else {
		d, ok = p.ofCommand(args)
		input = p.readBy(set)
	}
	behind, first := d.behind()
	if !ok || !first || input == nil || !p.atOnce(c, set, run) || p.leavesUnused(c, set, input) {
		return false
	}
	hash := hashes[d.algorithm]
	ending, kind := "with a line end", "Line"
	if behind != "\n" {
		ending, kind = "and what follows it in the program's output", "Output"
	}
	if behind == "" {
		ending, kind = "alone", "Hex"
	}
	result := "append([]byte(%[3]s.EncodeToString(sum[:])), " + behindCode(behind) + ")"
	if behind == "" {
		result = "[]byte(%[3]s.EncodeToString(sum[:]))"
	}
	source := strings.NewReplacer("HASH", hash[1], "ALGORITHM", d.algorithm, "ENDING", ending, "RESULT", result).Replace(digestSource)
	helper := p.helper(rw, c, d.algorithm+kind, source, hash[0], "encoding/hex")
	text := p.x.text(input)
	if basic, isBasic := p.x.typeOf(input).Underlying().(*types.Basic); !isBasic || basic.Info()&types.IsString == 0 {
		text = "string(" + text + ")"
	}
	rw.replace(run, fmt.Sprintf("%s(%s)", helper, text))
	if a, isAssign := p.x.parent[c].(*ast.AssignStmt); isAssign {
		rw.removeLines(a)
	}
	if set != nil {
		rw.removeLines(set)
	}
	return helper != ""
}

// atOnce reports whether a command runs where it is made, or in the statement behind that which
// has its input: the text is then the same.
func (p *programs) atOnce(c *ast.CallExpr, set *ast.AssignStmt, run *ast.CallExpr) bool {
	made, assigned := p.x.parent[c].(*ast.AssignStmt)
	switch {
	case set != nil:
		return p.nextTo(set, run)
	case assigned:
		return p.nextTo(made, run)
	}
	return true
}

// nextTo reports whether a command runs in the statement behind another one, before any other
// call of that statement.
func (p *programs) nextTo(s *ast.AssignStmt, run *ast.CallExpr) bool {
	block, i := p.x.blockOf(s)
	if block == nil || i+1 >= len(block.List) {
		return false
	}
	next := block.List[i+1]
	if asks, ok := next.(*ast.IfStmt); ok && asks.Init != nil {
		next = asks.Init
	}
	switch next.(type) {
	case *ast.AssignStmt, *ast.DeclStmt, *ast.ExprStmt, *ast.ReturnStmt:
	default:
		return false
	}
	first := within(run, next) && !hasNode[*ast.FuncLit](next)
	ast.Inspect(next, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		first = first && (!ok || within(run, call) || within(call, run))
		return first
	})
	return first
}

// leavesUnused reports whether a variable has no other use than in what is removed: Go refuses it.
func (p *programs) leavesUnused(c *ast.CallExpr, set *ast.AssignStmt, input ast.Expr) (found bool) {
	ast.Inspect(c, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		v, isVar := p.x.pass.TypesInfo.Uses[id].(*types.Var)
		if !ok || !isVar || !isLocal(v) || isParameter(p.x.pass, v) {
			return true
		}
		kept := slices.ContainsFunc(p.x.uses[v], func(use *ast.Ident) bool {
			return within(use, input) || !within(use, c) && (set == nil || !within(use, set))
		})
		found = found || !kept
		return true
	})
	return found
}

// behindCode is the text behind a digest as further arguments of append.
func behindCode(behind string) string {
	if len(behind) == 1 {
		return strconv.QuoteRune(rune(behind[0]))
	}
	return strconv.Quote(behind) + "..."
}

// waitedFor is the call that runs a command to its end and returns its output. Where the command
// is in a variable, set is the only other statement about it: that of its input, if there is one.
func (p *programs) waitedFor(c *ast.CallExpr) (run *ast.CallExpr, set *ast.AssignStmt, ok bool) {
	for _, name := range []string{"Output", "CombinedOutput"} {
		if run := p.method(c, name); run != nil {
			return run, nil, true
		}
	}
	a, isAssign := p.x.parent[c].(*ast.AssignStmt)
	if !isAssign || len(a.Lhs) != 1 || a.Tok != token.DEFINE {
		return nil, nil, false
	}
	cmd := p.x.variable(a.Lhs[0])
	block, inBlock := p.x.parent[a].(*ast.BlockStmt)
	if cmd == nil || !inBlock || len(p.x.uses[cmd]) == 0 || len(p.x.uses[cmd]) > 2 {
		return nil, nil, false
	}
	for _, id := range p.x.uses[cmd] {
		sel, isSel := p.x.parent[id].(*ast.SelectorExpr)
		if !isSel {
			return nil, nil, false
		}
		switch up := p.x.parent[sel].(type) {
		case *ast.CallExpr:
			if run != nil || sel.Sel.Name != "Output" && sel.Sel.Name != "CombinedOutput" {
				return nil, nil, false
			}
			run = up
		case *ast.AssignStmt:
			if sel.Sel.Name != "Stdin" || len(up.Lhs) != 1 || up.Lhs[0] != ast.Expr(sel) || p.x.parent[up] != ast.Node(block) {
				return nil, nil, false
			}
			set = up
		default:
			return nil, nil, false
		}
	}
	return run, set, run != nil && run.Pos() > a.End() && (set == nil || set.Pos() < run.Pos())
}

// ofShell reads a command of a shell.
func (p *programs) ofShell(args []ast.Expr) (d digestOutput, input ast.Expr, ok bool) {
	shell, _ := p.text(args[0])
	if b := path.Base(shell); b != "sh" && b != "bash" || len(args) != 3 {
		return d, nil, false
	}
	if flag, _ := p.text(args[1]); flag != "-c" {
		return d, nil, false
	}
	script, input, ok := p.script(args[2])
	if !ok || input == nil {
		return d, nil, false
	}
	d, ok = digestOf(script)
	return d, input, ok
}

// script is the text of a shell's script, with X for the one part that is not constant: a text
// that a function quotes.
func (p *programs) script(e ast.Expr) (text string, input ast.Expr, ok bool) {
	if call, isCall := ast.Unparen(e).(*ast.CallExpr); isCall && isFunc(p.x.callee(call), "fmt", "Sprintf") && len(call.Args) == 2 && !call.Ellipsis.IsValid() {
		format, known := p.text(call.Args[0])
		before, after, found := strings.Cut(strings.ReplaceAll(format, "%%", "\x00"), "%s")
		input = p.quoted(call.Args[1])
		if !known || !found || strings.Contains(before+after, "%") || input == nil {
			return "", nil, false
		}
		return strings.ReplaceAll(before+"X"+after, "\x00", "%"), input, true
	}
	for _, part := range operands(e, token.ADD) {
		if v, known := p.text(part); known {
			text += v
			continue
		}
		if input != nil {
			return "", nil, false
		}
		if input = p.quoted(part); input == nil {
			return "", nil, false
		}
		text += "X"
	}
	return text, input, true
}

// quoted is the text that an expression quotes for the shell, nil if it does not.
func (p *programs) quoted(e ast.Expr) ast.Expr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || call.Ellipsis.IsValid() || !p.quotes(call) && !isFunc(p.x.callee(call), "al.essio.dev/pkg/shellescape", "Quote") && !isFunc(p.x.callee(call), "github.com/alessio/shellescape", "Quote") {
		return nil
	}
	return call.Args[0]
}

// quotes reports whether a function of the package quotes a text for the shell: it
// takes a text and returns text between single quotes in which single quotes are
// replaced.
func (p *programs) quotes(c *ast.CallExpr) bool {
	fn := p.x.callee(c)
	d := p.x.decls[fn]
	if d == nil || d.Body == nil || len(d.Body.List) != 1 || fn.Signature().Params().Len() != 1 {
		return false
	}
	text := p.x.text(d.Body)
	return strings.Contains(text, "strings.Replace") && strings.Count(text, "'") >= 4
}

// ofCommand reads a command that has its text from its standard input.
func (p *programs) ofCommand(args []ast.Expr) (digestOutput, bool) {
	script := "printf %s X |"
	for i, a := range args {
		word, ok := p.text(a)
		if i == 0 {
			word = path.Base(word)
		}
		if !ok || strings.ContainsAny(word, " |") {
			return digestOutput{}, false
		}
		script += " " + word
	}
	return digestOf(script)
}

// readBy is the text that a command reads, cmd.Stdin = strings.NewReader(text); nil if it is none.
func (p *programs) readBy(set *ast.AssignStmt) ast.Expr {
	call, ok := ast.Unparen(set.Rhs[0]).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !(isFunc(p.x.callee(call), "strings", "NewReader") || isFunc(p.x.callee(call), "bytes", "NewReader", "NewBufferString", "NewBuffer")) {
		return nil
	}
	return call.Args[0]
}

const digestSource = `// %[1]s returns the ALGORITHM digest of a text in hexadecimal, ENDING.
func %[1]s(text string) ([]byte, error) {
	sum := %[2]s.HASH([]byte(text))
	return RESULT, nil
}
`
