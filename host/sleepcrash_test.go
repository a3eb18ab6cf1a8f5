package host_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/model/modeltest"
	"github.com/toolrun/toolrun/host/storage"
	"github.com/toolrun/toolrun/host/storage/bolt"
	"github.com/toolrun/toolrun/host/storage/postgres"
	"github.com/toolrun/toolrun/host/storage/postgres/pgtest"
	"github.com/toolrun/toolrun/host/storage/storagetest"
)

// restarted is an app with a stored database. A test opens and closes the app repeatedly.
type restarted struct {
	t       *testing.T
	backend func() (storage.Backend, error) // opens the database
	clock   *testClock
	server  *modeltest.Server
}

// open opens the app, calls body, and closes the app. A failure of the backend has the same effect
// as a crash of the process.
func (r *restarted) open(body func(*sleeper, *storagetest.Faulty)) {
	r.t.Helper()
	r.t.Run("", func(t *testing.T) {
		backend, err := r.backend()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := backend.Close(); err != nil {
				t.Error(err)
			}
		})
		faulty := storagetest.NewFaulty(backend)
		h := openApp(t, sleepFiles("model: local", "return []"), func(o *host.Options) {
			o.Now, o.Backend, o.Models = r.clock.now, faulty, modelSet(t, r.server, "")
		})
		body(&sleeper{t, h, r.clock}, faulty)
	})
}

// TestSleepRestarts processes one conversation and restarts the process at various times: before
// the conversation settles, before the run, and at each update that the run makes. The answers of
// the model are numbered. The block must change exactly once, and no later run must store anything.
func TestSleepRestarts(t *testing.T) {
	forEachRestart(t, func(t *testing.T, how storagetest.Failure, step int) {
		path := filepath.Join(t.TempDir(), "sleep.db")
		testSleepRestarts(t, how, step, func() (storage.Backend, error) { return bolt.Open(path, nil) })
	})
}

var sleepCluster pgtest.Cluster

// TestSleepRestartsOnPostgres is TestSleepRestarts on PostgreSQL.
func TestSleepRestartsOnPostgres(t *testing.T) {
	forEachRestart(t, func(t *testing.T, how storagetest.Failure, step int) {
		dsn := sleepCluster.DSN(t)
		testSleepRestarts(t, how, step, func() (storage.Backend, error) { return postgres.Open(t.Context(), dsn) })
	})
}

// forEachRestart runs a test several times. In each execution, another update of the run fails, in
// one of several ways.
func forEachRestart(t *testing.T, test func(t *testing.T, how storagetest.Failure, step int)) {
	t.Helper()
	for _, how := range storagetest.Failures {
		for step := 1; step <= 2; step++ {
			t.Run(fmt.Sprint(how, step), func(t *testing.T) { test(t, how, step) })
		}
	}
}

// TestSleepKeepsEditOnPostgres is TestSleepKeepsEdit on PostgreSQL.
func TestSleepKeepsEditOnPostgres(t *testing.T) {
	backend, err := postgres.Open(t.Context(), sleepCluster.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	testSleepKeepsEdit(t, func(o *host.Options) { o.Backend = backend })
}

func testSleepRestarts(t *testing.T, how storagetest.Failure, step int, backend func() (storage.Backend, error)) {
	server := modeltest.Start()
	t.Cleanup(server.Close)
	for i := range 5 {
		server.Script(proposals([3]string{"core", "agent", fmt.Sprintf("- answer %d", i+1)}))
	}
	r := &restarted{t, backend, newTestClock(), server}
	r.open(func(s *sleeper, _ *storagetest.Faulty) { s.say(annInS1, "hello") })
	r.open(func(s *sleeper, _ *storagetest.Faulty) {
		s.wantPass(host.SleepPass{})
		s.settle()
	})
	r.open(func(s *sleeper, f *storagetest.Faulty) { // the updates of the pass are the lease and the commit
		f.Fail(storagetest.OpUpdate, step, how)
		_, _ = s.Sleep().RunDue(context.Background())
	})
	stored := ""
	r.open(func(s *sleeper, _ *storagetest.Faulty) {
		s.clock.advance(time.Hour) // the lease has ended
		for range 3 {
			s.runDue()
			s.clock.advance(time.Hour)
		}
		b, err := s.Blocks().Get(t.Context(), annAndEcho, "core", true)
		if err != nil || b == nil {
			s.t.Fatalf("the block is %+v, %v", b, err)
		}
		if stored = b.Content; !b.Updated.Equal(b.Created) {
			s.t.Errorf("the block was written again at %s", b.Updated)
		}
	})
	r.open(func(s *sleeper, _ *storagetest.Faulty) {
		s.wantPass(host.SleepPass{})
		s.wantBlock(annAndEcho, "core", true, stored)
	})
	wantCalls := 1
	if lost := how != storagetest.LostReply && how != storagetest.DiesAfter; step == 2 && lost {
		wantCalls = 2 // the answer of the model was lost with the run
	}
	if n := len(server.Requests()); n != wantCalls || stored != fmt.Sprintf("- answer %d", wantCalls) {
		t.Errorf("the model received %d requests, and the block contains %q; want %d requests", n, stored, wantCalls)
	}
	keys := server.Keys()
	if len(keys) != 1 {
		t.Errorf("the requests have %d idempotency keys; want the same for all", len(keys))
	}
}
