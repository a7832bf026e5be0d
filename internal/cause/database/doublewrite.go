package database

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	twicePages = 2000.0 // least pages written twice in a run
	pageWrite  = 50e-6  // assumed seconds to write a page
)

var doublewriteBuffer = cause.Declare(cause.PerDatabase, findDoublewrite,
	cause.Cause{Code: "DB209", Title: "pages written twice", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "an option only, for sites whose limit is the disk",
		Remedies: []cause.Way{cause.Plan("mysqlconf", "", iikanji.RoleDatabase)}})

// findDoublewrite reports the doublewrite buffer as an option where the disk is the
// limit. Each page is first written there, so that a page torn by a power cut
// can be restored.
func findDoublewrite(v *cause.View) []iikanji.Finding {
	pages := v.Status["innodb_dblwr_pages_written"]
	on := strings.ToUpper(v.Variables["innodb_doublewrite"])
	if on != "ON" && on != "1" || pages < twicePages || v.Binding.Resource != "disk" {
		return nil
	}
	each, by := pageWrite, "assumed"
	for _, r := range v.Input.Rows(iikanji.Host) {
		if r.Host != nil && r.Host.Machine != nil && r.Host.Machine.WriteTook > 0 {
			each, by = r.Host.Machine.WriteTook.Seconds(), "measured"
		}
	}
	return []iikanji.Finding{{Code: "DB209", Where: "innodb_doublewrite",
		Claim: fmt.Sprintf("%s pages were written twice, and the disk is the limit: an option if the database can be rebuilt after a power cut", cause.Number(pages)),
		Evidence: []iikanji.Evidence{{Source: "status", Text: fmt.Sprintf("Innodb_dblwr_pages_written +%.0f; %.2f ms for a write (%s)", pages, 1000*each, by)},
			{Source: "variable", Text: "innodb_doublewrite = " + v.Variables["innodb_doublewrite"]}},
		Gain:     cause.Between(pages*each, 0.05, 0.5), // pages are written in batches
		Remedies: []iikanji.Remedy{v.OnSelf("mysqlconf", "write pages once (promise: durability)", map[string]string{"innodb_doublewrite": "0"})},
	}}
}
