package facts

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/iikanji/iikanji"
)

// A ConfFile is one file of a configuration, as it is on disk.
type ConfFile struct {
	Path string
	Text string
}

const dumpMark = "# configuration file "

// SplitDump cuts what `nginx -T` prints into files. nginx ends each with one
// line feed of its own, which is taken off, so that Text has the file's bytes.
func SplitDump(dump string) []ConfFile {
	var out []ConfFile
	for line := range strings.SplitAfterSeq(dump, "\n") {
		if name, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), dumpMark); ok && strings.HasSuffix(name, ":") {
			out = append(out, ConfFile{Path: strings.TrimSuffix(name, ":")})
			continue
		}
		if len(out) > 0 {
			out[len(out)-1].Text += line
		}
	}
	for i := range out {
		out[i].Text = strings.TrimSuffix(out[i].Text, "\n")
	}
	return out
}

// NginxFact packs what `nginx -T` prints as a fact, includes put in.
func NginxFact(target, dump string) (iikanji.Fact, error) {
	files := SplitDump(dump)
	if len(files) == 0 {
		return iikanji.Fact{}, fmt.Errorf("reading nginx -T: no file in it")
	}
	trees := map[string][]iikanji.Directive{}
	for _, f := range files {
		tree, err := ParseConf(f.Path, f.Text)
		if err != nil {
			return iikanji.Fact{}, err
		}
		trees[f.Path] = tree
	}
	b, err := json.Marshal(include(files, trees, trees[files[0].Path], path.Dir(files[0].Path), 0))
	if err != nil {
		return iikanji.Fact{}, fmt.Errorf("packing the configuration of nginx: %w", err)
	}
	return iikanji.Fact{Target: target, Topic: iikanji.TopicNginx, Key: files[0].Path, Value: string(b)}, nil
}

// NginxFacts are what `nginx -T` prints: the tree as [NginxFact] has it first,
// then each file's text.
func NginxFacts(target, dump string) ([]iikanji.Fact, error) {
	tree, err := NginxFact(target, dump)
	if err != nil {
		return nil, err
	}
	out := []iikanji.Fact{tree}
	for _, f := range SplitDump(dump) {
		out = append(out, iikanji.Fact{Target: target, Topic: iikanji.TopicNginxFile, Key: f.Path, Value: f.Text})
	}
	return out, nil
}

const versionMark = "nginx version: "

// NginxVersionFact is what `nginx -v` prints: name and version, without what a
// distribution adds.
func NginxVersionFact(target, said string) (iikanji.Fact, error) {
	for line := range strings.Lines(said) {
		if rest, ok := strings.CutPrefix(line, versionMark); ok && len(strings.Fields(rest)) > 0 {
			return iikanji.Fact{Target: target, Topic: iikanji.TopicNginxVersion, Key: "version", Value: strings.Fields(rest)[0]}, nil
		}
	}
	return iikanji.Fact{}, fmt.Errorf("reading nginx -v: no version in %.100q", said)
}

// include puts included files in the place of their directives. Patterns are
// matched against the files of the dump: what nginx did not read is not there.
func include(files []ConfFile, trees map[string][]iikanji.Directive, in []iikanji.Directive, dir string, depth int) []iikanji.Directive {
	var out []iikanji.Directive
	for _, d := range in {
		if d.Name != "include" || depth > 16 {
			d.Block = include(files, trees, d.Block, dir, depth)
			out = append(out, d)
			continue
		}
		pattern := d.Arg(0)
		if !path.IsAbs(pattern) {
			pattern = path.Join(dir, pattern)
		}
		for _, f := range files {
			if ok, err := path.Match(pattern, f.Path); ok && err == nil {
				out = append(out, include(files, trees, trees[f.Path], dir, depth+1)...)
			}
		}
	}
	return out
}

