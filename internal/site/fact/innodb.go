package fact

// TopicInnoDB is the topic of the numbers in InnoDB's own status that are not
// server counters: Key the number's name, as in package facts, Value a Moved;
// Moves.
const TopicInnoDB Topic[Moved] = "innodb"

// A Moved is a number at the start and at the end of the load of a run.
type Moved struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// Grown is the difference between both; negative if the number fell.
func (m Moved) Grown() float64 { return m.After - m.Before }
