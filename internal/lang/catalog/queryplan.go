package catalog

// A QueryPlan is the execution plan of one statement, estimated or executed.
type QueryPlan struct {
	SQL   string      `json:"sql"`
	Ran   bool        `json:"ran,omitempty"` // the numbers were measured in an execution, not estimated
	Steps []QueryStep `json:"steps"`
	Sort  bool        `json:"sort,omitempty"`      // a filesort somewhere
	Temp  bool        `json:"temporary,omitempty"` // a temporary table somewhere
	Notes []string    `json:"notes,omitempty"`
}

// A QueryStep is the access to one table.
type QueryStep struct {
	Table    string   `json:"table"`  // alias as in the statement
	Access   string   `json:"access"` // ALL, index, range, ref, eq_ref, const, index_merge …
	Key      string   `json:"key,omitempty"`
	KeyParts []string `json:"key_parts,omitempty"`
	Possible []string `json:"possible,omitempty"`
	Rows     float64  `json:"rows"`               // rows read per loop; measured if Ran
	Foreseen float64  `json:"foreseen,omitempty"` // the estimate of Rows, if Ran
	Loops    float64  `json:"loops,omitempty"`
	Filtered float64  `json:"filtered"` // percentage of Rows that pass the conditions
	Covering bool     `json:"covering,omitempty"`
}
