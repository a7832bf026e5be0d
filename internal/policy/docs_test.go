package policy_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// checkedPages are the pages whose paths and quotations are compared with the
// repository.
var checkedPages = []string{"docs/contributing.md", "docs/ARCHITECTURE.md"}

// A quotation is a code block under a line
//
//	<!-- quote FILE.go NAME TYPE.METHOD … -->
//
// It is the text of these declarations, each with its comment.
var quotation = regexp.MustCompile("(?m)^<!-- quote (\\S+) (.+) -->\n```go\n((?:.*\n)*?)```$")

// A fence begins or ends a code block; its word is the language.
var fence = regexp.MustCompile("(?m)^```(\\w*)$")

var (
	codeSpan   = regexp.MustCompile("`([^`\n]+)`")
	linkTarget = regexp.MustCompile(`\]\(([^)\s#]+)[^)]*\)`)
	// placeholder is a part of a path that stands for any name.
	placeholder = regexp.MustCompile(`<[^>]+>`)
	fileName    = regexp.MustCompile(`^[\w./*<>-]+\.(go|sh|md|txt|allow)$|^[\w./*<>-]*[\w>]/$|^Makefile$`)
	makeTarget  = regexp.MustCompile(`^make ([a-z-]+)`)
	// goName is a name of Go, perhaps with its package: lineReaders, change.Kind, field.Field.Run.
	goName   = regexp.MustCompile(`^(?:([a-z]+)\.)?([A-Za-z]\w*)(?:\.\w+)?$`)
	anyWord  = regexp.MustCompile(`\w+`)
	testName = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w*`)
)

// repository lists the files of the repository, without those of build caches.
func repository(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (file == "bin" || file != "." && strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		files = append(files, filepath.ToSlash(file))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// prose is a page without its code blocks.
func prose(page string) string {
	var out strings.Builder
	for inside := false; ; inside = !inside {
		at := fence.FindStringIndex(page)
		if at == nil {
			break
		}
		if !inside {
			out.WriteString(page[:at[0]])
		}
		page = page[at[1]:]
	}
	return out.String() + page
}

// linkedFiles lists the targets of a page's links, from the root of the
// repository.
func linkedFiles(file, page string) (paths []string) {
	for _, m := range linkTarget.FindAllStringSubmatch(prose(page), -1) {
		if !strings.Contains(m[1], ":") {
			paths = append(paths, path.Join(path.Dir(file), m[1]))
		}
	}
	return paths
}

// namedFiles lists the paths that a page names: the targets of its links, from
// the root of the repository, and the code spans that are paths.
func namedFiles(file, page string) (paths []string) {
	paths = linkedFiles(file, page)
	for _, m := range codeSpan.FindAllStringSubmatch(prose(page), -1) {
		top, _, _ := strings.Cut(m[1], "/")
		_, err := os.Stat(top)
		if isFolder := err == nil && strings.Contains(m[1], "/") && !strings.Contains(m[1], " "); isFolder || fileName.MatchString(m[1]) {
			paths = append(paths, strings.TrimSuffix(m[1], "/"))
		}
	}
	return paths
}

// isIn reports whether a path is one of the files, or the end of one if it is a
// name alone. A placeholder matches any name.
func isIn(files []string, name string) bool {
	pattern := placeholder.ReplaceAllString(name, "*")
	return slices.ContainsFunc(files, func(f string) bool {
		for {
			if ok, err := path.Match(pattern, f); ok && err == nil {
				return true
			}
			_, rest, more := strings.Cut(f, "/")
			if f = rest; !more {
				return false
			}
		}
	})
}

// declarations maps the names of a Go file to their text with its comment.
func declarations(file string) (map[string]string, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	text := func(doc *ast.CommentGroup, n ast.Node) string {
		from := n.Pos()
		if doc != nil {
			from = doc.Pos()
		}
		return string(src[set.Position(from).Offset:set.Position(n.End()).Offset]) + "\n"
	}
	out := map[string]string{}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			out[nameOf(d)] = text(d.Doc, d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					out[s.Name.Name] = text(d.Doc, d)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						out[n.Name] = text(d.Doc, d)
					}
				}
			}
		}
	}
	return out, nil
}

// nameOf is the name of a function, or TYPE.METHOD.
func nameOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	return fmt.Sprintf("%v.%s", of, d.Name.Name)
}

// quoted is what the block under a quote line has to be.
func quoted(file, names string) (string, error) {
	all, err := declarations(file)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, name := range strings.Fields(names) {
		text, ok := all[name]
		if !ok {
			return "", fmt.Errorf("%s has no %s", file, name)
		}
		if !slices.Contains(parts, text) { // two names of one declaration
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n"), nil
}

// wrongQuotations lists the quotations of a page that differ from the source,
// and the Go blocks that are not quotations. fixed is the page as it should be.
func wrongQuotations(page string) (bad []string, fixed string) {
	quotes := 0
	fixed = quotation.ReplaceAllStringFunc(page, func(block string) string {
		m := quotation.FindStringSubmatch(block)
		quotes++
		want, err := quoted(m[1], m[2])
		switch {
		case err != nil:
			bad = append(bad, err.Error())
			return block
		case m[3] != want:
			bad = append(bad, fmt.Sprintf("the quotation of %s (%s) differs from the source", m[1], m[2]))
		}
		return fmt.Sprintf("<!-- quote %s %s -->\n```go\n%s```", m[1], m[2], want)
	})
	if n := strings.Count(page, "\n```go\n"); n != quotes {
		bad = append(bad, fmt.Sprintf("%d blocks of Go code, %d of them are quotations", n, quotes))
	}
	return bad, fixed
}

