package python_test

import "testing"

// Some functions of CPython 3.12.0 return wrong results. The engine fixes functions that tools may
// use. Later releases of CPython contain the same fixes.
func TestStdlibFixes(t *testing.T) {
	runAll(t, []tool{
		{name: "addresses that are not public", code: "import ipaddress\n" +
			"return [ipaddress.ip_address(a).is_private for a in ('192.0.0.1', '192.0.0.200', '64:ff9b:1::1', '2002:7f00:1::', '3fff::1', '10.0.0.1', '::ffff:127.0.0.1', 'fe80::1')]",
			want: "[true,true,true,true,true,true,true,true]"},
		{name: "addresses that are public", code: "import ipaddress\n" +
			"return [ipaddress.ip_address(a).is_global for a in ('192.0.0.9', '192.0.0.10', '2001:1::1', '2001:4:112::1', '2001:20::1', '8.8.8.8', '2606:4700::1', '192.0.0.8', '2001:2::1')]",
			want: "[true,true,true,true,true,true,true,false,false]"},
		{name: "networks", code: "import ipaddress\n" +
			"return [ipaddress.ip_network(a).is_private for a in ('192.0.0.0/24', '192.0.0.9/32', '2001:4:112::/48', '2001::/23', '8.8.8.0/24', '2002::/16')]",
			want: "[true,false,false,true,false,true]"},
		{name: "text next to brackets", code: "from urllib.parse import urlparse, urlsplit\nfound = []\n" +
			"for url in ('http://prefix.[::1]/', 'http://[::1].suffix/', 'http://u@x[::1]/', b'http://a[::1]/', 'http://[::1]:80/', 'http://u:p@[v1.x]/', 'http://a/[x]'):\n    try:\n        urlsplit(url), urlparse(url)\n        found.append(1)\n    except ValueError:\n        found.append(0)\nreturn found",
			want: "[0,0,0,0,1,1,1]"},
		{name: "hosts", code: "import urllib.parse as u\nu.clear_cache()\nreturn [u.urlsplit('//[::1]:8/x?y#z', scheme='a').hostname, u.urljoin('http://[::1]/a', 'b'), u.urlparse(b'http://h/p').netloc.decode()]",
			want: `["::1","http://[::1]/b","h"]`},
		{name: "one address", code: "from email.utils import parseaddr\n" +
			"return [parseaddr(a)[1] for a in ('Ann <ann@a.org>', 'ann@a.org)eve@e.org', 'ann@a.org<eve@e.org>', 'ann@a.org, eve@e.org', '\"Doe, Ann\" <ann@a.org>')] + [parseaddr('ann@a.org<eve@e.org>', strict=False)[1]]",
			want: `["ann@a.org","","","","ann@a.org","ann@a.org"]`},
		{name: "many addresses", code: "from email.utils import getaddresses\n" +
			"return [[a for _, a in getaddresses([text])] for text in ('ann@a.org, Eve <eve@e.org>', 'ann@a.org<eve@e.org>', '\"Doe, Ann\" <ann@a.org>', 'ann@a.org (x, y)')] + [len(getaddresses(['ann@a.org<eve@e.org>'], strict=False))]",
			want: `[["ann@a.org","eve@e.org"],[""],["ann@a.org"],["ann@a.org"],2]`},
		{name: "headers that hold others", code: "import email.errors, email.message, email.policy\nfound = []\n" +
			"for value in ('a\\nBcc: eve@e.org', 'a\\r\\n\\r\\nbody', 'a', 'long ' * 40):\n    m = email.message.Message()\n    m['Subject'] = value\n    for write in (m.as_string, m.as_bytes):\n        try:\n            write()\n            found.append(1)\n        except (email.errors.HeaderWriteError, email.errors.HeaderParseError):\n            found.append(0)\n" +
			"m = email.message.Message(email.policy.compat32.clone(verify_generated_headers=False))\nm['Subject'] = 'a\\n\\nb'\nreturn found + [m.as_string().rindex('b')]",
			want: "[0,0,0,0,1,1,1,1,11]"},
	})
}
