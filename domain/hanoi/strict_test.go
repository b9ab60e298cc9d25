package hanoi

import "testing"

func TestAmbiguousAnswersAreDiscarded(t *testing.T) {
	a, flag := reader{disks: 3}.Read(`{"previous":{"move":[2,0,1],"next_state":[[3],[2],[1]]},"move":[1,2,1],"next_state":[[3],[2,1],[]]}`)
	if flag == nil {
		t.Errorf("an object of another form was read as %s", a.Key)
	}
	a, flag = reader{disks: 3}.Read("move = [1, 0, 2] or [1, 0, 1], not sure\nnext_state = [[3,2],[],[1]] or [[3,2],[1],[]]")
	if flag == nil {
		t.Errorf("two answers in one were read as %s", a.Key)
	}
}
