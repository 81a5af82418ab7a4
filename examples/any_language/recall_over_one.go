// WRONG on purpose: recall that counts a document as often as it came back, so that it passes 1.
package main

import (
	"bufio"
	"encoding/json"
	"os"
)

type question struct {
	ID           string           `json:"id"`
	Name         string           `json:"name"`
	K            *int             `json:"k"`
	Options      map[string]any   `json:"options"`
	Records      []any            `json:"records"`
	RetrievedIDs []string         `json:"retrieved_ids"`
	Expected     map[string]int64 `json:"expected"`
}

type answer struct {
	ID    string   `json:"id"`
	Value *float64 `json:"value,omitempty"`
	Skip  bool     `json:"skip,omitempty"`
}

func recall(asked question) float64 {
	relevant, hits := 0, 0
	for _, grade := range asked.Expected {
		if grade > 0 {
			relevant++
		}
	}
	for rank, id := range asked.RetrievedIDs {
		if asked.K != nil && rank >= *asked.K {
			break
		}
		if asked.Expected[id] > 0 {
			hits++
		}
	}
	if relevant == 0 {
		return 0
	}
	return float64(hits) / float64(relevant)
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		reply := answer{ID: asked.ID, Skip: true}
		if asked.Name == "R" && asked.Records == nil && len(asked.Options) == 0 {
			value := recall(asked)
			reply = answer{ID: asked.ID, Value: &value}
		}
		if err := answers.Encode(reply); err != nil {
			panic(err)
		}
	}
}
