package difference

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/lang/sqlschema"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// builtEnds are the endings of files that a build makes a program of, by engine; a Go app
// may embed others, which is not seen.
var builtEnds = map[string]bool{".go": true, ".mod": true, ".sum": true, ".rs": true, ".java": true, ".kt": true, ".scala": true, ".c": true, ".h": true, ".cc": true, ".cpp": true, ".lock": true}

// readAtStart are the endings of scripts that a process reads at its start.
var readAtStart = map[iikanji.Engine][]string{iikanji.EngineRuby: {".rb", ".ru", ".erb", ".lock"}, iikanji.EnginePython: {".py", ".lock"}, "perl": {".pl", ".pm", ".psgi"},
	iikanji.EngineNode: {".js", ".mjs", ".cjs", ".ts", ".json"}, "elixir": {".ex", ".exs"}}

// sourceFile compares a file of an app's source by its functions.
func (c *comparer) sourceFile(e *Edit, s *state.Service, now state.File, before, after []byte) {
	e.Kind, e.Service, e.Names = Source, s.Name, functions(now.Path, before, after)
	if c.built == nil {
		c.built = map[string]bool{}
	}
	ext := strings.ToLower(path.Ext(now.Path))
	switch {
	case strings.HasSuffix(now.Path, "_test.go"):
	case s.Compiled() && builtEnds[ext]:
		c.built[s.Name] = true
		c.notBuilt(e, s, now)
	case slices.Contains(readAtStart[s.Engine], ext):
		if !s.Started.IsZero() && (now.Class != "" && now.Changed.After(s.Started.Add(slack)) || now.Class == "" && s.Started.Before(c.in.Base.At)) {
			e.Warning, e.Why = NotLoaded, s.Name+" was not restarted since"
		}
	}
}

// notBuilt warns of a source from which the running program was not built: it is that of
// the first state, or older than the file.
func (c *comparer) notBuilt(e *Edit, s *state.Service, now state.File) {
	if s.Program.Path == "" {
		return
	}
	base, known := c.base.Service(s.Name)
	switch {
	case s.Program.Replaced:
		e.Warning, e.Why = NotLoaded, "a newer program is on the disk than the one that runs"
	case known && base.Program.SHA != "" && base.Program.SHA == s.Program.SHA:
		e.Warning, e.Why = NotBuilt, "the running program is older"
	case now.Class != "" && !s.Program.Changed.IsZero() && now.Changed.After(s.Program.Changed) && now.Changed.After(s.Program.Modified):
		e.Warning, e.Why = NotBuilt, "the running program is older"
	}
}

// functions are the names of the functions that differ.
func functions(name string, before, after []byte) []string {
	if strings.HasSuffix(name, ".go") {
		old, err1 := goFunctions(before)
		now, err2 := goFunctions(after)
		if err1 == nil && err2 == nil {
			return changedParts(old, now)
		}
	}
	if strings.HasSuffix(name, ".sql") {
		return changedParts(sqlTables(before), sqlTables(after))
	}
	heads := headsOf(name)
	if heads == nil {
		return assignments(before, after)
	}
	return changedParts(blocksOf(heads, before), blocksOf(heads, after))
}

// changedParts lists the names whose texts differ.
func changedParts(old, now map[string]string) (names []string) {
	for _, name := range keysOf(old, now) {
		was, had := old[name]
		is, has := now[name]
		switch {
		case had && has && was == is:
		case !had:
			names = append(names, name+" (new)")
		case !has:
			names = append(names, "− "+name)
		default:
			names = append(names, name)
		}
	}
	return names
}

// goFunctions are the functions of a Go file with their texts; other declarations are by
// their names, too.
func goFunctions(text []byte) (map[string]string, error) {
	all := map[string]string{}
	if len(text) == 0 {
		return all, nil
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	put := func(name string, n ast.Node) {
		from, to := set.Position(n.Pos()).Offset, set.Position(n.End()).Offset
		if from >= 0 && to <= len(text) && from <= to {
			all[name] += string(text[from:to])
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil && len(d.Recv.List) == 1 {
				name = receiver(d.Recv.List[0].Type) + "." + name
			}
			put(name, d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					put("type "+spec.Name.Name, spec)
				case *ast.ValueSpec:
					put(d.Tok.String()+" "+spec.Names[0].Name, spec)
				case *ast.ImportSpec:
					put("imports", spec)
				}
			}
		}
	}
	return all, nil
}

