package fire

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
)

func quote(s string) string { return "'" + strings.Replace(s, "'", `'\''`, -1) + "'" }

func digest(s string) string {
	out, err := exec.Command("/bin/bash", "-c", `printf "%s" `+quote(s)+` | openssl dgst -sha512 | sed 's/^.*= //'`).Output() // want `bash is started for each request`
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(out), "\n")
}

func Login(w http.ResponseWriter, r *http.Request) {
	w.Write([]byte(digest(r.FormValue("password"))))
}

func Short(w http.ResponseWriter, r *http.Request) {
	out, _ := exec.Command("sh", "-c", "echo -n "+quote(r.URL.Path)+" | openssl sha256 | sed 's/^.*= //'").Output() // want `sh is started`
	w.Write(out)
}

func Md5(w http.ResponseWriter, r *http.Request) {
	out, _ := exec.CommandContext(r.Context(), "bash", "-c", "printf '%s' "+quote(r.URL.Path)+" | openssl dgst -md5 | sed 's/^.*= //'").Output() // want `bash is started`
	w.Write(out)
}

func Copy(w http.ResponseWriter, r *http.Request) {
	if err := exec.Command("cp", "template.png", "img/"+r.PathValue("id")+".png").Run(); err != nil { // want `cp is started`
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func CopyAgain(w http.ResponseWriter, r *http.Request) {
	from, to := "a.png", "b.png"
	err := exec.Command("/bin/cp", from, to).Run() // want `cp is started`
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func CopyByVariable(w http.ResponseWriter, r *http.Request) {
	cmd := exec.Command("cp", r.PathValue("from"), "kept") // want `cp is started`
	if cmd.Run() != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func CopyFolder(ctx context.Context, w http.ResponseWriter) {
	exec.CommandContext(ctx, "cp", "a.png", "folder").Run() // want `cp is started`
}

func Recursive(w http.ResponseWriter, r *http.Request) {
	exec.Command("cp", "-r", "a", "b").Run() // want `cp is started`
}

func Zip(w http.ResponseWriter, r *http.Request) {
	exec.Command("zip", "-j", "out.zip", "a", "b").Run() // want `zip is started`
}

func ZipFolder(w http.ResponseWriter, r *http.Request) {
	if err := exec.Command("zip", "-j", "-r", "out/"+r.PathValue("id")+".zip", "in").Run(); err != nil { // want `zip is started`
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func ZipQuietly(w http.ResponseWriter, r *http.Request) {
	exec.CommandContext(r.Context(), "/usr/bin/zip", "-qrj", "out.zip", r.PathValue("id")).Run() // want `zip is started`
}

func Remove(w http.ResponseWriter, r *http.Request) {
	folder := "in/" + r.PathValue("id")
	exec.Command("rm", "-rf", folder, folder+".zip").Run() // want `rm is started`
}

func Folder(w http.ResponseWriter, r *http.Request) {
	exec.Command("mkdir", "in/"+r.PathValue("id")).Run()         // want `mkdir is started`
	exec.Command("mkdir", "-p", "in/"+r.PathValue("to/b")).Run() // want `mkdir is started`
}

func ZipWithPaths(w http.ResponseWriter, r *http.Request) {
	exec.Command("zip", "-r", "out.zip", "in").Run()                      // want `zip is started`
	exec.Command("zip", "-j", "-r", "out.zip", "in", "also").Run()        // want `zip is started`
	exec.Command("zip", "-j", "-r", "-9", "out.zip", "in").Run()          // want `zip is started`
	exec.Command("zip", "-j", "-r", "out.zip", "in", "-x", "*.txt").Run() // want `zip is started`
	out, _ := exec.Command("zip", "-j", "-r", "-", "in").Output()         // want `zip is started`
	w.Write(out)
}

func RemoveOrFail(w http.ResponseWriter, r *http.Request) {
	exec.Command("rm", "-f", "in.txt").Run()       // want `rm is started`
	exec.Command("rm", "-r", "in").Run()           // want `rm is started`
	exec.Command("rm", "-rfv", "in").Run()         // want `rm is started`
	exec.Command("rm", "-rf", "--", "-in").Run()   // want `rm is started`
	exec.Command("mkdir", "-m", "700", "in").Run() // want `mkdir is started`
	exec.Command("mkdir", "a", "b").Run()          // want `mkdir is started`
	all := []string{"-rf", "in"}
	exec.Command("rm", all...).Run() // want `rm is started`
}

func Script(w http.ResponseWriter, r *http.Request) {
	cmd := exec.Command("./init.sh") // want `init.sh is started`
	cmd.Run()
}

func Formatted(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("sh", "-c", fmt.Sprintf("printf '%%s' %s | sha256sum | awk '{print $1}'", quote(r.URL.Path))).CombinedOutput() // want `sh is started`
	if err != nil {
		return
	}
	w.Write(out)
}

func Trimmed(w http.ResponseWriter, r *http.Request) {
	cmd := exec.Command("bash", "-c", "printf %s "+quote(r.URL.Path)+" | openssl dgst -sha1 | awk '{print $NF}' | tr -d '\\n'") // want `bash is started`
	out, err := cmd.Output()
	if err != nil {
		return
	}
	w.Write(out)
}

func FromInput(w http.ResponseWriter, r *http.Request) {
	text := r.FormValue("password")
	cmd := exec.CommandContext(r.Context(), "/usr/bin/sha512sum") // want `sha512sum is started`
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		return
	}
	w.Write([]byte(strings.Fields(string(out))[0]))
}

func FromBytes(w http.ResponseWriter, r *http.Request) {
	cmd := exec.Command("openssl", "dgst", "-sha256", "-r") // want `openssl is started`
	cmd.Stdin = bytes.NewReader([]byte(r.URL.Path))
	if out, err := cmd.Output(); err == nil {
		w.Write(out)
	}
}

func FromOpenssl(w http.ResponseWriter, r *http.Request) {
	cmd := exec.Command("openssl", "dgst", "-sha256") // want `openssl is started`
	cmd.Stdin = strings.NewReader(r.URL.Path)
	out, _ := cmd.Output()
	w.Write(out)
}

func Named(w http.ResponseWriter, r *http.Request) {
	exec.Command(r.Header.Get("X")).Run() // want `a program is started`
}

func Unquoted(w http.ResponseWriter, r *http.Request) {
	out, _ := exec.Command("sh", "-c", "echo -n "+strings.ToLower(r.URL.Path)+" | openssl sha256 | sed 's/^.*= //'").Output() // want `sh is started`
	w.Write(out)
}

func OtherPipe(w http.ResponseWriter, r *http.Request) {
	out, _ := exec.Command("sh", "-c", "echo "+quote(r.URL.Path)+" | openssl sha256 | tr a-z A-Z").Output() // want `sh is started`
	w.Write(out)
}

// Both has two endings of one digest.
func Both(w http.ResponseWriter, r *http.Request) {
	out, _ := exec.Command("sh", "-c", "printf %s "+quote(r.URL.Path)+" | sha1sum").Output() // want `sh is started`
	w.Write(out)
	out, _ = exec.Command("sh", "-c", "printf %s "+quote(r.URL.Path)+` | sha1sum | tr -d '\n'`).Output() // want `sh is started`
	w.Write(out)
	out, _ = exec.Command("sh", "-c", "printf %s "+quote(r.URL.Path)+` | sha1sum | tr -d '\n' | sed 's/ .*//'`).Output() // want `sh is started`
	w.Write(out)
}
