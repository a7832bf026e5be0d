package goprofile

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"
	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
	"golang.org/x/mod/modfile"
)

// A Function is the CPU time of one function of the app, or of one package that the
// app uses.
type Function struct {
	Name string // as in list or (*app).list; the import path of a package
	fact.HotFunction
}

// Shares and counts of what is reported.
const (
	leastFunction = 0.005 // of the CPU time of a reported function or package
	mostWithin    = 5     // functions that a package ran for
)

// Functions reads a CPU profile of an app whose source is a folder: its own functions
// and the packages that they call, those with the most time first.
func Functions(data []byte, source string) ([]Function, error) {
	p, err := profile.ParseData(data)
	if err != nil {
		return nil, fmt.Errorf("reading the CPU profile: %w", err)
	}
	at := -1
	for i, t := range p.SampleType {
		if t.Unit == "nanoseconds" {
			at = i
		}
	}
	if at < 0 {
		return nil, fmt.Errorf("reading the CPU profile: it has no times")
	}
	s := &sums{source: source, trimmed: trimmedPath(source), functions: map[string]*Function{}, lines: map[string]map[int]time.Duration{}, within: map[string]map[string]time.Duration{}}
	for _, sample := range p.Sample {
		if at < len(sample.Value) {
			s.add(framesOf(sample), time.Duration(sample.Value[at]))
		}
	}
	return s.result(), nil
}

// A frame is one function on a stack.
type frame struct {
	function, file string
	line           int
}

// framesOf is the stack of a sample, the innermost frame first, with what was
// inlined.
func framesOf(s *profile.Sample) []frame {
	var out []frame
	for _, l := range s.Location {
		for _, line := range l.Line {
			if line.Function != nil {
				out = append(out, frame{line.Function.Name, line.Function.Filename, int(line.Line)})
			}
		}
	}
	return out
}

// sums are the times by function and by package.
type sums struct {
	source    string
	trimmed   string // of a source that was built with -trimpath; "" outside a module
	total     time.Duration
	functions map[string]*Function
	lines     map[string]map[int]time.Duration
	within    map[string]map[string]time.Duration
}

// add adds one sample: its time belongs to each function of the stack once, and to
// the package of its innermost frame that is not the runtime's.
func (s *sums) add(stack []frame, took time.Duration) {
	s.total += took
	seen, own := map[string]bool{}, ""
	for i, f := range stack {
		_, name := split(f.function)
		if !s.isOwn(f.file) {
			continue
		}
		if own == "" {
			own = name
		}
		fn := s.function(name)
		fn.File = s.relative(f.file)
		if i == 0 {
			fn.Own += took
		}
		if !seen[name] {
			seen[name] = true
			fn.Each += took
			count(s.lines, name, f.line, took)
		}
	}
	for _, pkg := range packagesOf(stack, s.isOwn) {
		fn := s.function(pkg)
		fn.Package = pkg
		fn.Each += took
		if own != "" {
			count(s.within, pkg, own, took)
		}
	}
}

func count[K comparable](of map[string]map[K]time.Duration, name string, key K, took time.Duration) {
	if of[name] == nil {
		of[name] = map[K]time.Duration{}
	}
	of[name][key] += took
}

func (s *sums) function(name string) *Function {
	if s.functions[name] == nil {
		s.functions[name] = &Function{Name: name}
	}
	return s.functions[name]
}

// packagesOf are the packages between the innermost own frame and the top of a
// stack, each once. Without an own frame they are those of the whole stack.
func packagesOf(stack []frame, own func(file string) bool) []string {
	var out []string
	for _, f := range stack {
		if own(f.file) {
			break
		}
		if pkg, _ := split(f.function); pkg != "" && pkg != "main" && !slices.Contains(out, pkg) {
			out = append(out, pkg)
		}
	}
	return out
}

// isOwn reports whether a file is in the app's source.
func (s *sums) isOwn(file string) bool {
	return s.relative(file) != file && filepath.Base(file) != FileName
}

// relative is the path of a file of the app below its source; other files keep theirs.
func (s *sums) relative(file string) string {
	for _, folder := range []string{s.source, s.trimmed} {
		if rel, below := strings.CutPrefix(file, folder+"/"); below && folder != "" {
			return rel
		}
	}
	return file
}

// trimmedPath is what go build -trimpath writes into a program in place of the path of a
// folder of its main module: the module's path, and the folder's within the module.
func trimmedPath(source string) string {
	root := moduleOf(source)
	body, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return ""
	}
	module := modfile.ModulePath(body)
	rel, err := filepath.Rel(root, source)
	if err != nil || module == "" {
		return ""
	}
	return path.Join(module, filepath.ToSlash(rel))
}

// result lists what took a considerable share.
func (s *sums) result() []Function {
	var out []Function
	for name, f := range s.functions {
		if float64(f.Each) < leastFunction*float64(s.total) {
			continue
		}
		most := time.Duration(0)
		for _, line := range slices.Sorted(maps.Keys(s.lines[name])) {
			if took := s.lines[name][line]; took > most {
				f.Line, most = line, took
			}
		}
		for own, took := range s.within[name] {
			f.Within = append(f.Within, iikanji.Named{Name: own, Count: int64(took)})
		}
		slices.SortFunc(f.Within, func(a, b iikanji.Named) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
		})
		f.Within = f.Within[:min(len(f.Within), mostWithin)]
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b Function) int { return cmp.Or(cmp.Compare(b.Each, a.Each), strings.Compare(a.Name, b.Name)) })
	return out
}

// closure is the name of a function literal behind that of its function.
var closure = regexp.MustCompile(`(\.func\d+|\.gowrap\d+|\.\d+|-range\d+|\.deferwrap\d+)+$`)

// split divides a function's name in a profile into the import path of its package
// and its name as in the source: "main.(*app).list.func1" is main and (*app).list.
func split(function string) (pkg, name string) {
	slash := strings.LastIndexByte(function, '/')
	if bracket := strings.IndexByte(function, '['); bracket >= 0 && bracket < slash { // type arguments
		slash = strings.LastIndexByte(function[:bracket], '/')
	}
	dot := strings.IndexByte(function[slash+1:], '.')
	if dot < 0 {
		return "", function
	}
	dot += slash + 1
	name = closure.ReplaceAllString(function[dot+1:], "")
	if method := strings.LastIndex(name, ".(*"); method >= 0 { // a literal of a method that was inlined
		name = name[method+1:]
	}
	return strings.ReplaceAll(function[:dot], "%2e", "."), name
}
