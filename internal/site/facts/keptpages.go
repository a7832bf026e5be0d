package facts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	// generationFolder begins the name of a folder with the generations of kept pages;
	// the change httpcache/nginx names one in a root of nginx's configuration.
	generationFolder = "/dev/shm/iikanji-"
	// learnedFile is the file in it that the app writes.
	learnedFile = "learned.json"
	// maxLearned bounds that file, in bytes: another process may have written it.
	maxLearned = 1 << 20
)

// KeptPages reads what apps noted of the pages that a web server keeps until a write.
func KeptPages(h host.Host, service string, conf *nginx.Config) ([]iikanji.Fact, error) {
	var folders []string
	for _, root := range roots(conf) {
		if folder := filepath.Dir(root); strings.HasPrefix(folder, generationFolder) && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	var out []iikanji.Fact
	for _, folder := range folders {
		k, err := learned(h, folder)
		if err != nil {
			return out, err
		}
		if k != nil {
			out = append(out, fact.TopicKept.Fact(service, folder, *k, true))
		}
	}
	return out, nil
}

// learned reads what an app noted in a folder; nil if it has computed no page twice yet.
func learned(h host.Host, folder string) (*fact.KeptPages, error) {
	path := filepath.Join(folder, learnedFile)
	info, err := h.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && info.Size() > maxLearned {
		err = fmt.Errorf("it has %d bytes", info.Size())
	}
	var text []byte
	if err == nil {
		text, err = h.Read(path)
	}
	var k fact.KeptPages
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return &k, nil
}

// The file in an app's source with the plan of its kept pages, and the beginning of the
// line with the plan: package httpcache writes it.
const (
	keptPlanFile = "pagegen/app_plan.go"
	keptPlanMark = "// plan: "
)

// StaleIn are sentences about kept pages of the app with a source folder that changed and
// were not dropped since the app started. An app that keeps no pages has none.
func StaleIn(h host.Host, source string) []string {
	path := filepath.Join(source, keptPlanFile)
	if info, err := h.Stat(path); err != nil || info.Size() > maxLearned {
		return nil
	}
	text, err := h.Read(path)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		var plan struct{ Folder string }
		plain, ok := strings.CutPrefix(line, keptPlanMark)
		if !ok || json.Unmarshal([]byte(plain), &plan) != nil || filepath.Dir(plan.Folder) != filepath.Dir(generationFolder) || !strings.HasPrefix(plan.Folder, generationFolder) {
			continue
		}
		if k, err := learned(h, plan.Folder); err == nil && k != nil {
			return staleOf(*k)
		}
	}
	return nil
}

// StalePages are sentences about kept pages that changed and were not dropped.
func StalePages(known []iikanji.Fact) []string {
	var out []string
	for _, k := range fact.TopicKept.In(known) {
		out = append(out, staleOf(k)...)
	}
	return out
}

func staleOf(k fact.KeptPages) (out []string) {
	for _, s := range k.Stale {
		out = append(out, fmt.Sprintf("fault: the kept page %.200s changed after %.200s and was not dropped: clients got an old answer; the app drops all pages at each write since", s.Page, s.Write))
	}
	return out
}
