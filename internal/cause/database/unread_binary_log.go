package database

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

var unreadBinaryLog = cause.Declare(cause.PerDatabase, findUnreadBinaryLog,
	cause.Cause{Code: "DB207", Title: "binary log without a reader", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "it is synced at each commit, which only a replica or a backup needs",
		Remedies: []cause.Way{cause.Plan("mysqlconf", "", iikanji.RoleDatabase)}})

// findUnreadBinaryLog reports a binary log that is synced at each commit. Whether a replica
// or a backup reads it is not visible in the server's counters.
func findUnreadBinaryLog(v *cause.View) []iikanji.Finding {
	c := commitCostOf(v)
	written := v.Status["binlog_bytes_written"]
	if !c.binlog || written == 0 || c.weight() < leastCommitShare*v.Seconds {
		return nil
	}
	return []iikanji.Finding{{Code: "DB207", Where: "sync_binlog",
		Claim: fmt.Sprintf("each commit syncs the binary log too, %s in the run: unnecessary unless a replica or a backup reads it", iikanji.Bytes(written)),
		Evidence: []iikanji.Evidence{{Source: "variable", Text: "log_bin = " + v.Variables["log_bin"] + ", sync_binlog = " + v.Variables["sync_binlog"]},
			{Source: "status", Text: fmt.Sprintf("Binlog_bytes_written +%.0f", written)}},
		Gain:     cause.Between(c.weight(), 0, 0.4),
		Remedies: []iikanji.Remedy{v.OnSelf("mysqlconf", "leave syncs of the binary log to the operating system (promise: durability of the log after a power cut)", map[string]string{"sync_binlog": "0"})},
	}}
}
