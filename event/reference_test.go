package event

import (
	"testing"
	"time"
)

func TestNoAnswerIsTakenForAReference(t *testing.T) {
	line, err := Record{Seq: 1, Time: time.Now(), Run: "r", Event: VoteCompleted{Answer: JSONValue([]byte(`{ "$sha256":"x"}`))}}.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := Decode(line)
	if err != nil {
		t.Fatal(err)
	}
	if v := rec.Event.(VoteCompleted).Answer; v.Ref != nil {
		t.Errorf("an answer came back as a reference to %q: %s", v.Ref.SHA256, line)
	}
	step := &StepCompleted{Output: JSONValue([]byte("{\n\"$sha256\":\"x\"}"))}
	rec, err = Decode(step.AppendLine(nil, Header{Seq: 1, Timestamp: time.Now(), Run: "r"}))
	if err != nil {
		t.Fatal(err)
	}
	if v := rec.Event.(StepCompleted).Output; v.Ref != nil {
		t.Errorf("an output came back as a reference to %q", v.Ref.SHA256)
	}
}
