package cause

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

var unreadBinaryLog = Declare(PerDatabase, findUnreadBinaryLog,
	Cause{Code: "DB207", Title: "binary log without a reader", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "it is synced at each commit, which only a replica or a backup needs",
		Remedies: []Way{Plan("mysqlconf", "", iikanji.RoleDatabase)}})

// findUnreadBinaryLog reports a binary log that is synced at each commit. Whether a replica
// or a backup reads it is not visible in the server's counters.
func findUnreadBinaryLog(v *view) []iikanji.Finding {
	c := v.commitCost()
	written := v.status["binlog_bytes_written"]
	if !c.binlog || written == 0 || c.weight() < leastCommitShare*v.seconds {
		return nil
	}
	return []iikanji.Finding{{Code: "DB207", Where: "sync_binlog",
		Claim: fmt.Sprintf("each commit syncs the binary log too, %s in the run: unnecessary unless a replica or a backup reads it", iikanji.Bytes(written)),
		Evidence: []iikanji.Evidence{{Source: "variable", Text: "log_bin = " + v.vars["log_bin"] + ", sync_binlog = " + v.vars["sync_binlog"]},
			{Source: "status", Text: fmt.Sprintf("Binlog_bytes_written +%.0f", written)}},
		Gain:     between(c.weight(), 0, 0.4),
		Remedies: []iikanji.Remedy{v.onSelf("mysqlconf", "leave syncs of the binary log to the operating system (promise: durability of the log after a power cut)", map[string]string{"sync_binlog": "0"})},
	}}
}
