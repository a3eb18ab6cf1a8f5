package app_test

import (
	"fmt"
	"testing/fstest"

	"github.com/toolrun/toolrun/host/app"
)

// The folder of an app should be opened with os.OpenRoot. The method FS of an os.Root returns a
// file system. It cannot access files outside of the folder.
func ExampleLoad() {
	folder := fstest.MapFS{
		"app.yaml": {Data: []byte(`
app: shop
memory:
  userPrefs: {access: user, retention: 1_month}
tools:
  save_prefs:
    source: tools/save_prefs.js
    description: Save what the user prefers
    grants: {userPref: readwrite}
`)},
		"tools/save_prefs.js": {},
	}
	a, problems := app.Load(folder, app.FileName)
	fmt.Println(problems)
	fmt.Println("stores:", len(a.Stores), "broken:", len(a.Tools[0].Broken) > 0)
	// Output:
	// app.yaml:9:14: the store "userPref" is not declared
	//   hint: did you mean "userPrefs"?
	// stores: 1 broken: true
}

func ExampleExport() {
	a, _ := app.Import("app.yaml", []byte("{app: shop, memory: {cart: {access: session}}}"))
	document, _ := app.Export(a)
	fmt.Printf("%s", document)
	// Output:
	// {
	//   "app": "shop",
	//   "session_idle": "1d",
	//   "memory": {
	//     "cart": {
	//       "access": "session",
	//       "retention": "session",
	//       "strict": false
	//     }
	//   }
	// }
}
