package rewrite

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
)

// onFiles rewrites programs that only handle files, and are started and waited for in one
// expression: exec.Command("rm", "-rf", a, b).Run(), mkdir and zip -j -r.
func (p *programs) onFiles(rw *rewrite, c *ast.CallExpr, args []ast.Expr) bool {
	name, _ := p.text(args[0])
	run, made := p.waited(c)
	if run == nil || c.Ellipsis.IsValid() || !p.fileWork(rw, c, run, name, args[1:]) {
		return false
	}
	if made != nil {
		rw.removeLines(made)
	}
	return true
}

// fileWork writes the work of a program in the place of its run.
func (p *programs) fileWork(rw *rewrite, c, run *ast.CallExpr, name string, args []ast.Expr) bool {
	flags, files := p.flags(args)
	texts := make([]string, len(files))
	for i, f := range files {
		texts[i] = p.x.text(f)
	}
	switch path.Base(name) {
	case "rm":
		if len(files) == 0 || !flags.are("rRf") || !flags.has("f") || !flags.has("rR") {
			return false
		}
		helper := p.helper(rw, c, "removeFiles", removeSource, "os", "path/filepath")
		rw.replace(run, fmt.Sprintf("%s(%s)", helper, strings.Join(texts, ", ")))
		return helper != ""
	case "mkdir":
		if len(files) != 1 || !flags.are("p") {
			return false
		}
		mkdir := "Mkdir"
		if flags.has("p") {
			mkdir = "MkdirAll"
		}
		rw.replace(run, fmt.Sprintf("%s.%s(%s, 0777)", rw.pkg(c.Pos(), "os"), mkdir, texts[0]))
		return true
	case "zip":
		if len(files) != 2 || !flags.are("jrq") || !flags.has("j") || !flags.has("r") {
			return false
		}
		helper := p.helper(rw, c, "zipFolder", zipSource, "archive/zip", "bytes", "compress/flate", "io", "os", "os/exec", "path/filepath")
		rw.replace(run, fmt.Sprintf("%s(%s)", helper, strings.Join(texts, ", ")))
		return helper != ""
	}
	return false
}

// A flagSet has the letters of the flags of a program.
type flagSet string

// are reports whether there are no other flags than these.
func (f flagSet) are(letters string) bool { return strings.Trim(string(f), letters) == "" }

// has reports whether one of these is among the flags.
func (f flagSet) has(letters string) bool { return strings.ContainsAny(string(f), letters) }

// flags divides arguments into the letters of the flags, which are constant and come first, and
// the rest. A flag that is a word, or behind a file, is one that no program here has.
func (p *programs) flags(args []ast.Expr) (flags flagSet, files []ast.Expr) {
	for i, a := range args {
		v, constant := p.text(a)
		if !constant || !strings.HasPrefix(v, "-") {
			files = args[i:]
			break
		}
		flags += flagSet(strings.TrimPrefix(v, "-"))
	}
	if slices.ContainsFunc(files, func(a ast.Expr) bool { v, _ := p.text(a); return strings.HasPrefix(v, "-") }) {
		return "-", files
	}
	return flags, files
}

const removeSource = `// %[1]s removes as rm -rf does: what is not there is no error, and the root, . and .. are left alone.
func %[1]s(paths ...string) error {
	var first error
	for _, path := range paths {
		err := error(&%[2]s.PathError{Op: "remove", Path: path, Err: %[2]s.ErrPermission})
		if base := %[3]s.Base(path); path == "" || base != "." && base != ".." && %[3]s.Clean(path) != string(%[3]s.Separator) {
			err = %[2]s.RemoveAll(path)
		}
		if err != nil && !%[2]s.IsNotExist(err) && first == nil {
			first = err
		}
	}
	return first
}
`

// zipSource leaves to the program all that it does in another way: an archive that is there is
// added to, a name without an ending gets one, links are followed, names that repeat are an error,
// and so is a folder without files.
const zipSource = `// %[1]s packs the files below a folder without their folders, as zip -j -r does. What is compressed
// already is stored as it is. Whatever is not plain files for a new archive is left to the program.
func %[1]s(to, folder string) error {
	var paths []string
	named, plain := map[string]bool{}, %[8]s.Ext(to) != ""
	err := %[8]s.Walk(folder, func(path string, info %[6]s.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		plain = plain && info.Mode().IsRegular() && !named[info.Name()]
		named[info.Name()], paths = true, append(paths, path)
		return nil
	})
	program := func() error { return %[7]s.Command("zip", "-j", "-r", to, folder).Run() }
	if _, there := %[6]s.Lstat(to); err != nil || !plain || len(paths) == 0 || !%[6]s.IsNotExist(there) {
		return program()
	}
	file, err := %[6]s.OpenFile(to+".part", %[6]s.O_WRONLY|%[6]s.O_CREATE|%[6]s.O_EXCL, 0666)
	if err != nil {
		return program()
	}
	defer %[6]s.Remove(to + ".part")
	defer file.Close()
	out, sample := %[2]s.NewWriter(file), make([]byte, 4096)
	var packed %[3]s.Buffer
	tried, _ := %[4]s.NewWriter(&packed, %[4]s.BestSpeed)
	pack := func(path string) error {
		in, err := %[6]s.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		info, err := in.Stat()
		if err != nil {
			return err
		}
		header, err := %[2]s.FileInfoHeader(info)
		if err != nil {
			return err
		}
		n, _ := in.ReadAt(sample, info.Size()/2) // of the middle: heads are text more often
		packed.Reset()
		tried.Reset(&packed)
		tried.Write(sample[:n])
		tried.Close()
		if packed.Len() < n-n/8 {
			header.Method = %[2]s.Deflate
		}
		entry, err := out.CreateHeader(header)
		if err == nil {
			_, err = %[5]s.Copy(entry, in)
		}
		return err
	}
	for _, path := range paths {
		if err := pack(path); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return %[6]s.Rename(to+".part", to)
}
`
