package ties

import (
	"go/ast"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/iikanji/iikanji/internal/lang/settings"
)

// Reads reports whether the package reads a file of an app's source.
func Reads(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(name, ".go") || base == "go.mod" || languageOf(name) != nil
}

// Find lists the ties of an app's source, in the order of their places. program is the folder
// of a Go app's program in it, as in "./cmd/web"; "" for the only one. known is false if no
// file is of a language that is read.
func Find(files []settings.File, program string) (all []Tie, known bool) {
	var golang, others []settings.File
	texts := "" // which name scripts
	for _, f := range files {
		if settings.IsTest(f.Path) {
			continue
		}
		if l := languageOf(f.Path); l != nil {
			if others, known = append(others, f), known || l.app; l.app && strings.Contains(f.Text, ".sh") {
				texts += f.Text
			}
		} else if strings.HasSuffix(f.Path, ".go") || strings.HasPrefix(path.Base(f.Path), "go.mod") {
			golang, known = append(golang, f), true
		}
	}
	if len(golang) > 0 {
		s := read(golang, program)
		s.divide()
		all = s.withRoutes(slices.Concat(s.memory(), s.calls(), s.jobs(), s.packageKeys(), s.ours(golang)))
		texts += s.literals()
	}
	for _, f := range others {
		all = append(all, inText(f, texts)...)
	}
	return Sort(all), known
}

// withRoutes adds the routes that reach each tie. Where requests write files, those that read
// files need the same ones.
func (s *source) withRoutes(all []Tie) []Tie {
	if slices.ContainsFunc(all, func(t Tie) bool { return t.Kind == Files }) {
		all = append(all, s.fileReads(s.writtenFolders())...)
	}
	for i := range all {
		if slices.Contains([]Kind{Job, Key, Socket}, all[i].Kind) {
			continue // they are no part of an answer
		}
		for _, r := range s.routes {
			if f := all[i].Func; f != "" && (r.Func == f || slices.Contains(r.Reaches, f)) {
				all[i].Routes = append(all[i].Routes, r.Route)
			}
		}
	}
	return all
}

// readCalls are functions that read files, and serves methods of routers that send one.
var (
	readCalls = []string{"Open", "ReadFile", "ReadDir", "Stat"}
	serves    = []string{"File", "Attachment", "Inline", "SendFile", "FileAttachment"}
)

// fileReads lists where requests read files of the written folders; nil: of any folder.
func (s *source) fileReads(written []string) (out []Tie) {
	for _, b := range s.bodies {
		temporary := s.temporary(b)
		ast.Inspect(b.code, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || mentions(b.pkg, call, temporary) {
				return true
			}
			from, name := outside(b.pkg, call.Fun)
			sel, isSel := call.Fun.(*ast.SelectorExpr)
			if folder := s.folderOf(b.pkg, call.Args); written != nil && folder != "" && !slices.ContainsFunc(written, func(w string) bool { return strings.HasPrefix(folder, w) || strings.HasPrefix(w, folder) }) {
				return true
			}
			switch {
			case (from == "os" || from == "io/ioutil") && slices.Contains(readCalls, name), from == "net/http" && name == "ServeFile":
				out = append(out, s.tie(Files, call, "reads by "+path.Base(from)+"."+name, b.name))
			case isSel && from == "" && slices.Contains(serves, sel.Sel.Name) && len(call.Args) > 0:
				out = append(out, s.tie(Files, call, "sends by "+sel.Sel.Name, b.name))
			}
			return true
		})
	}
	return out
}

// writtenFolders are the folders in which requests write files; nil if one is not known.
func (s *source) writtenFolders() (out []string) {
	known := true
	for _, b := range s.bodies {
		temporary := s.temporary(b)
		ast.Inspect(b.code, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || s.writesFile(b, call) == "" || mentions(b.pkg, call, temporary) {
				return true
			}
			folder := s.folderOf(b.pkg, call.Args)
			known = known && folder != ""
			out = append(out, folder)
			return true
		})
	}
	if !known {
		return nil
	}
	return out
}

// folderOf is the folder that the first path among arguments begins with; "" if the source
// does not show it.
func (s *source) folderOf(p *packages.Package, args []ast.Expr) string {
	for _, a := range args {
		if text := s.beginning(p, a); strings.Contains(text, "/") {
			return text[:strings.LastIndexByte(text, '/')+1]
		}
	}
	return ""
}

// beginning is the constant text that an expression begins with.
func (s *source) beginning(p *packages.Package, e ast.Expr) string {
	if text := s.text(p, e); text != "" {
		return text
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		return s.beginning(p, e.X)
	case *ast.CallExpr:
		from, name := outside(p, e.Fun)
		if (from == "path/filepath" || from == "path") && name == "Join" && len(e.Args) > 0 {
			return s.beginning(p, e.Args[0]) + "/"
		}
		if from == "fmt" && name == "Sprintf" && len(e.Args) > 0 {
			text, _, _ := strings.Cut(s.text(p, e.Args[0]), "%")
			return text
		}
	}
	return ""
}

// literals are all texts of the source, by which it names scripts.
func (s *source) literals() string {
	var b strings.Builder
	for _, p := range s.all {
		for _, f := range p.Syntax {
			ast.Inspect(f, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && strings.Contains(lit.Value, ".sh") {
					b.WriteString(lit.Value + "\n")
				}
				return true
			})
		}
	}
	return b.String()
}
