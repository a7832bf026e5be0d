package rewrite

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// filesSource is a program that runs the handler Do for its arguments, and prints for each
// whether it failed.
const filesSource = `package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
)

func Do(w http.ResponseWriter, r *http.Request) {
	to, from := r.FormValue("to"), r.FormValue("from")
	var err error
	switch r.FormValue("do") {
	case "remove":
		err = exec.Command("rm", "-rf", from, to).Run()
	case "make":
		err = exec.Command("mkdir", to).Run()
	case "make all":
		err = exec.Command("mkdir", "-p", to).Run()
	case "copy":
		err = exec.Command("cp", from, to).Run()
	case "copy too":
		cmd := exec.Command("cp", from, to)
		if err = cmd.Run(); err != nil {
			fmt.Fprintln(w, "not copied")
		}
	case "pack":
		err = exec.Command("zip", "-j", "-r", to, from).Run()
	}
	fmt.Fprintln(w, r.FormValue("do"), to, from, err != nil)
}

func main() {
	for _, a := range os.Args[1:] {
		part := strings.Split(a, ":")
		r := httptest.NewRequest("POST", "/", nil)
		r.Form = map[string][]string{"do": {part[0]}, "to": {part[1]}, "from": {part[2]}}
		w := httptest.NewRecorder()
		Do(w, r)
		fmt.Print(w.Body.String())
	}
}
`

// filesCases are what the program does, in this order.
var filesCases = []string{
	"pack:new.zip:in", "pack:folder/also.zip:in/", "pack:of-a-file.zip:in/note.txt",
	"pack:there.zip:in",        // it is added to
	"pack:noending:in",         // it gets one
	"pack:empty.zip:empty",     // an error
	"pack:missing.zip:missing", // an error
	"pack:twice.zip:same",      // two files of one name
	"pack:linked.zip:links",    // links are followed
	"pack:in/inside.zip:in",    // of its own folder
	"pack:missing/out.zip:in",  // no folder for it
	"make:made:", "make:made:", "make:made/a/b:", "make all:made/a/b:", "make all:made/a/b:", "make:in/note.txt:",
	"copy:copy.txt:in/note.txt", "copy:folder:in/note.txt", "copy:copy.txt:in/noise.bin", "copy:x.txt:missing", "copy:missing/x.txt:in/note.txt",
	"copy:in/note.txt:in/note.txt", "copy:in:./in/note.txt", "copy:y.txt:in", "copy:linked.txt:links/note", "copy too:too.txt:in/note.txt", "copy too:too.txt:missing",
	"remove:in/deep/.:in/deep/..",
	"remove:same:missing", "remove:in/note.txt:in/deep/", "remove::", "remove:links:empty",
}

// TestProgramsOfFiles: an app that handles files in its process leaves the same files, and fails
// in the same cases, as with the programs. Entries of archives are compared by their content.
func TestProgramsOfFiles(t *testing.T) {
	tier.Slow(t)
	for _, name := range []string{"zip", "cp", "rm", "mkdir"} {
		if _, err := exec.LookPath(name); err != nil {
			tier.Needs(t, name, err.Error())
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module files\n\ngo 1.21\n", "main.go": filesSource} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	original := filepath.Join(t.TempDir(), "original")
	run(ctx, t, dir, "go", "build", "-ldflags=-s -w", "-o", original, ".")
	res, err := Run(ctx, dir, []string{"."}, Facts{}, []*Lever{&programPerRequest})
	if err != nil || len(res.Hits) != 6 {
		t.Fatalf("%d hits, %v", len(res.Hits), err)
	}
	var fixes []goapp.Fix
	for _, h := range res.Hits {
		if len(h.Variants) != 1 {
			t.Fatalf("no fix: %+v, %+v", h, h.Reason)
		}
		fixes = append(fixes, h.Variants[0])
	}
	after, err := goapp.Apply(res.Files, fixes)
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range after {
		if err := os.WriteFile(file, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run(ctx, t, dir, "go", "vet", ".")
	if again, err := Run(ctx, dir, []string{"."}, Facts{}, []*Lever{&programPerRequest}); err != nil || len(again.Hits) > 0 {
		t.Errorf("what it wrote itself is reported again: %+v, %v", again.Hits, err)
	}
	rewritten := filepath.Join(t.TempDir(), "rewritten")
	run(ctx, t, dir, "go", "build", "-ldflags=-s -w", "-o", rewritten, ".")
	want, got := doneBy(ctx, t, original), doneBy(ctx, t, rewritten)
	if want != got {
		t.Errorf("the programs:\n%s\nin the process:\n%s", want, got)
	}
	if n := strings.Count(want, " true\n"); n < 9 || n > len(filesCases)-12 { // the cases are of both sorts
		t.Errorf("%d cases fail:\n%s", n, want)
	}
}

// doneBy is what a program prints, and the files that it leaves, with their contents.
func doneBy(ctx context.Context, t *testing.T, program string) string {
	t.Helper()
	dir := t.TempDir()
	noise := make([]byte, 70_000)
	source := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(source.Uint32())
	}
	for name, text := range map[string]string{
		"in/note.txt": strings.Repeat("a note. ", 4000), "in/noise.bin": string(noise), "in/.hidden": "x", "in/empty": "", "in/deep/er/課題.pdf": "%PDF" + string(noise[:5000]),
		"folder/old.txt": "old", "empty/.keep/keep": "", "same/a/x": "1", "same/b/x": "2", "links/plain": "p",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(ctx, t, dir, "rm", "-r", "empty/.keep")
	run(ctx, t, dir, "zip", "-q", "there.zip", "folder/old.txt")
	run(ctx, t, dir, "ln", "-s", "../in/note.txt", "links/note")
	cmd := exec.CommandContext(ctx, program, filesCases...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out) + filesBelow(t, dir)
}

// filesBelow lists the files below a folder with their modes and contents, those of archives by
// their entries.
func filesBelow(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s %s", info.Mode(), path)
		if d.Type().IsRegular() && filepath.Ext(path) != ".zip" {
			b, err := os.ReadFile(filepath.Join(dir, path))
			if err != nil {
				return err
			}
			fmt.Fprintf(&out, " %.40q %d", b, len(b))
		}
		out.WriteByte('\n')
		if filepath.Ext(path) == ".zip" {
			for _, e := range entriesOf(t, filepath.Join(dir, path)) {
				out.WriteString("    " + e + "\n")
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// entriesOf lists the entries of an archive, sorted.
func entriesOf(t *testing.T, file string) (out []string) {
	t.Helper()
	r, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if in.Close(); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %s %08x %d", f.Mode(), f.Name, f.CRC32, len(b)))
	}
	slices.Sort(out)
	return out
}
