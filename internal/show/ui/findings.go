package ui

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/docs"
	"github.com/iikanji/iikanji/internal/show/report/document"
	"github.com/iikanji/iikanji/internal/show/summary"
)

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// findingsPage is the data of the findings of one observed run.
type findingsPage struct {
	Of       *summary.Observed
	Observed []summary.Observed
	Findings []finding
}

// A finding is one finding with the address of its parts.
type finding struct {
	iikanji.Finding
	Anchor string
	Page   bool // there is a page of iikanji help
	Refs   []string
}

// showFindings shows the findings of an observed run, the latest if none is named.
func (s *Server) showFindings(r *http.Request) (*view, error) {
	_, sum, err := s.store.load()
	if err != nil {
		return nil, err
	}
	p := findingsPage{Observed: sum.Observed}
	for i := range sum.Observed {
		if want := r.URL.Query().Get("run"); want == "" || want == strconv.Itoa(int(sum.Observed[i].Run)) {
			p.Of = &sum.Observed[i]
		}
	}
	if p.Of == nil && len(sum.Observed) > 0 {
		return nil, notFound("run %s was not observed", r.URL.Query().Get("run"))
	}
	t := &Table{Name: "findings", Caption: "Findings, the one with the largest gain first", Columns: []Column{leftColumn("code", "code"), rightColumn("gain", "seconds per run"), leftColumn("where", "where"), leftColumn("claim", "claim"), leftColumn("remedy", "first remedy")}}
	if p.Of != nil {
		seen, numbers := map[iikanji.Code]int{}, map[iikanji.Code]int{}
		for _, f := range p.Of.Findings {
			seen[f.Code]++
			anchor := string(f.Code)
			if seen[f.Code] > 1 {
				anchor += "-" + strconv.Itoa(seen[f.Code])
			}
			_, err := fs.Stat(docs.Pages, "findings/"+string(f.Code)+".md")
			x := finding{Finding: f, Anchor: anchor, Page: err == nil}
			for range f.Remedies { // iikanji plan numbers the remedies of all findings of one code
				numbers[f.Code]++
				x.Refs = append(x.Refs, fmt.Sprintf("%s.%d", f.Code, numbers[f.Code]))
			}
			p.Findings = append(p.Findings, x)
			remedy := ""
			if len(f.Remedies) > 0 {
				remedy = f.Remedies[0].Says
			}
			t.Rows = append(t.Rows, []Cell{link(string(f.Code), "#"+anchor), number(f.Gain.Hi, document.Gain(f.Gain)), text(f.Where), text(f.Claim), text(remedy)})
		}
	}
	return &view{name: "findings", title: "Findings", here: "/findings", tables: []*Table{t}, data: p}, nil
}
