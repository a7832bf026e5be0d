package iikanji

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// opJSON is an Op in a document. JSON's strings hold text only: a body of
// other bytes, a compressed file's for one, goes as base64 in a field of its own.
type opJSON struct {
	plainOp
	Bytes []byte `json:"body_base64,omitempty"`
}

type plainOp Op // without Op's methods

// MarshalJSON writes an op so that its body comes back to the byte.
func (o Op) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(o.Body) {
		return json.Marshal(plainOp(o))
	}
	j := opJSON{plainOp: plainOp(o), Bytes: []byte(o.Body)}
	j.Body = ""
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (o *Op) UnmarshalJSON(b []byte) error {
	var j opJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	if j.Bytes != nil {
		if j.Body != "" {
			return fmt.Errorf("an op on %s has two bodies", j.Place)
		}
		j.Body = string(j.Bytes)
	}
	*o = Op(j.plainOp)
	return nil
}
