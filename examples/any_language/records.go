// Writes records for `goldrank eval records.jsonl`: one line for each question.
package main

import (
	"encoding/json"
	"os"
)

type retrieved struct {
	ID    string  `json:"id"`
	Score float64 `json:"score"`
}

type record struct {
	ID          string      `json:"id"`
	Question    string      `json:"question,omitempty"`
	Retrieved   []retrieved `json:"retrieved"`
	ExpectedIDs []string    `json:"expected_ids"`
	LatencyMS   float64     `json:"latency_ms,omitempty"`
}

func main() {
	records := []record{
		{ID: "q1", Question: "remove rust?", Retrieved: []retrieved{{"d3", 12.5}, {"d1", 9.1}}, ExpectedIDs: []string{"d1"}, LatencyMS: 12.4},
		{ID: "q2", Retrieved: []retrieved{{"d7", 3}}, ExpectedIDs: []string{"d2"}},
	}
	file, err := os.Create("records.jsonl")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	lines := json.NewEncoder(file)
	for _, one := range records {
		if err := lines.Encode(one); err != nil {
			panic(err)
		}
	}
}
