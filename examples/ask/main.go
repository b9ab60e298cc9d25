// Ask is the shortest program: one question, one voted answer.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/maker-mdap/maker"
)

func main() {
	engine, err := maker.New(&maker.Options{Config: maker.Config{Model: "sim/default"}})
	if err != nil {
		log.Fatal(err)
	}
	product, _, err := maker.Ask[int](context.Background(), engine, "What is 48163 * 72?")
	fmt.Println(product, err)
}
