package storage

import (
	"hash/fnv"
	"strconv"
)

// floorShards is the number of floors of a store. Several keys share one, so that a floor says nothing about
// which records a store once had.
const floorShards = 16

// FloorKey returns the key of the record in which a backend itself keeps the floor of a key: its revision is
// the highest that a removed record had under any key of the same store and shard. Revisions of a key never
// repeat if each record that is created begins above the floor. It can be read by Get and among the keys of
// an Update, is never written from outside, and is not found by Scan. A key outside of stores has no floor;
// its FloorKey is "".
func FloorKey(k Key) Key {
	if k == "" || Tag(k[0]) != Tenant {
		return ""
	}
	group, ok := k.Group()
	if !ok {
		return ""
	}
	for rest := k[len(group):]; rest != ""; {
		p, behind, _ := rest.cut()
		if p.Tag == Store {
			return floorPrefix + group + (rest[:len(rest)-len(behind)]).With(Part{Item, floorShard(k)})
		}
		rest = behind
	}
	return ""
}

func floorShard(k Key) string {
	h := fnv.New32a()
	h.Write([]byte(k))
	return strconv.Itoa(int(h.Sum32() % floorShards))
}

var floorPrefix = MakeKey(Part{System, "floor"})

// IsFloor reports whether k is a FloorKey: the backend itself keeps the record under it.
func IsFloor(k Key) bool { return k.HasPrefix(floorPrefix) }

// FloorRecord makes the record under a FloorKey; none for a floor of 0.
func FloorRecord(k Key, revision int64) Record { return Record{Key: k, Revision: revision} }

// Floor returns the key of the floor that the change raises, and to which revision; "" if it raises none.
func (c Change) Floor() (Key, int64) {
	if !c.Delete || !c.Old.Exists() {
		return "", 0
	}
	return FloorKey(c.Old.Key), c.Old.Revision
}
