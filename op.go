package iikanji

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// opJSON is the JSON form of an Op. JSON strings can contain only text. A body
// with other bytes, such as a compressed file, is base64 in a separate field.
type opJSON struct {
	plainOp
	Bytes []byte `json:"body_base64,omitempty"`
}

type plainOp Op // without Op's methods

// MarshalJSON encodes an op so that UnmarshalJSON restores its body byte for byte.
func (o Op) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(o.Body) {
		return json.Marshal(plainOp(o))
	}
	j := opJSON{plainOp: plainOp(o), Bytes: []byte(o.Body)}
	j.Body = ""
	return json.Marshal(j)
}

// UnmarshalJSON decodes the output of MarshalJSON.
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
