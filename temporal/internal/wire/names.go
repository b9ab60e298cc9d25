package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// The names of what a run has in the store.
func runFolder(run string) string { return "runs/" + run }

// Submitted is the first event of a run.
func Submitted(run string) string { return runFolder(run) + "/submitted" }

// Sessions is the folder of the sessions of a run, and Session that of one.
func Sessions(run string) string { return runFolder(run) + "/sessions" }

// SessionName is the name of a session among the others: they sort in their order.
func SessionName(n int) string { return fmt.Sprintf("%06d", n) }

// Claim is what says whose a session is.
func Claim(run string, session int) string {
	return Sessions(run) + "/" + SessionName(session) + "/begin"
}

// ChunkName is a piece of the events of a session.
func ChunkName(run string, session, n int) string {
	return fmt.Sprintf("%s/%s/%08d", Sessions(run), SessionName(session), n)
}

// DecisionName is what was decided about a key, for the n-th time.
func DecisionName(run, key string, n int) string {
	return fmt.Sprintf("%s/decisions/%s-%d", runFolder(run), sum(key), n)
}

// EffectName is the n-th event about an effect.
func EffectName(run, key string, n int) string {
	return fmt.Sprintf("%s/effects/%s/%04d", runFolder(run), sum(key), n)
}

// sum stands for a key in names.
func sum(key string) string {
	s := sha256.Sum256([]byte(key))
	return hex.EncodeToString(s[:16])
}
