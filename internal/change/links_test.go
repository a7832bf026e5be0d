package change

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestLinkSwappedIn: the account of a service can write to its folders. A link that
// it puts there between plan and apply, or between apply and revert, redirects
// nothing: not to another folder, and not to another file of the site with the
// same content. Without the link the change goes on.
func TestLinkSwappedIn(t *testing.T) {
	Register(overwriting{[]byte("planned")})
	defer delete(registry, "overwriting")
	attacks := map[string]struct{ moved, target string }{
		"file to outside":          {"conf/a", "outside/a"},
		"folder to outside":        {"conf", "outside"},
		"file to another of ours":  {"conf/a", "site/conf/b"},
		"folder to another of our": {"conf", "site/other"},
	}
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			base := t.TempDir()
			r.site.Roots = []string{filepath.Join(base, "site")}
			place := filepath.Join(base, "site/conf/a")
			put := func(text string) {
				for _, p := range []string{"site/conf/a", "site/conf/b", "site/other/a", "outside/a"} {
					path := filepath.Join(base, p)
					if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
						t.Fatal(err)
					}
				}
			}
			put("same")
			moved, away := filepath.Join(base, "site", attack.moved), filepath.Join(base, "away")
			swap := func() {
				if err := errors.Join(os.Rename(moved, away), os.Symlink(filepath.Join(base, attack.target), moved)); err != nil {
					t.Fatal(err)
				}
			}
			calm := func() {
				if err := errors.Join(os.Remove(moved), os.Rename(away, moved)); err != nil {
					t.Fatal(err)
				}
			}
			others := func(want string) {
				t.Helper()
				for _, p := range []string{"site/conf/b", "site/other/a", "outside/a"} {
					if b, err := os.ReadFile(filepath.Join(base, p)); err == nil && string(b) != want {
						t.Errorf("%s is %q", p, b)
					}
				}
			}
			c, err := Plan(t.Context(), r.site, iikanji.Remedy{Kind: "overwriting", Args: map[string]string{"path": place}})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.h.AddChange(c, Diff(c)); err != nil {
				t.Fatal(err)
			}
			swap()
			if err := r.Apply(t.Context(), c.ID); !errors.Is(err, host.ErrLink) {
				t.Errorf("applied through a link: %v", err)
			}
			others("same")
			if err := r.site.Perform(t.Context(), c.Do[0]); !errors.Is(err, host.ErrLink) { // the link comes after the check
				t.Errorf("performed through a link: %v", err)
			}
			others("same")
			calm()
			if err := r.Apply(t.Context(), c.ID); err != nil {
				t.Fatal(err)
			}
			for _, p := range []string{"site/conf/b", "site/other/a", "outside/a"} {
				if err := os.WriteFile(filepath.Join(base, p), []byte("planned"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			swap()
			if err := r.Revert(t.Context(), c.ID, "test"); !errors.Is(err, host.ErrLink) {
				t.Errorf("reverted through a link: %v", err)
			}
			others("planned")
			calm()
			if err := r.Revert(t.Context(), c.ID, "test"); err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(place); err != nil || string(b) != "same" {
				t.Errorf("in the end it is %q, %v", b, err)
			}
		})
	}
}

// TestPlanThroughLink: a link that is there when a change is planned is followed, as
// that of nginx's sites-enabled; the change names the file at its end.
func TestPlanThroughLink(t *testing.T) {
	Register(overwriting{[]byte("y")})
	defer delete(registry, "overwriting")
	r := newRig(t)
	r.write(t, "real", "x")
	if err := os.Symlink("real", r.path("link")); err != nil {
		t.Fatal(err)
	}
	c, err := Plan(t.Context(), r.site, iikanji.Remedy{Kind: "overwriting", Args: map[string]string{"path": r.path("link")}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Do[0].Place != r.path("real") || c.Undo[0].Place != r.path("real") {
		t.Fatalf("the places are %s and %s", c.Do[0].Place, c.Undo[0].Place)
	}
	if err := errors.Join(r.h.AddChange(c, ""), r.Apply(t.Context(), c.ID)); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(r.path("link")); err != nil || to != "real" {
		t.Errorf("the link is %q, %v", to, err)
	}
	if b, err := os.ReadFile(r.path("real")); err != nil || string(b) != "y" {
		t.Errorf("the file is %q, %v", b, err)
	}
}

// TestCompileReadsNoLink: a file of the source that becomes a link to one that only
// this process may read is not copied where the account of the app can read it.
func TestCompileReadsNoLink(t *testing.T) {
	dir, src := source(t)
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(src, "main.go")
	info, err := os.Lstat(file) // as the walk saw it
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(file), os.Symlink(secret, file)); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if err := copyEntry(host.Local{}, src, "/main.go", to, info); !errors.Is(err, host.ErrLink) {
		t.Errorf("copied: %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(to, "main.go")); err == nil {
		t.Errorf("the copy is %q", b)
	}
}
