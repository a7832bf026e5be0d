package facts

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// TestAnswersOnDisk requests answers of a server with its own working directory.
// An answer that is a file is found there, also if it is compressed. A generated
// answer with the name of a file is not.
func TestAnswersOnDisk(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	text := bytes.Repeat([]byte("a { b: c }\n"), 500)
	for name, body := range map[string][]byte{"public/css/a.css": text, "public/with space.css": text, "public/7.png": []byte("another one"), "secret.txt": []byte("secret")} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files := http.FileServer(http.Dir("public"))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/7.png":
			_, _ = w.Write([]byte("made up now"))
		case "/gzip/css/a.css":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(text)
			_ = z.Close()
		case "/missing.css":
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write(text)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	defer s.Close()
	if err := os.Symlink("css", "public/gzip"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("public/css/css", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("public/css/css/a.css", text, 0o644); err != nil {
		t.Fatal(err)
	}
	conf, err := nginx.Dump{{Path: "nginx.conf", Text: "http { root /srv/www/; }"}}.Config()
	if err != nil {
		t.Fatal(err)
	}
	folders := FileFolders([]AppProcess{{host.Local{}, os.Getpid()}, {host.Local{}, 1 << 30}}, conf)
	if !slices.Contains(folders, "/srv/www") || !slices.Contains(folders, filepath.Join(dir, "public")) || !slices.Contains(folders, dir) {
		t.Errorf("folders %q", folders)
	}
	want := map[string]string{"/css/a.css?v=1": "public/css/a.css", "/with%20space.css": "public/with space.css", "/7.png": "", "/gzip/css/a.css": "public/gzip/css/a.css",
		"/missing.css": "", "/css/": "", "/../secret.txt": ""}
	urls := map[string]string{}
	for url := range want {
		urls["GET "+url] = url
	}
	fs, err := AnswerFacts(t.Context(), host.Local{}, "nginx", s.URL, urls, folders, Clients{})
	if err != nil || len(fs) != len(want) {
		t.Fatalf("%d facts, %v", len(fs), err)
	}
	for url, file := range want {
		var a fact.Answer
		value(t, fs, string(fact.TopicAnswer), "GET "+url, &a)
		if file != "" {
			file = filepath.Join(dir, file)
		}
		if a.File != file || a.Host == "" {
			t.Errorf("%s: file %q, want %q; host %q", url, a.File, file, a.Host)
		}
	}
}