// ParseConf reads one file of nginx's configuration. Comments and white space
// stand between the directives and are not in the tree; Start and End tell
// where everything is, so that the file can be edited and all else stay.
func ParseConf(name, text string) ([]iikanji.Directive, error) {
	p := &confParser{name: name, text: text, line: 1}
	tree, err := p.block(0)
	if err != nil {
		return nil, fmt.Errorf("reading %s:%d: %w", name, p.line, err)
	}
	return tree, nil
}

type confParser struct {
	name, text string
	at, line   int
}

// block reads directives up to the closing brace, or to the end at depth 0.
func (p *confParser) block(depth int) ([]iikanji.Directive, error) {
	if depth > 100 {
		return nil, fmt.Errorf("blocks are nested too deeply")
	}
	var out []iikanji.Directive
	for {
		p.space()
		switch {
		case p.at >= len(p.text):
			if depth > 0 {
				return nil, fmt.Errorf("a block has no closing brace")
			}
			return out, nil
		case p.text[p.at] == '}':
			if depth == 0 {
				return nil, fmt.Errorf("a closing brace too many")
			}
			p.at++
			return out, nil
		}
		d, err := p.directive(depth)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
}

func (p *confParser) directive(depth int) (iikanji.Directive, error) {
	d := iikanji.Directive{File: p.name, Line: p.line, Start: p.at}
	for named := false; ; {
		p.space()
		if p.at >= len(p.text) {
			return d, fmt.Errorf("%q has no semicolon", d.Name)
		}
		switch c := p.text[p.at]; {
		case c == ';' && named:
			p.at++
			d.End = p.at
			return d, nil
		case c == '{' && named:
			p.at++
			var err error
			if strings.HasSuffix(d.Name, "_by_lua_block") {
				err = p.raw()
			} else {
				d.Block, err = p.block(depth + 1)
			}
			d.End = p.at
			return d, err
		case c == ';' || c == '{' || c == '}':
			return d, fmt.Errorf("unexpected %q", c)
		}
		word, err := p.word()
		if err != nil {
			return d, err
		}
		if !named {
			d.Name, named = word, true
		} else {
			d.Args = append(d.Args, word)
		}
	}
}

// space passes white space and comments.
func (p *confParser) space() {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '\n':
			p.line++
		case c == ' ' || c == '\t' || c == '\r':
		case c == '#':
			for p.at < len(p.text) && p.text[p.at] != '\n' {
				p.at++
			}
			continue
		default:
			return
		}
		p.at++
	}
}

// word reads one name or argument. ${name} keeps its braces.
func (p *confParser) word() (string, error) {
	var sb strings.Builder
	if q := p.text[p.at]; q == '"' || q == '\'' {
		for p.at++; p.at < len(p.text); p.at++ {
			switch c := p.text[p.at]; {
			case c == q:
				p.at++
				return sb.String(), nil
			case c == '\\' && p.at+1 < len(p.text) && (p.text[p.at+1] == q || p.text[p.at+1] == '\\'):
				p.at++
				sb.WriteByte(p.text[p.at])
			default:
				if c == '\n' {
					p.line++
				}
				sb.WriteByte(c)
			}
		}
		return "", fmt.Errorf("a quote has no end")
	}
	for p.at < len(p.text) {
		c := p.text[p.at]
		if c == '$' && strings.HasPrefix(p.text[p.at:], "${") {
			end := strings.IndexByte(p.text[p.at:], '}')
			if end < 0 {
				return "", fmt.Errorf("a variable has no closing brace")
			}
			sb.WriteString(p.text[p.at : p.at+end+1])
			p.at += end + 1
			continue
		}
		if c == '\\' && p.at+1 < len(p.text) && p.text[p.at+1] != '\n' {
			sb.WriteByte(c)
			p.at++
			c = p.text[p.at]
		} else if strings.IndexByte(" \t\r\n;{}", c) >= 0 {
			break
		}
		sb.WriteByte(c)
		p.at++
	}
	return sb.String(), nil
}

// raw passes a block of another language, braces balanced.
func (p *confParser) raw() error {
	for depth := 1; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '\n':
			p.line++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				p.at++
				return nil
			}
		}
	}
	return fmt.Errorf("a block has no closing brace")
}
