package rewrite

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A ranProgram is a function that runs a program which has ended when it returns.
type ranProgram struct {
	fn    ast.Node // *ast.FuncDecl or *ast.FuncLit
	reach programReach
}

// A programReach is what a program changes outside of its own memory.
type programReach uint8

const (
	anything  programReach = iota
	onlyFiles              // it reaches no server
	nothing                // it computes its output from its input
)

// harmless reports whether the program cannot write to the database of a driver.
func (p ranProgram) harmless(base string) bool {
	return p.reach == nothing || p.reach == onlyFiles && base == mysqlDriver
}

// pureCommands compute their output from arguments, input and files that they read, if no
// argument says otherwise.
var pureCommands = []string{"printf", "echo", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "cksum", "base64", "xxd",
	"cut", "tr", "head", "tail", "wc", "grep", "cat", "od", "rev", "hostname", "uname", "uuidgen", "date", "whoami", "file", "identify", "ffprobe", "xdg-open", "open", "rundll32"}

// pureOpenssl are the subcommands of openssl that compute a digest.
var pureOpenssl = []string{"dgst", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"}

// fileCommands read and write files, and reach no server.
var fileCommands = []string{"cp", "mv", "rm", "mkdir", "ln", "touch", "chmod", "zip", "unzip", "tar", "gzip", "gunzip", "zstd", "convert", "magick", "mogrify",
	"cwebp", "ffmpeg", "jpegoptim", "optipng", "pngquant", "openssl", "exiftool", "heif-convert", "vips"}

// endings are the methods of a Cmd that return after the program has ended.
var endings = []string{"Run", "Output", "CombinedOutput"}

// program notes the function that runs a program, whose writes are over when the
// function returns.
func (u *cacheUse) program(c *ast.CallExpr) {
	reach := u.reachOf(c)
	if reach == nothing {
		return
	}
	block := u.block
	if reach == onlyFiles {
		block = u.blockFile
	}
	fn := u.x.function(c)
	if fn == nil {
		block(c, "a program is prepared outside of functions, and its end is not known")
		return
	}
	if !u.endsIn(c, fn) {
		block(c, "a program is started that may write to the database, and its end is not known")
		return
	}
	at := slices.IndexFunc(u.programs, func(p ranProgram) bool { return p.fn == fn })
	if at < 0 {
		u.programs = append(u.programs, ranProgram{fn, reach})
		return
	}
	u.programs[at].reach = min(u.programs[at].reach, reach)
}

// reachOf is what the program of a command can change. The name and the options must be
// constant; a shell's script must be a pipeline of known commands.
func (u *cacheUse) reachOf(c *ast.CallExpr) programReach {
	args := c.Args
	if u.x.callee(c).Name() == "CommandContext" {
		args = args[1:]
	}
	p := &programs{x: u.x}
	if len(args) == 0 || c.Ellipsis.IsValid() {
		return anything
	}
	name, ok := p.text(args[0])
	if !ok {
		name, ok = u.lookedFor(p, args[0])
	}
	if !ok {
		return anything
	}
	if shell := path.Base(name); shell == "sh" || shell == "bash" {
		return u.scriptReach(args[1:])
	}
	words := []string{path.Base(name)}
	for _, a := range args[1:] {
		text, known := p.text(a)
		if !known {
			text = "X"
		}
		words = append(words, text)
	}
	return commandReach(words)
}

// lookedFor is the name of a program whose path exec.LookPath has found: path, err :=
// exec.LookPath("exiftool").
func (u *cacheUse) lookedFor(p *programs, path ast.Expr) (string, bool) {
	v := u.x.variable(path)
	if v == nil {
		return "", false
	}
	call, ok := ast.Unparen(u.x.fixedValue(v)).(*ast.CallExpr)
	if !ok || !isFunc(u.x.callee(call), "os/exec", "LookPath") {
		return "", false
	}
	return p.text(call.Args[0])
}

// scriptReach is what `-c script` can change. Parts of the script that are not constant
// must be quoted for the shell by a function of the app.
func (u *cacheUse) scriptReach(args []ast.Expr) programReach {
	p := &programs{x: u.x}
	if len(args) != 2 {
		return anything
	}
	if flag, _ := p.text(args[0]); flag != "-c" {
		return anything
	}
	script := ""
	for _, part := range operands(args[1], token.ADD) {
		if v, ok := p.text(part); ok {
			script += v
			continue
		}
		call, ok := part.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || !p.quotes(call) {
			return anything
		}
		script += "X"
	}
	return pipelineReach(script)
}

// pipelineReach is what commands joined by pipes can change.
func pipelineReach(script string) programReach {
	commands, ok := splitPipeline(script)
	if !ok {
		return anything
	}
	least := nothing
	for _, words := range commands {
		if len(words) == 0 {
			return anything
		}
		least = min(least, commandReach(words))
	}
	return least
}

// splitPipeline splits a script into commands and their words. ok is false for a script with
// more than words, quoted texts and pipes: a redirection, a substitution, a second line.
func splitPipeline(script string) (commands [][]string, ok bool) {
	var words []string
	word, within := "", false
	end := func() {
		if within {
			words = append(words, word)
		}
		word, within = "", false
	}
	for i := 0; i < len(script); i++ {
		switch c := script[i]; {
		case c == '\'' || c == '"':
			size := strings.IndexByte(script[i+1:], c)
			if size < 0 || c == '"' && strings.ContainsAny(script[i+1:i+1+size], "`$\\") {
				return nil, false
			}
			word, within = word+script[i+1:i+1+size], true
			i += size + 1
		case c == ' ' || c == '\t':
			end()
		case c == '|':
			end()
			commands, words = append(commands, words), nil
		case strings.IndexByte("`$\\;&<>\n(){}*?[]#~!", c) >= 0:
			return nil, false
		default:
			word, within = word+string(c), true
		}
	}
	end()
	return append(commands, words), true
}

// substitutes is a script of sed that replaces text, without the flags that write or run.
var substitutes = regexp.MustCompile(`^s/(?:[^/\\]|\\.)*/(?:[^/\\]|\\.)*/g?$`)

// commandReach is what a command with its arguments can change.
func commandReach(words []string) programReach {
	name, options := path.Base(words[0]), words[1:]
	has := func(parts ...string) bool {
		return slices.ContainsFunc(options, func(w string) bool {
			return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(w, p) })
		})
	}
	switch name {
	case "openssl":
		if len(options) == 0 || options[0] == "s_client" || has("-engine", "-provider") {
			return anything
		}
		if slices.Contains(pureOpenssl, strings.TrimPrefix(options[0], "-")) && !has("-out", "-sign") {
			return nothing
		}
	case "sed":
		if len(options) == 1 && substitutes.MatchString(options[0]) {
			return nothing
		}
		return anything
	case "tar":
		if has("checkpoint", "command", "compress-program", "rsh") {
			return anything
		}
	case "hostname", "date", "xxd":
		if len(options) > 0 {
			return anything
		}
	}
	switch {
	case slices.Contains(pureCommands, name):
		return nothing
	case slices.Contains(fileCommands, name):
		return onlyFiles
	}
	return anything
}
