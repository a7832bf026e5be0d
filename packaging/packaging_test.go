package main

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestRelease makes the release for this machine twice, as make dist does for all
// architectures, and uses what is in it.
func TestRelease(t *testing.T) {
	tier.Slow(t)
	t.Chdir("..")
	archs := []string{runtime.GOARCH}
	if tier.Soaking() {
		archs = architectures
	}
	if _, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output(); err != nil {
		t.Skip("no repository is here: a release is made of a commit")
	}
	into := filepath.Join(t.TempDir(), "dist")
	if err := release(t.Context(), into, archs, false); err != nil {
		t.Fatal(err)
	}
	check := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", sumsName)
	check.Dir = into
	if out, err := check.CombinedOutput(); err != nil || strings.Count(string(out), ": OK") != 3*len(archs) {
		t.Fatalf("sha256sum: %v\n%s", err, out)
	}
	root := filepath.Join(t.TempDir(), "root")
	debs, err := filepath.Glob(filepath.Join(into, "*_"+runtime.GOARCH+".deb"))
	if err != nil || len(debs) != 1 {
		t.Fatalf("packages: %q, %v", debs, err)
	}
	if err := install(t.Context(), debs[0], root); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(root, "usr/bin/iikanji")
	if out, err := exec.CommandContext(t.Context(), "readelf", "--program-headers", program).CombinedOutput(); err != nil || strings.Contains(string(out), "INTERP") {
		t.Errorf("the program needs a loader: %v\n%s", err, out)
	}
	path := "PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH")
	for shell, script := range map[string]string{
		"bash": `source usr/share/bash-completion/completions/iikanji; COMP_WORDS=(iikanji rep); COMP_CWORD=1; _iikanji; echo "${COMPREPLY[@]}"`,
		"fish": `source usr/share/fish/vendor_completions.d/iikanji.fish; complete -C 'iikanji rep'`,
		"zsh":  `grep -c "report" usr/share/zsh/vendor-completions/_iikanji; zsh -n usr/share/zsh/vendor-completions/_iikanji && echo report`,
	} {
		c := exec.CommandContext(t.Context(), shell, "-c", script)
		c.Dir, c.Env = root, append(os.Environ(), path)
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "report") {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "usr/share/doc/iikanji/copyright"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"iikanji, LICENSE", "Go " + runtime.Version(), "github.com/alecthomas/kong", "modernc.org/sqlite"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the licences lack %s", want)
		}
	}
}

// TestSameFiles: one changed byte is found.
func TestSameFiles(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for _, dir := range []string{a, b} {
		if err := put(dir, "x", []byte("one"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := sameFiles(a, b); err != nil {
		t.Fatal(err)
	}
	if err := put(b, "x", []byte("two"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := sameFiles(a, b); err == nil || !strings.Contains(err.Error(), "differ") {
		t.Errorf("two contents: %v", err)
	}
}

// TestDebianVersion: Debian's order of versions is that of the commits.
func TestDebianVersion(t *testing.T) {
	order := []string{"v0.1.0", "v0.1.1-0.20261128010203-0123456789ab", "v0.1.1-0.20261129010203-0023456789ab", "v0.1.1-rc.1", "v0.1.1", "v0.2.0-rc.2", "v0.2.0", "v0.10.0"}
	want := []string{"0.1.0", "0.1.1~20261128010203.0123456789ab", "0.1.1~20261129010203.0023456789ab", "0.1.1~rc.1", "0.1.1", "0.2.0~rc.2", "0.2.0", "0.10.0"}
	for i, v := range order {
		got := debianVersion(v)
		if got != want[i] {
			t.Errorf("%s: %s, want %s", v, got, want[i])
		}
		if i == 0 {
			continue
		}
		if out, err := exec.CommandContext(t.Context(), "dpkg", "--compare-versions", want[i-1], "lt", got).CombinedOutput(); err != nil {
			t.Errorf("dpkg: %s is not before %s: %v %s", want[i-1], got, err, out)
		}
	}
}

// TestBillOfMaterials: every module has its place and its hash, the same program gives the
// same list, and a sum that cannot be read is an error.
func TestBillOfMaterials(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "example.com/p", Version: "v1.0.0+dirty"},
		Deps:     []*debug.Module{{Path: "example.com/m/v2", Version: "v2.0.1", Sum: "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}}}
	at := time.Date(2026, 11, 28, 1, 2, 3, 0, time.UTC)
	text, err := billOfMaterials(info, "amd64", []byte("program"), at)
	if err != nil {
		t.Fatal(err)
	}
	var got bom
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Metadata.Timestamp != "2026-11-28T01:02:03Z" || got.Metadata.Component.PURL != "pkg:golang/example.com/p@v1.0.0%2Bdirty?goarch=amd64&goos=linux" {
		t.Errorf("the program: %+v", got.Metadata)
	}
	if len(got.Components) != 2 || got.Components[0].PURL != "pkg:golang/std@1.26.8" || got.Components[1].PURL != "pkg:golang/example.com/m/v2@v2.0.1" ||
		got.Components[1].Hashes[0].Content != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("the modules: %+v", got.Components)
	}
	if again, err := billOfMaterials(info, "amd64", []byte("program"), at); err != nil || string(again) != string(text) {
		t.Errorf("the second list differs: %v", err)
	}
	if s := serial(sha256.Sum256(nil)); s != "urn:uuid:e3b0c442-98fc-8c14-9afb-f4c8996fb924" {
		t.Errorf("serial number %s", s)
	}
	info.Deps[0].Sum = ""
	if _, err := billOfMaterials(info, "amd64", nil, at); err == nil {
		t.Error("a module without a sum has passed")
	}
}
