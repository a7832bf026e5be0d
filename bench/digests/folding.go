package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A folding is a log of statements whose true number of digests is known.
type folding struct {
	name       string
	text       string
	foldTables bool
	want       int
}

// foldings are logs of 10,000 statements each.
func foldings() []folding {
	r := rand.New(rand.NewPCG(5, 6))
	ids := []func() string{
		func() string { return "COMMIT /* controller='isu',traceparent='" + traceparent(r) + "' */" },
		func() string { return "COMMIT /* POST /api/isu/" + uuid(r) + " */" },
		func() string { return "ROLLBACK /* request_id='" + hex(r, 16) + "' */" },
		func() string { return "SELECT * FROM isu WHERE id = '" + uuid(r) + "' /* trace=" + hex(r, 32) + " */" },
		func() string {
			return "/* " + traceparent(r) + " */ UPDATE stock SET n = 0x" + hex(r, 8) + " WHERE k = x'" + hex(r, 12) + "'"
		},
		func() string {
			return fmt.Sprintf("INSERT INTO t VALUES (%d, '%s', %v)", r.IntN(1e9), hex(r, 40), r.Float64())
		},
	}
	tables := []func() string{
		func() string { return fmt.Sprintf("SELECT * FROM tenant_%d WHERE id = %d", r.IntN(50), r.IntN(1e6)) },
		func() string { return fmt.Sprintf("UPDATE score_%d SET n = %d", r.IntN(50), r.IntN(1e6)) },
	}
	numbered := fill(r, tables)
	return []folding{
		{"trace ids, uuids and hexadecimal ids", fill(r, ids), false, len(ids)},
		{"two kinds of 50 numbered tables", numbered, false, 100},
		{"the same with --fold-tables", numbered, true, len(tables)},
	}
}

// fill writes 10,000 statements.
func fill(r *rand.Rand, statements []func() string) string {
	var b strings.Builder
	b.WriteString("# Time: 261121  5:24:10\n")
	for range 10_000 {
		b.WriteString(statement{1 + r.IntN(8), time.Duration(1+r.IntN(9000)) * time.Microsecond, statements[r.IntN(len(statements))]()}.entry())
	}
	return b.String()
}

func hex(r *rand.Rand, digits int) string {
	b := make([]byte, digits)
	for i := range b {
		b[i] = "0123456789abcdef"[r.IntN(16)]
	}
	return string(b)
}

func uuid(r *rand.Rand) string {
	return hex(r, 8) + "-" + hex(r, 4) + "-4" + hex(r, 3) + "-a" + hex(r, 3) + "-" + hex(r, 12)
}

func traceparent(r *rand.Rand) string { return "00-" + hex(r, 32) + "-" + hex(r, 16) + "-01" }
