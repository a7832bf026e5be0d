package process

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestCompileOnly: the trial build compiles with the flags of the build, and has no
// program to link. Other commands run as they are.
func TestCompileOnly(t *testing.T) {
	for args, want := range map[string]string{
		"build -mod=readonly -buildvcs=false -o OUT .": `list -export -f {{""}} -mod=readonly -buildvcs=false .`,
		"build -o OUT main.go":                         `list -export -f {{""}} main.go`,
		"build -tags=x ./cmd/app -o OUT":               `list -export -f {{""}} -tags=x ./cmd/app`,
	} {
		b, ok := CompileOnly(strings.Fields("/usr/bin/go "+args), "OUT")
		if got := strings.Join(b, " "); !ok || got != "/usr/bin/go "+want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	for _, c := range [][2]string{{"/usr/bin/go", "run -o OUT ."}, {"/usr/bin/go", "build ."}, {"/usr/bin/go", "build -o other ."}, {"/usr/bin/go", "build . -o"},
		{"/usr/bin/make", "build -o OUT"}, {"/usr/bin/go", ""}} {
		if b, ok := CompileOnly(strings.Fields(c[0]+" "+c[1]), "OUT"); ok {
			t.Errorf("%s is read as %q", c, b)
		}
	}
}

// TestHomeFor: a user who cannot write at home, or has none, gets another folder for the
// caches of builds, the same one each time.
func TestHomeFor(t *testing.T) {
	dir := t.TempDir()
	good, sealed, homes := filepath.Join(dir, "good"), filepath.Join(dir, "sealed"), filepath.Join(dir, "homes")
	for path, mode := range map[string]os.FileMode{good: 0o700, sealed: 0o555} {
		if err := os.Mkdir(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	me, group := os.Getuid(), os.Getgid()
	if got, err := homeFor(good, homes, me, group); err != nil || got != good {
		t.Errorf("a home: %s, %v", got, err)
	}
	var made string
	for _, home := range []string{sealed, filepath.Join(dir, "missing"), sealed} {
		got, err := homeFor(home, homes, me, group)
		info, failed := os.Stat(got)
		if err != nil || failed != nil || filepath.Dir(got) != homes || info.Mode().Perm() != 0o700 || made != "" && got != made {
			t.Errorf("%s: %s, %v, %v", home, got, err, failed)
		}
		made = got
	}
}

// TestHomeLeft: the folder that root made before it was killed becomes that of the user.
func TestHomeLeft(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root makes homes of others")
	}
	homes := t.TempDir()
	if err := os.Mkdir(filepath.Join(homes, "4321"), 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := homeFor("/nonexistent", homes, 4321, 4322)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(got)
	if err != nil {
		t.Fatal(err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != 4321 || st.Gid != 4322 {
		t.Errorf("%s is of %+v", got, info.Sys())
	}
}