// wrongCommands lists the folders and targets in a page's sh blocks that do not
// exist.
func wrongCommands(page, makefile string, files []string) (bad []string) {
	for _, block := range regexp.MustCompile("(?m)^```sh\n((?:.*\n)*?)```$").FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(block[1]) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
			if m := makeTarget.FindStringSubmatch(line); m != nil && !strings.Contains(makefile, "\n"+m[1]+":") {
				bad = append(bad, fmt.Sprintf("the Makefile has no target %s", m[1]))
			}
			for word := range strings.FieldsSeq(line) {
				if dir, ok := strings.CutPrefix(word, "./"); ok && !isIn(files, strings.TrimSuffix(strings.TrimSuffix(dir, "..."), "/")) {
					bad = append(bad, fmt.Sprintf("there is no %s (%s)", word, line))
				}
			}
		}
	}
	return bad
}

// wrongTests lists the tests that a page names and no test file has.
func wrongTests(page string, files []string) (bad []string) {
	var tests []byte
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			text, _ := os.ReadFile(f) // an unreadable file has no tests
			tests = append(tests, text...)
		}
	}
	for _, name := range testName.FindAllString(page, -1) {
		if !bytes.Contains(tests, []byte("\nfunc "+name+"(")) {
			bad = append(bad, "there is no test "+name)
		}
	}
	return bad
}

// words maps each folder to the words of its Go files; the folder "" has those
// of all folders and of the Makefile.
func words(makefile string, files []string) map[string]map[string]bool {
	out := map[string]map[string]bool{"": {}}
	add := func(folder, text string) {
		if out[folder] == nil {
			out[folder] = map[string]bool{}
		}
		for _, w := range anyWord.FindAllString(text, -1) {
			out[folder][w], out[""][w] = true, true
		}
	}
	add("", makefile)
	for _, f := range files {
		if strings.HasSuffix(f, ".go") {
			text, _ := os.ReadFile(f) // an unreadable file has no words
			add(path.Base(path.Dir(f)), string(text))
		}
	}
	return out
}

// wrongNames lists the code spans that look like a name of Go and are not a
// word of the package's source or, without a package, of any source.
func wrongNames(page string, known map[string]map[string]bool) (bad []string) {
	for _, m := range codeSpan.FindAllStringSubmatch(prose(page), -1) {
		name := goName.FindStringSubmatch(m[1])
		if name == nil || fileName.MatchString(m[1]) {
			continue
		}
		if in := known[name[1]]; in != nil && !in[name[2]] {
			bad = append(bad, "no source has the name "+m[1])
		}
	}
	return bad
}

// wrongPage lists what a page names or quotes and the repository does not have.
func wrongPage(file, page, makefile string, files []string, known map[string]map[string]bool) []string {
	bad, _ := wrongQuotations(page)
	for _, p := range namedFiles(file, page) {
		if !isIn(files, p) {
			bad = append(bad, "there is no "+p)
		}
	}
	bad = append(bad, wrongCommands(page, makefile, files)...)
	bad = append(bad, wrongNames(page, known)...)
	return append(bad, wrongTests(page, files)...)
}

