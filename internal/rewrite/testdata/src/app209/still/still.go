package still

import (
	"crypto/sha512"
	"encoding/hex"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

type runner struct{}

func (runner) Command(name string, args ...string) *exec.Cmd { return nil }

// A start that no request reaches.
func Start() error { return exec.Command("./init.sh").Run() }

func Worker(jobs chan string) {
	for j := range jobs {
		exec.Command("convert", j).Run()
	}
}

func Digest(w http.ResponseWriter, r *http.Request) {
	sum := sha512.Sum512([]byte(r.URL.Path))
	w.Write([]byte(hex.EncodeToString(sum[:])))
}

func Copy(w http.ResponseWriter, r *http.Request) {
	f, err := os.Open("a.png")
	if err != nil {
		return
	}
	defer f.Close()
	io.Copy(w, f)
}

func Look(w http.ResponseWriter, r *http.Request) {
	path, _ := exec.LookPath("zip")
	w.Write([]byte(path))
}

func Other(w http.ResponseWriter, r *http.Request) {
	runner{}.Command("cp", "a", "b")
}

func Given(w http.ResponseWriter, cmd *exec.Cmd) { cmd.Run() }

func Literal(w http.ResponseWriter, r *http.Request) {
	cmd := &exec.Cmd{Path: "/bin/true"}
	cmd.Run()
}

func Middleware(next http.Handler) http.Handler {
	out, _ := exec.Command("git", "rev-parse", "HEAD").Output()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Version", string(out))
		next.ServeHTTP(w, r)
	})
}

func RemoveAll(w http.ResponseWriter, r *http.Request) { os.RemoveAll("in/" + r.PathValue("id")) }

// A folder that is made before any request.
func Prepare() error { return exec.Command("mkdir", "-p", "in").Run() }

// An archive that a worker packs.
func Pack(ids chan string) {
	for id := range ids {
		exec.Command("zip", "-j", "-r", id+".zip", id).Run()
	}
}

// pack does itself what it can. Whatever is not plain files is left to the program.
func pack(to, folder string) error {
	return exec.Command("zip", "-j", "-r", to, folder).Run()
}

func Packed(w http.ResponseWriter, r *http.Request) {
	if err := pack("a.zip", "in"); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func Link(w http.ResponseWriter, r *http.Request) { os.Link("a", "b") }

var version = func() string {
	out, _ := exec.Command("git", "describe").Output()
	return string(out)
}()

func Version(w http.ResponseWriter, r *http.Request) { w.Write([]byte(version)) }

func quote(s string) string { return "'" + strings.Replace(s, "'", `'\''`, -1) + "'" }

// Cleared loses the text behind the command.
func Cleared(w http.ResponseWriter, r *http.Request) {
	pw := r.FormValue("password")
	cmd := exec.Command("sh", "-c", "printf %s "+quote(pw)+" | sha256sum") // want `sh is started`
	pw = ""
	out, err := cmd.Output()
	if err == nil && pw == "" {
		w.Write(out)
	}
}

func clear(s *string) bool { *s = ""; return true }

// ClearedBefore loses the text in the statement that runs the command.
func ClearedBefore(w http.ResponseWriter, r *http.Request) {
	pw := r.FormValue("password")
	cmd := exec.Command("sh", "-c", "printf %s "+quote(pw)+" | sha256sum") // want `sh is started`
	if clear(&pw) {
		out, _ := cmd.Output()
		w.Write(out)
	}
}

// ClearedByArgument loses it in an argument before.
func ClearedByArgument(w http.ResponseWriter, r *http.Request) {
	pw := r.FormValue("password")
	cmd := exec.Command("sh", "-c", "printf %s "+quote(pw)+" | sha256sum") // want `sh is started`
	sent := []any{clear(&pw), one(cmd.Output())}
	w.Write(sent[1].([]byte))
}

func one(out []byte, err error) []byte { return out }

// Later runs the command in a function that is called later.
func Later(w http.ResponseWriter, r *http.Request) {
	pw := r.FormValue("password")
	cmd := exec.Command("sh", "-c", "printf %s "+quote(pw)+" | sha256sum") // want `sh is started`
	run := func() []byte { return one(cmd.Output()) }
	pw = ""
	w.Write(append(run(), pw...))
}

// Configured: the command has a folder of its own.
func Configured(w http.ResponseWriter, r *http.Request) {
	cmd := exec.Command("cp", "a", "b") // want `cp is started`
	cmd.Dir = "in"
	cmd.Run()
}
