package isuports

import (
	"io"
	"strconv"
)

// statementSize is the length at which a statement of the dump ends, in bytes. A
// server accepts statements of 16 MiB.
const statementSize = 1 << 20

// An adminDump writes the rows of the admin database as SQL.
type adminDump struct {
	w       io.Writer
	err     error // the first one
	tenants []byte
	visits  []byte
}

const (
	insertTenants = "INSERT INTO `tenant` (`id`, `name`, `display_name`, `created_at`, `updated_at`) VALUES"
	insertVisits  = "INSERT INTO `visit_history` (`player_id`, `tenant_id`, `competition_id`, `created_at`, `updated_at`) VALUES"
)

func newAdminDump(w io.Writer) *adminDump { return &adminDump{w: w} }

// tenant adds a tenant and its visits. Names and ids have no characters that SQL
// would need quoted.
func (d *adminDump) tenant(t *tenantData) {
	d.tenants = d.row(d.tenants, insertTenants)
	d.tenants = strconv.AppendInt(d.tenants, t.id, 10)
	d.tenants = append(d.tenants, ",'"+t.name+"','"+t.displayName+"',"...)
	d.tenants = appendTwice(d.tenants, t.created)
	tenant := "'," + strconv.FormatInt(t.id, 10) + ",'"
	for _, c := range t.competitions {
		for _, v := range c.visits {
			d.visits = d.row(d.visits, insertVisits)
			d.visits = append(d.visits, '\'')
			d.visits = append(d.visits, t.players[v.player].id...)
			d.visits = append(d.visits, tenant...)
			d.visits = append(d.visits, c.id...)
			d.visits = append(d.visits, "',"...)
			d.visits = appendTwice(d.visits, v.at)
			if len(d.visits) >= statementSize {
				d.visits = d.flush(d.visits)
			}
		}
	}
}

// row begins a row.
func (d *adminDump) row(b []byte, insert string) []byte {
	if len(b) == 0 {
		return append(append(b, insert...), "\n("...)
	}
	return append(b, ",\n("...)
}

// appendTwice ends a row with its times of creation and of the last update.
func appendTwice(b []byte, at int64) []byte {
	b = strconv.AppendInt(b, at, 10)
	b = append(b, ',')
	b = strconv.AppendInt(b, at, 10)
	return append(b, ')')
}

// flush writes a statement, if there is one.
func (d *adminDump) flush(b []byte) []byte {
	if len(b) > 0 && d.err == nil {
		_, d.err = d.w.Write(append(b, ";\n"...))
	}
	return b[:0]
}

// end writes what is left and returns the first error.
func (d *adminDump) end() error {
	d.visits = d.flush(d.visits)
	d.tenants = d.flush(d.tenants)
	return d.err
}
