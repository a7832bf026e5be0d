// Command goldrush is the sample client of Gold Rush. It looks at one cell after the other,
// digs where treasures are, and cashes them.
package main

import (
	"fmt"
	"os"
)

func main() {
	k, err := readKnobs()
	if err != nil {
		fmt.Fprintln(os.Stderr, "goldrush:", err)
		os.Exit(2)
	}
	m := newMiner(newAPI(os.Getenv("ADDRESS"), os.Getenv("PORT")), k)
	m.api.awaitHealth()
	m.run()
}
