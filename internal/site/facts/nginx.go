package facts

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// NginxFact is the fact of the configuration that nginx -T printed. Each include
// is replaced by the content of its files.
func NginxFact(target, dump string) (iikanji.Fact, error) {
	return nginxFact(target, nginx.SplitDump(dump))
}

func nginxFact(target string, dump nginx.Dump) (iikanji.Fact, error) {
	conf, err := dump.Config()
	if err != nil {
		return iikanji.Fact{}, fmt.Errorf("reading nginx -T: %w", err)
	}
	b, err := json.Marshal(directives(conf, conf.Root()))
	if err != nil {
		return iikanji.Fact{}, fmt.Errorf("encoding the configuration of nginx: %w", err)
	}
	return iikanji.Fact{Target: target, Topic: iikanji.TopicNginx, Key: conf.Files[0].Path, Value: string(b)}, nil
}

// NginxFacts are the facts of the output of nginx -T: first the configuration
// (see [NginxFact]), then the text of each file.
func NginxFacts(target, dump string) ([]iikanji.Fact, error) {
	files := nginx.SplitDump(dump)
	tree, err := nginxFact(target, files)
	if err != nil {
		return nil, err
	}
	out := []iikanji.Fact{tree}
	for _, f := range files {
		out = append(out, iikanji.Fact{Target: target, Topic: iikanji.TopicNginxFile, Key: f.Path, Value: f.Text})
	}
	return out, nil
}

const versionMark = "nginx version: "

// NginxVersionFact is the fact of the output of nginx -v: name and version, without
// a distribution's suffix.
func NginxVersionFact(target, printed string) (iikanji.Fact, error) {
	for line := range strings.Lines(printed) {
		if rest, ok := strings.CutPrefix(line, versionMark); ok && len(strings.Fields(rest)) > 0 {
			return iikanji.Fact{Target: target, Topic: iikanji.TopicNginxVersion, Key: "version", Value: strings.Fields(rest)[0]}, nil
		}
	}
	return iikanji.Fact{}, fmt.Errorf("reading nginx -v: no version in %.100q", printed)
}

// ParseConf parses one file of nginx's configuration. Comments and white space
// are not in the result; Start and End of a directive are byte offsets in text.
func ParseConf(name, text string) ([]iikanji.Directive, error) {
	root, err := nginx.Parse(name, text)
	if err != nil {
		return nil, fmt.Errorf("reading %w", err)
	}
	return directives(new(nginx.Config), root), nil
}

// directives are the directives of a block. An include whose files conf
// has loaded is replaced by the content of these files.
func directives(conf *nginx.Config, b *nginx.Block) []iikanji.Directive {
	var out []iikanji.Directive
	for _, d := range b.Items {
		if files, ok := conf.Included(d); ok {
			for _, f := range files {
				out = append(out, directives(conf, f.Root)...)
			}
			continue
		}
		one := iikanji.Directive{Name: d.Name(), File: d.File, Line: d.Line, Start: d.Start, End: d.End}
		if len(d.Words) > 1 {
			one.Args = d.Args()
		}
		if d.Block != nil {
			one.Block = directives(conf, d.Block)
		}
		out = append(out, one)
	}
	return out
}
