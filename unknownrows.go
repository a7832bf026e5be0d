package iikanji

import "encoding/json"

// MarshalJSON leaves out the numbers of rows that the source of the row does not count.
func (q SQLRow) MarshalJSON() ([]byte, error) {
	type plain SQLRow
	if !q.NoSent && !q.NoExamined {
		return json.Marshal(plain(q))
	}
	out := struct {
		plain
		Sent        *int64 `json:"rows_sent,omitempty"`
		MaxSent     *int64 `json:"max_rows_sent,omitempty"`
		Examined    *int64 `json:"rows_examined,omitempty"`
		MaxExamined *int64 `json:"max_rows_examined,omitempty"`
	}{plain: plain(q)}
	if !q.NoSent {
		out.Sent, out.MaxSent = &q.Sent, &q.MaxSent
	}
	if !q.NoExamined {
		out.Examined, out.MaxExamined = &q.Examined, &q.MaxExamined
	}
	return json.Marshal(out)
}
