package livesite

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/mirror"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestEmbeds: what is left out counts if the go command embeds it.
func TestEmbeds(t *testing.T) {
	dir, link, file := mirror.LeftOut{Dir: true}, mirror.LeftOut{Link: true}, mirror.LeftOut{}
	for _, c := range []struct {
		pattern, name string
		l             mirror.LeftOut
		want          bool
	}{
		{"static", "static/big.bin", file, true},
		{"static", "other/big.bin", file, false},
		{"static/*.png", "static/big.bin", file, false},
		{"big.bin", "big.bin", file, true},
		{"dist", "dist/.vite", dir, false},
		{"all:dist", "dist/.vite", dir, true},
		{"dist/.vite/manifest.json", "dist/.vite", dir, true},
		{"dist/*", "dist/.env", file, true},
		{"all:.", ".gitignore", file, true},
		{"templates", ".gitignore", file, false},
		{"static", "static/node_modules", dir, true},
		{"all:static", "static/link", link, false},
		{"static", "static", link, true},
		{"static/x", "static", file, false},
	} {
		if got := embeds(c.pattern, c.name, c.l); got != c.want {
			t.Errorf("%s takes %s: %v", c.pattern, c.name, got)
		}
	}
}

// lackingApp writes a source with a hidden file and returns its folder.
func lackingApp(t *testing.T, embed string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "app")
	for name, text := range map[string]string{
		"go.mod":            "module app\n\ngo 1.21\n",
		"web/web.go":        "package web\n\nimport \"embed\"\n\n//go:embed " + embed + "\nvar Files embed.FS\n",
		"web/dist/page.txt": "page",
		"web/dist/.env":     "hidden",
		".gitignore":        "app\n",
		"main.go": `package main

import "app/web"

func main() {
	b, err := web.Files.ReadFile("dist/.env")
	println(string(b), err == nil)
}
`,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// mirrored is a subject with an app of a machine whose source is a folder of this one.
func mirrored(t *testing.T, source string) (*Subject, *running) {
	t.Helper()
	s, r := overridden(t, t.TempDir(), process.Spec{})
	s.options.Progress, s.builds = func(line string) { t.Log(line) }, newBuilds(s.options.Dir)
	r.Host, r.App.Source, r.Program = "far", source, filepath.Join(t.TempDir(), "program")
	return s, r
}

// TestLacks: a program that embeds what the mirror leaves out is not built in the mirror, and one
// whose packages cannot be read there is not either.
func TestLacks(t *testing.T) {
	for name, c := range map[string]struct {
		embed string
		edit  func(dir string) error
		want  string
	}{
		"hidden below": {embed: "dist"},
		"all":          {embed: "all:dist", want: "web/dist/.env is embedded in it"},
		"only hidden":  {embed: "dist/.env", want: "has no links"},
		"linked code":  {embed: "dist", edit: func(dir string) error { return os.Symlink("main.go", filepath.Join(dir, "more.go")) }, want: "more.go is a link"},
		"linked package": {embed: "dist", edit: func(dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "web"), filepath.Join(dir, "pages")), os.Symlink("pages", filepath.Join(dir, "web")))
		}, want: "has no links"},
	} {
		source := lackingApp(t, c.embed)
		if c.edit != nil {
			if err := c.edit(source); err != nil {
				t.Fatal(err)
			}
		}
		s, r := mirrored(t, source)
		dir, left, err := s.mirror(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		why, err := s.whyThere(t.Context(), r, dir, runtime.GOARCH, left)
		if err != nil || (why == "") != (c.want == "") || !strings.Contains(why, c.want) {
			t.Errorf("%s: %q, %v", name, why, err)
		}
	}
}

// TestWholeProgram: the program that is built for another machine has all files of its source.
func TestWholeProgram(t *testing.T) {
	tier.Slow(t)
	c := exec.Command("sh", "-c", "command -v go")
	c.Env = []string{"PATH=" + process.FarSearch}
	if os.Getuid() != 0 || c.Run() != nil {
		t.Skip("builds on other machines are those of root, with the go command in its search path")
	}
	s, r := mirrored(t, lackingApp(t, "all:dist"))
	r.host = host.Local{}
	if err := s.makeFar(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(r.Program).CombinedOutput(); err != nil || string(out) != "hidden true\n" {
		t.Errorf("the program says %q, %v", out, err)
	}
}
