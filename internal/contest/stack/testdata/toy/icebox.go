// Command icebox answers the two commands of a cache that the tests need:
// "version", and "touch", which counts.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
)

func main() {
	l, err := net.Listen("tcp", os.Getenv("ADDRESS"))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	touched := make(chan int, 1)
	touched <- 0
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		go func() {
			defer c.Close()
			for lines := bufio.NewScanner(c); lines.Scan(); {
				switch {
				case os.Getenv("MUTE") != "":
				case lines.Text() == "version":
					fmt.Fprint(c, "VERSION 1\r\n")
				case lines.Text() == "touch":
					n := <-touched + 1
					touched <- n
					fmt.Fprintf(c, "TOUCHED %d\r\n", n)
				}
			}
		}()
	}
}
