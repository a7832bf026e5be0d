package facts

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// NginxFact is the fact of the configuration that nginx -T printed.
func NginxFact(target, dump string) (iikanji.Fact, error) {
	return nginxFact(target, nginx.SplitDump(dump))
}

func nginxFact(target string, dump nginx.Dump) (iikanji.Fact, error) {
	conf, err := dump.Config()
	if err != nil {
		return iikanji.Fact{}, fmt.Errorf("reading nginx -T: %w", err)
	}
	return fact.TopicNginx.Fact(target, conf.Files[0].Path, conf, false), nil
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
		out = append(out, fact.TopicNginxFile.Fact(target, f.Path, f.Text, false))
	}
	return out, nil
}

const versionMark = "nginx version: "

// NginxVersionFact is the fact of the output of nginx -v: name and version, without
// a distribution's suffix.
func NginxVersionFact(target, printed string) (iikanji.Fact, error) {
	for line := range strings.Lines(printed) {
		if rest, ok := strings.CutPrefix(line, versionMark); ok && len(strings.Fields(rest)) > 0 {
			return fact.TopicNginxVersion.Fact(target, "version", strings.Fields(rest)[0], false), nil
		}
	}
	return iikanji.Fact{}, fmt.Errorf("reading nginx -v: no version in %.100q", printed)
}
