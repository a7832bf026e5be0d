package isucondition

import (
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/golang-jwt/jwt/v5"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

func TestFiles(t *testing.T) {
	a, ok := arena.Find("isucondition")
	if !ok {
		t.Fatal("the arena is not registered")
	}
	if err := fstest.TestFS(a.Files, "go/main.go", "go/go.mod", "go/go.sum", "sql/0_Schema.sql", "sql/init.sh", "public/index.html",
		"NoImage.jpg", "ec256-public.pem", a.Service("nginx").Configs[0].Template); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"_go", "_go/main.go", "go/go.mod.txt2", "sql/none", "/sql", "../keys"} {
		if _, err := a.Files.Open(name); err == nil {
			t.Errorf("%s opens", name)
		}
	}
	err := fs.WalkDir(a.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if script := filepath.Ext(name) == ".sh"; err == nil && script != (info.Mode()&0o111 != 0) {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestKeys(t *testing.T) {
	key, err := SigningKey("")
	if err != nil {
		t.Fatal(err)
	}
	public, err := jwt.ParseECPublicKeyFromPEM(webapp.MustRead("ec256-public.pem"))
	if err != nil || !key.PublicKey.Equal(public) {
		t.Fatalf("the app's key is not the other half of ours (%v)", err)
	}
	if other, err := SigningKey("keys/ec256-private.pem"); err != nil || !other.Equal(key) {
		t.Errorf("from its file the key is another one (%v)", err)
	}
	token, err := SignToken(key, map[string]any{"jia_user_id": "isucon"})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jwt.Parse(token, func(*jwt.Token) (any, error) { return public, nil }, jwt.WithValidMethods([]string{"ES256"}))
	if err != nil || parsed.Claims.(jwt.MapClaims)["jia_user_id"] != "isucon" {
		t.Errorf("the token is not understood: %v", err)
	}
	for _, path := range []string{"none", "files.go", "files/ec256-public.pem"} {
		if _, err := SigningKey(path); err == nil {
			t.Errorf("%s is taken for a key", path)
		}
	}
	if _, err := SignToken(key, map[string]any{"f": func() {}}); err == nil {
		t.Error("claims that are not JSON are signed")
	}
}