// TestDocs compares pages with the repository: the files and tests that they
// name exist, their Go blocks are quotations of it, and their commands have
// targets and folders. With UPDATE=1 in the environment it writes the
// quotations anew.
func TestDocs(t *testing.T) {
	files := repository(t)
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	known := words(string(makefile), files)
	for _, file := range checkedPages {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(namedFiles(file, string(page))) < 5 {
			t.Errorf("%s names fewer than 5 files: the test would prove nothing", file)
		}
		if _, fixed := wrongQuotations(string(page)); os.Getenv("UPDATE") != "" && fixed != string(page) {
			if err := os.WriteFile(file, []byte(fixed), 0o644); err != nil {
				t.Fatal(err)
			}
			page = []byte(fixed)
		}
		for _, b := range wrongPage(file, string(page), string(makefile), files, known) {
			t.Errorf("%s: %s", file, b)
		}
	}
}

// TestLinks checks that the links of every page lead to files.
func TestLinks(t *testing.T) {
	files := repository(t)
	links := 0
	for _, file := range files {
		if !strings.HasSuffix(file, ".md") {
			continue
		}
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range linkedFiles(file, string(page)) {
			if links++; !slices.Contains(files, to) {
				t.Errorf("%s: there is no %s", file, to)
			}
		}
	}
	if links < 50 {
		t.Errorf("%d links in all pages: the test would prove nothing", links)
	}
}

// package of this module in a comment, as in internal/proof/judge.
var commentPackage = regexp.MustCompile(`(?m)^\s*//.*?(?:^|[\s(])((?:internal|arenas|cmd)/[a-z0-9_/.]*[a-z0-9])`)

// TestCommentPaths checks that the packages that comments name exist.
func TestCommentPaths(t *testing.T) {
	files := repository(t)
	named := 0
	for _, file := range files {
		if !strings.HasSuffix(file, ".go") || file == "internal/policy/docs_test.go" {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range commentPackage.FindAllStringSubmatch(string(source), -1) {
			if named++; !isIn(files, m[1]) {
				t.Errorf("%s: a comment names %s, which does not exist", file, m[1])
			}
		}
	}
	if named < 5 {
		t.Errorf("comments name %d packages: the test would prove nothing", named)
	}
}

// TestDocsCatches proves that the comparison can fail.
func TestDocsCatches(t *testing.T) {
	files := []string{"internal", "internal/proof/judge", "internal/proof/judge/judge.go", "docs/method.md", "internal/policy/layout_test.go"}
	known := map[string]map[string]bool{"": {"make": true, "lineReaders": true}, "change": {"Kind": true}}
	const quote = "<!-- quote internal/policy/layout_test.go packageName -->\n```go\n"
	all, err := declarations("internal/policy/layout_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ page, want string }{
		{"`internal/proof/judge/judge.go`, `judge.go`, `internal/proof/<name>/`, [m](method.md), `make`, `a/b`, [w](https://x.org/y.md)", ""},
		{"`internal/loop`", "there is no internal/loop"},
		{"`tune_field.go`", "there is no tune_field.go"},
		{"`internal/<name>/none.go`", "there is no internal/<name>/none.go"},
		{"[m](nomethod.md#x)", "there is no docs/nomethod.md"},
		{quote + all["packageName"] + "```\n", ""},
		{quote + all["rule"] + "```\n", "the quotation of internal/policy/layout_test.go (packageName) differs from the source"},
		{"<!-- quote internal/policy/layout_test.go nothing -->\n```go\nx\n```\n", "internal/policy/layout_test.go has no nothing"},
		{"text\n```go\nx := 1\n```\n", "1 blocks of Go code, 0 of them are quotations"},
		{"```sh\nmake lint  # words\ngo test ./internal/proof/judge/... -run x\n```\n", ""},
		{"```sh\nmake tea\n```\n", "the Makefile has no target tea"},
		{"```sh\ngo test ./internal/loop\n```\n", "there is no ./internal/loop (go test ./internal/loop)"},
		{"`lineReaders`, `change.Kind`, `change.Kind.Plan`, `fs.ErrNotExist`, `run.json`, `--json`", ""},
		{"`lineWriters`", "no source has the name lineWriters"},
		{"`change.Sort`", "no source has the name change.Sort"},
		{"TestLayout and FuzzNothingAtAll", "there is no test FuzzNothingAtAll"},
	} {
		bad := wrongPage("docs/x.md", c.page, "x:\n\nlint: y\n", files, known)
		if got := strings.Join(bad, "; "); got != c.want {
			t.Errorf("%q: got %q, want %q", c.page, got, c.want)
		}
	}
}
