package secret

import (
	"fmt"
	"strings"
	"testing"
)

// benchLines are lines as a run writes them.
var benchLines = map[string]string{
	"step":   `{"type":"step_completed","seq":4711,"timestamp":"2026-01-02T03:04:05.678901234Z","run":"hanoi-20260102-030405-abcde","step":4711,"output":{"move":[3,0,2],"next_state":[[9,8,7,6,5,4],[2,1],[3]]},"voting":{"strategy":"first_to_k","samples":3,"red_flagged":0,"faults":0,"votes":{"{\"move\":[3,0,2],\"next_state\":[[9,8,7,6,5,4],[2,1],[3]]}":3},"margin":3},"cost_usd":0.00123,"duration_ms":0,"spent":{"calls":14133,"tokens":{"input":1234567,"output":23456},"usd":4.56}}`,
	"sample": `{"type":"agent_sample_completed","seq":4712,"timestamp":"2026-01-02T03:04:05.678901234Z","run":"exec-20260102-030405-abcde","question":"plan/0/step/3/move/0","step":3,"sample":1,"model":"claude-sonnet","text":"` + strings.Repeat(`The file has three parts.\n\n1. \u003chead\u003e with \"quoted\" words, 20% of it\n2. a body of text that goes on\n`, 20) + `"}`,
}

func benchSet(n int) *Set {
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprintf("sk-ant-api03-%0*d", 24+5*i, 7777777*(i+3))+strings.Repeat("Zq9", 10))
	}
	return NewSet(keys...)
}

func BenchmarkRedactBytes(b *testing.B) {
	for _, keys := range []int{1, 6} {
		s := benchSet(keys)
		for name, line := range benchLines {
			b.Run(fmt.Sprintf("%s/keys=%d", name, keys), func(b *testing.B) {
				data := []byte(line)
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					s.RedactBytes(data)
				}
			})
		}
	}
}
