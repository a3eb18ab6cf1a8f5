package storage

import (
	"hash/fnv"
	"strconv"
)

// floorShards is the number of floors of a store. Several keys share one floor. Therefore, a floor
// does not reveal which records have existed in a store.
const floorShards = 16

// FloorKey returns the key of the floor of a key. A floor is a record that the backend itself
// maintains. The revision of a floor is the highest revision of all records that were removed from
// the same store and shard. If the revision of each new record is greater than the revision of the
// key's floor, the revisions of a key never repeat.
//
// Get and Update can read floors. Scan does not return floors, and callers must not write floors.
// FloorKey returns "" for a key that is not the key of a record in a store.
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

// IsFloor reports whether k is a FloorKey.
func IsFloor(k Key) bool { return k.HasPrefix(floorPrefix) }

// FloorRecord returns the record of a floor. If the argument "revision" is 0, the record does not
// exist.
func FloorRecord(k Key, revision int64) Record { return Record{Key: k, Revision: revision} }

// Floor returns the key and the revision of the floor that the change raises, or "" and 0 if the
// change raises no floor.
func (c Change) Floor() (Key, int64) {
	if !c.Delete || !c.Old.Exists() {
		return "", 0
	}
	return FloorKey(c.Old.Key), c.Old.Revision
}
