package main

import (
	"fmt"
	"os"
	"strconv"
)

// Knobs are the parameters of the client. Each is a variable of the environment.
type knobs struct {
	workers      int // WORKERS: loops at once
	area         int // AREA: cells of a strip that is explored as a whole, before its cells
	licenseCoins int // LICENSE_COINS: price of a licence, if there are as many coins
	cashFrom     int // CASH_FROM: the least depth at which a treasure is cashed
	cashTries    int // CASH_TRIES: how often a cash that fails is tried
}

// readKnobs reads the knobs, and refuses values out of their range.
func readKnobs() (k knobs, err error) {
	for _, v := range []struct {
		name            string
		into            *int
		or, least, most int
	}{
		{"WORKERS", &k.workers, 1, 1, 64},
		{"AREA", &k.area, 1, 1, 255},
		{"LICENSE_COINS", &k.licenseCoins, 0, 0, 21},
		{"CASH_FROM", &k.cashFrom, 1, 1, 10},
		{"CASH_TRIES", &k.cashTries, 1, 1, 20},
	} {
		*v.into = v.or
		text := os.Getenv(v.name)
		if text == "" {
			continue
		}
		if *v.into, err = strconv.Atoi(text); err != nil || *v.into < v.least || *v.into > v.most {
			return k, fmt.Errorf("%s=%s: want %d to %d", v.name, text, v.least, v.most)
		}
	}
	return k, nil
}