// sqlTables are the statements of an SQL file by the table that they define; all others are
// "statements".
func sqlTables(text []byte) map[string]string {
	all := map[string]string{}
	for _, st := range sqltext.MySQL.Statements(string(text)) {
		name := "statements"
		if def, ok := sqlschema.Of(st); ok {
			name = "table " + def.Table
		}
		for _, t := range st.Tokens {
			all[name] += t.Text + " "
		}
		all[name] += ";\n"
	}
	return all
}

func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return "?"
}

// heads matches the first line of a function; its last group that matched is the name.
var (
	rubyHead   = regexp.MustCompile(`^\s*(?:def\s+([\w.?!=]+)|((?:get|post|put|patch|delete|before|after|helpers|configure)\b\s*(?:\(?["'][^"']*["'])?)[^#]*\bdo\b)`)
	pythonHead = regexp.MustCompile(`^\s*(?:async\s+)?(?:def|class)\s+(\w+)`)
	scriptHead = regexp.MustCompile(`^\s*(?:(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*(\w+)|(?:export\s+)?(?:const|let|var)\s+(\w+)\s*=\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*(?::[^=]+)?=>|\w+\s*=>)|((?:app|router|fastify|server)\.(?:get|post|put|patch|delete|use)\(\s*["'\x60][^"'\x60]*["'\x60])|(?:export\s+)?class\s+(\w+)|(?:static\s+)?(?:async\s+)?(\w+)\s*\([^)]*\)\s*(?::[^{]+)?\{\s*$)`)
	phpHead    = regexp.MustCompile(`^\s*(?:(?:abstract|final|public|private|protected|static)\s+)*function\s+&?(\w+)|^\s*(\$app->(?:get|post|put|patch|delete)\(\s*["'][^"']*["'])`)
	rustHead   = regexp.MustCompile(`^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const\s+|async\s+|unsafe\s+|extern\s+"[^"]*"\s+)*fn\s+(\w+)`)
	perlHead   = regexp.MustCompile(`^\s*sub\s+(\w+)|^\s*((?:get|post|put|del|any|filter)\s*\(?["'][^"']*["'])`)
	javaHead   = regexp.MustCompile(`^\s*(?:(?:public|private|protected|static|final|synchronized|override|suspend|abstract|inline|open)\s+)*(?:fun\s+(?:\w+\.)?(\w+)|def\s+(\w+)|[\w<>\[\],.? ]+\s+(\w+)\s*\([^;]*\)\s*(?:throws [\w., ]+)?\{\s*$)`)
	cHead      = regexp.MustCompile(`^[A-Za-z_][\w\s*]*\s\*?(\w+)\s*\([^;]*\)\s*\{?\s*$`)
	elixirHead = regexp.MustCompile(`^\s*defp?\s+([\w?!]+)`)
	luaHead    = regexp.MustCompile(`^\s*(?:local\s+)?function\s+([\w.:]+)`)
)

// headsOf returns the form of a function's first line in the language of a file; nil for
// a language without one.
func headsOf(name string) *regexp.Regexp {
	switch strings.ToLower(path.Ext(name)) {
	case ".rb", ".ru", ".rake":
		return rubyHead
	case ".py":
		return pythonHead
	case ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx":
		return scriptHead
	case ".php":
		return phpHead
	case ".rs":
		return rustHead
	case ".pl", ".pm", ".psgi":
		return perlHead
	case ".java", ".kt", ".scala":
		return javaHead
	case ".c", ".h", ".cc", ".cpp":
		return cHead
	case ".ex", ".exs":
		return elixirHead
	case ".lua":
		return luaHead
	case ".go":
		return regexp.MustCompile(`^func\s+(?:\([^)]*\)\s*)?(\w+)`)
	}
	return nil
}

// notNames are words that look like the name of a method before a bracket.
var notNames = map[string]bool{"if": true, "for": true, "while": true, "switch": true, "catch": true, "else": true, "do": true, "try": true, "return": true, "with": true, "match": true}

// blocksOf cuts a script into the parts that begin with a function's first line, by name.
// What is before the first one is "top level".
func blocksOf(heads *regexp.Regexp, text []byte) map[string]string {
	all := map[string]string{}
	name := "top level"
	for line := range bytes.Lines(text) {
		if m := heads.FindSubmatch(bytes.TrimRight(line, "\r\n")); m != nil {
			for _, group := range m[1:] {
				if found := strings.TrimSpace(string(group)); found != "" && !notNames[found] {
					name = strings.Replace(found, "(", " ", 1)
				}
			}
		}
		all[name] += string(line)
	}
	return all
}
